//! Delays of an empty network, from hops and cables.
//!
//! In: the numbers of the topology. Out: round-trip time and bandwidth-delay product, with every step. Invariants: the
//! longest path of the fabric by its kinds of cable; a single cable that differs does not move the thresholds of
//! a whole fabric.

use closc_qos::bdp::{self, Delay};
use closc_qos::units::{Bytes, Length, Nanoseconds};
use closc_topology::TierId;

use crate::Plan;

/// What a switch adds to a packet that meets no queue. The MRC paper measures 5.09 us inside a T0 group and
/// 6.54 us across a T1: 1.45 us for two more switches and the two cables between them.
const SWITCH_LATENCY: Nanoseconds = Nanoseconds(700);

/// What a NIC adds to a packet. Nobody publishes it; half a microsecond is the order of magnitude.
const NIC_LATENCY: Nanoseconds = Nanoseconds(500);

/// The smallest frame on the wire with gap and preamble, which carries an acknowledgement.
const ACKNOWLEDGEMENT: Bytes = Bytes(84);

impl Plan {
    /// Returns the delay between the two NICs farthest apart when nothing is queued.
    pub fn delay(&self) -> Delay {
        self.delay_over(&longest_path(self))
    }

    /// Returns the delay that the thresholds of a tier start from.
    ///
    /// T0s see their zone: a queue there holds what a zone has in flight, and does not grow with the distance to
    /// another building. T1s and T2s, where the long cables begin and far flows come together, see the whole path.
    pub fn delay_of_tier(&self, tier: TierId) -> Delay {
        match tier {
            TierId::T0 => self.delay_over(&path_in_zone(self)),
            TierId::T1 | TierId::T2 => self.delay(),
        }
    }

    fn delay_over(&self, cables: &[Length]) -> Delay {
        let topology = self.topology();
        bdp::delay(&bdp::Path {
            cables,
            speed: topology.port_speed(),
            packet: Bytes(u64::from(topology.mtu.link)),
            acknowledgement: ACKNOWLEDGEMENT,
            switch_latency: SWITCH_LATENCY,
            nic_latency: NIC_LATENCY,
            cut_through: true,
        })
    }
}

impl Plan {
    /// Returns the delay senders aim at: that of an empty network, and the queue at which a T0 uplink begins to
    /// mark the data class. Nothing where no switch marks.
    pub fn target_delay(&self) -> Option<Nanoseconds> {
        let t0 = self.switches().find(|switch| switch.tier == TierId::T0)?;
        let device = self.device(t0);
        let qos = crate::qos::SwitchQos::of(&device).ok()?;
        let uplink = device.ports.iter().position(|port| !port.is_down() && port.connection.is_some())?;
        let thresholds = qos.marks.get(qos.ports[uplink]?)?.get(&device.qos.data().queue)?;
        Some(self.delay().target(self.topology().port_speed(), thresholds.min()))
    }
}

/// The cables from a NIC up to the tier where its zone meets.
fn up_in_zone(plan: &Plan) -> Vec<Length> {
    let topology = plan.topology();
    let mut up = vec![topology.cables.nic_t0.length];
    if topology.zones > 1 || topology.hosts.groups > 1 {
        up.push(topology.cables.t0_t1.length);
    }
    up
}

/// The cables of the longest path inside a zone: up over each kind and down again.
fn path_in_zone(plan: &Plan) -> Vec<Length> {
    let up = up_in_zone(plan);
    up.iter().chain(up.iter().rev()).copied().collect()
}

/// The cables of the longest path: up over each kind and down again.
fn longest_path(plan: &Plan) -> Vec<Length> {
    let topology = plan.topology();
    let cables = &topology.cables;
    let up = up_in_zone(plan);
    let mut path = up.clone();
    if topology.zones > 1 && topology.t2.is_some() {
        // Two zones meet at a T2: the two longest of the kinds of cable up to it.
        let mut zones: Vec<Length> = topology
            .zone_ids()
            .filter_map(|zone| cables.t1_t2_by_zone.get(&zone).or(cables.t1_t2.as_ref()))
            .map(|cable| cable.length)
            .collect();
        zones.sort_unstable();
        path.extend(zones.iter().rev().take(2));
    }
    path.extend(up.into_iter().rev());
    path
}
