//! How long an empty network takes for a round trip, and how much it holds meanwhile.
//!
//! In: the cables of a path, speed, packet sizes and the latency of switches and NICs. Out: base round-trip
//! time, bandwidth-delay product and target delay, with every step. Invariants: rounded up once, at the end.

use serde::Serialize;

use crate::explain::{Breakdown, Exact, Unit, exact};
use crate::headroom::LIGHT_METERS_PER_SECOND;
use crate::units::{Bytes, Length, Nanoseconds, Speed};

/// A path from NIC to NIC; between two cables is a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path<'a> {
    /// The cables in order.
    pub cables: &'a [Length],
    /// The speed of every link.
    pub speed: Speed,
    /// The size of a data packet on the wire.
    pub packet: Bytes,
    /// The size of an acknowledgement on the wire.
    pub acknowledgement: Bytes,
    /// What a switch adds to a packet that meets no queue.
    pub switch_latency: Nanoseconds,
    /// What a NIC adds to a packet.
    pub nic_latency: Nanoseconds,
    /// Whether switches send a packet on before they have all of it.
    pub cut_through: bool,
}

impl Path<'_> {
    /// Returns how many switches the path has.
    pub fn switches(&self) -> u32 {
        u32::try_from(self.cables.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Returns the length of all cables together.
    pub fn length(&self) -> Length {
        let sum = self.cables.iter().fold(0_u64, |sum, cable| sum.saturating_add(cable.millimeters()));
        Length::from_millimeters(sum)
    }
}

/// What congestion control needs to know of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delay {
    /// The round-trip time of an empty network.
    pub base_rtt: Nanoseconds,
    /// What the path holds in a round trip.
    pub bdp: Bytes,
    /// Every step, in order.
    pub terms: Breakdown,
}

impl Delay {
    /// Returns the delay senders aim at: the base round trip and a standing queue of `queue` bytes, which is
    /// where switches start to mark.
    pub fn target(&self, speed: Speed, queue: Bytes) -> Nanoseconds {
        self.base_rtt + speed.time_of(queue)
    }
}

const SOURCE: &str = "path";

/// Works out the delay of a path.
pub fn delay(path: &Path<'_>) -> Delay {
    let mut terms = Breakdown::default();
    let two = exact(2_u8, 1_u8);
    let length = exact(path.length().millimeters(), 1_000_u16);
    let count = path.cables.len();
    terms.push("cable", length, Unit::Meters, format!("the sum of {count} cables"), "topology");
    let mut ns = |name, value: Exact, formula: String, source| {
        terms.push(name, value, Unit::Nanoseconds, formula, source)
    };
    let light = ns(
        "propagation",
        two * length * exact(1_000_000_000_u32, LIGHT_METERS_PER_SECOND),
        format!("2 x cable / {LIGHT_METERS_PER_SECOND} m/s"),
        "light in fibre, as SONiC computes",
    );
    let switches = path.switches();
    let latency = path.switch_latency.0;
    let forwarding = ns(
        "switches",
        two * exact(switches, 1_u8) * exact(latency, 1_u8),
        format!("2 x {switches} switches x {latency}"),
        "platform",
    );
    let nics =
        ns("NICs", two * exact(path.nic_latency.0, 1_u8), format!("2 x {}", path.nic_latency.0), "host");
    // A switch that stores packets sends each once more; one that cuts through does not wait for its end.
    let sendings = if path.cut_through { 1 } else { switches + 1 };
    let serial = |bytes: Bytes| exact(bytes.0, 1_u8) * exact(8_000_u16, path.speed.mbps());
    let serialisation = ns(
        "serialisation",
        exact(sendings, 1_u8) * (serial(path.packet) + serial(path.acknowledgement)),
        format!("{sendings} x ({} + {} B) at {}", path.packet.0, path.acknowledgement.0, path.speed),
        SOURCE,
    );
    let sum = ns(
        "round trip",
        light + forwarding + nics + serialisation,
        "the sum of the above".to_owned(),
        SOURCE,
    );
    let base_rtt = Nanoseconds(u64::try_from(sum.ceil().to_integer()).unwrap_or(u64::MAX));
    let bdp = path.speed.bytes_in(base_rtt);
    let formula = format!("{} x {base_rtt}", path.speed);
    terms.bytes("bandwidth-delay product", exact(bdp.0, 1_u8), formula, SOURCE);
    Delay { base_rtt, bdp, terms }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(cables: &[Length]) -> Path<'_> {
        Path {
            cables,
            speed: Speed::gbps(400),
            packet: Bytes(4_200),
            acknowledgement: Bytes(84),
            switch_latency: Nanoseconds(700),
            nic_latency: Nanoseconds(500),
            cut_through: false,
        }
    }

    #[test]
    fn two_tiers_in_a_hall() {
        // NIC - T0 - T1 - T0 - NIC: 3, 30, 30, 3 m.
        let cables = [3, 30, 30, 3].map(Length::from_meters);
        let found = delay(&path(&cables));
        let value = |name| found.terms.term(name).unwrap().value.to_string();
        assert_eq!(value("propagation"), "666.667");
        assert_eq!(value("switches"), "4200");
        assert_eq!(value("NICs"), "1000");
        // 4 x (84 + 1.68) ns.
        assert_eq!(value("serialisation"), "342.72");
        assert_eq!(found.base_rtt, Nanoseconds(6_210));
        assert_eq!(found.bdp, Bytes(310_500));
        assert_eq!(found.target(Speed::gbps(400), Bytes(50_000)), Nanoseconds(7_210));
    }

    #[test]
    fn eighty_kilometers_hold_forty_megabytes() {
        let cables = [3, 30, 80_000, 30, 3].map(Length::from_meters);
        let found = delay(&path(&cables));
        // 2 x 80 km x 5.05 ns/m x 50 B/ns = 40.4 MB, and a little for the halls.
        assert_eq!(found.bdp.human(), "40.8 MB");
    }

    #[test]
    fn cutting_through_saves_a_packet_a_switch() {
        let cables = [3, 3].map(Length::from_meters);
        let stored = delay(&path(&cables));
        let cut = delay(&Path { cut_through: true, ..path(&cables) });
        // 85.68 ns, of two sums that are each rounded up.
        assert!((85..=86).contains(&(stored.base_rtt.0 - cut.base_rtt.0)));
    }

    proptest::proptest! {
        #[test]
        fn longer_paths_take_longer(meters in 1_u32..200_000, more in 1_u32..200_000, hops in 1_usize..7) {
            let short = vec![Length::from_meters(meters); hops];
            let long = vec![Length::from_meters(meters + more); hops];
            let further = vec![Length::from_meters(meters); hops + 1];
            let rtt = |cables: &[Length]| delay(&path(cables)).base_rtt;
            proptest::prop_assert!(rtt(&long) > rtt(&short));
            proptest::prop_assert!(rtt(&further) > rtt(&short));
        }
    }
}
