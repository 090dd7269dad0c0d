//! Round-trip time of a path in an idle network, and the bandwidth-delay product.
//!
//! In: the cables of a path with their speeds, packet sizes and the latency of switches and NICs. Out: base round-trip
//! time, bandwidth-delay product and target delay, with all steps. Invariants: values are rounded up only once, at the
//! end.

use serde::Serialize;

use crate::explain::{Breakdown, ExactFraction, Unit, exact};
use crate::headroom::LIGHT_METERS_PER_SECOND;
use crate::units::{Bytes, Length, Nanoseconds, Speed};

/// A cable of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// Length of the cable.
    pub length: Length,
    /// The speed of the ports at its ends.
    pub speed: Speed,
}

/// A path from NIC to NIC, with a switch between consecutive cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path<'a> {
    /// The cables in order, starting at the sender.
    pub hops: &'a [Hop],
    /// The size of a data packet on the wire.
    pub packet: Bytes,
    /// The size of an acknowledgement on the wire.
    pub acknowledgement: Bytes,
    /// Delay of a switch without queueing.
    pub switch_latency: Nanoseconds,
    /// Delay of a NIC.
    pub nic_latency: Nanoseconds,
    /// Whether switches forward a packet before they have received it completely.
    pub cut_through: bool,
}

impl Path<'_> {
    /// Returns the number of switches on the path.
    pub fn switches(&self) -> u32 {
        u32::try_from(self.hops.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Returns the total length of the cables.
    pub fn length(&self) -> Length {
        let sum = self.hops.iter().fold(0_u64, |sum, hop| sum.saturating_add(hop.length.millimeters()));
        Length::from_millimeters(sum)
    }

    /// Returns the links whose serialisation delay counts. Store-and-forward switches serialise each packet again. With
    /// cut-through, only the slowest link counts.
    fn sendings(&self) -> Vec<Speed> {
        let speeds = self.hops.iter().map(|hop| hop.speed);
        if self.cut_through {
            speeds.min_by_key(|speed| speed.mbps()).into_iter().collect()
        } else {
            speeds.collect()
        }
    }
}

/// Delays of a path, for congestion control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delay {
    /// The round-trip time without queueing.
    pub base_rtt: Nanoseconds,
    /// The bandwidth-delay product of the path.
    pub bdp: Bytes,
    /// All steps, in order.
    pub terms: Breakdown,
}

impl Delay {
    /// Returns the target delay of senders: the base round-trip time, plus a standing queue of `queue` bytes, at which
    /// switches start to mark.
    pub fn target(&self, speed: Speed, queue: Bytes) -> Nanoseconds {
        self.base_rtt + speed.time_of(queue)
    }
}

const SOURCE: &str = "path";

/// Computes the delay of a path.
pub fn delay(path: &Path<'_>) -> Delay {
    let mut terms = Breakdown::default();
    let two = exact(2_u8, 1_u8);
    let length = exact(path.length().millimeters(), 1_000_u16);
    let count = path.hops.len();
    terms.push("cable", length, Unit::Meters, format!("the sum of {count} cables"), "topology");
    let mut ns = |name, value: ExactFraction, formula: String, source| {
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
    let sendings = path.sendings();
    let per_byte = sendings.iter().map(|speed| exact(8_000_u16, speed.mbps()));
    let bytes = path.packet + path.acknowledgement;
    let at: Vec<String> = sendings.iter().map(ToString::to_string).collect();
    let serialisation = ns(
        "serialisation",
        exact(bytes.0, 1_u8) * per_byte.fold(exact(0_u8, 1_u8), |sum, time| sum + time),
        format!("({} + {} B) at {}", path.packet.0, path.acknowledgement.0, at.join(" and ")),
        SOURCE,
    );
    let sum = ns(
        "round trip",
        light + forwarding + nics + serialisation,
        "the sum of the above".to_owned(),
        SOURCE,
    );
    let base_rtt = Nanoseconds(u64::try_from(sum.ceil().to_integer()).unwrap_or(u64::MAX));
    let sender = path.hops.first().map(|hop| hop.speed);
    let bdp = sender.map_or(Bytes(0), |speed| speed.bytes_in(base_rtt));
    let formula = sender.map_or_else(String::new, |speed| format!("{speed} x {base_rtt}"));
    terms.bytes("bandwidth-delay product", exact(bdp.0, 1_u8), formula, SOURCE);
    Delay { base_rtt, bdp, terms }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hops<const N: usize>(meters: [u32; N]) -> [Hop; N] {
        meters.map(|meters| Hop { length: Length::from_meters(meters), speed: Speed::gbps(400) })
    }

    fn path(hops: &[Hop]) -> Path<'_> {
        Path {
            hops,
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
        let cables = hops([3, 30, 30, 3]);
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
        let cables = hops([3, 30, 80_000, 30, 3]);
        let found = delay(&path(&cables));
        // 2 x 80 km x 5.05 ns/m x 50 B/ns = 40.4 MB, plus a little for the halls.
        assert_eq!(found.bdp.human(), "40.8 MB");
    }

    #[test]
    fn cutting_through_saves_a_packet_a_switch() {
        let cables = hops([3, 3]);
        let stored = delay(&path(&cables));
        let cut = delay(&Path { cut_through: true, ..path(&cables) });
        // Each serialisation takes 85.68 ns. The two sums are rounded up separately.
        assert!((85..=86).contains(&(stored.base_rtt.0 - cut.base_rtt.0)));
    }

    /// With 100G at the far end, 9,216 and 84 B take 744 ns there, whichever end sends. The bandwidth-delay product
    /// uses the 200G of the sender.
    #[test]
    fn a_packet_has_arrived_when_the_slowest_link_has_carried_it() {
        let mut cables = hops([1, 1, 1, 1, 1, 1]).map(|hop| Hop { speed: Speed::gbps(200), ..hop });
        cables[5].speed = Speed::gbps(100);
        let found = delay(&Path { cut_through: true, packet: Bytes(9_216), ..path(&cables) });
        let value = |name| found.terms.term(name).unwrap().value.to_string();
        assert_eq!(value("serialisation"), "744");
        // 2 x 6 m / 198,000,000 m/s, 2 x 5 x 700 ns, 2 x 500 ns.
        assert_eq!(found.base_rtt, Nanoseconds(61 + 7_000 + 1_000 + 744));
        assert_eq!(found.bdp, Bytes(25 * found.base_rtt.0));
        // With store-and-forward, a packet is sent six times: five times at 200G, and once at 100G.
        let stored = delay(&Path { packet: Bytes(9_216), ..path(&cables) });
        assert_eq!(
            stored.terms.term("serialisation").unwrap().value.to_string(),
            (5 * 372 + 744).to_string()
        );
    }

    proptest::proptest! {
        #[test]
        fn longer_paths_take_longer(meters in 1_u32..200_000, more in 1_u32..200_000, hops in 1_usize..7) {
            let hop = |meters| super::tests::hops([meters])[0];
            let short = vec![hop(meters); hops];
            let long = vec![hop(meters + more); hops];
            let further = vec![hop(meters); hops + 1];
            let rtt = |cables: &[Hop]| delay(&path(cables)).base_rtt;
            proptest::prop_assert!(rtt(&long) > rtt(&short));
            proptest::prop_assert!(rtt(&further) > rtt(&short));
        }
    }
}
