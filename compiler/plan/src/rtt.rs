//! Round-trip times of an empty network, from hops and cables.
//!
//! In: the numbers of the topology. Out: nanoseconds. Always: the longest path of the fabric by its kinds of
//! cable; a single cable that differs does not move the thresholds of a whole fabric.

use closc_qos::units::{Bytes, Length, Nanoseconds};

use crate::Plan;

/// What a switch adds to a packet's way. The MRC paper measures 5.09 us inside a T0 group and 6.54 us across a
/// T1: 1.45 us for two more switches and the two cables between them.
const SWITCH_NS: u64 = 700;

/// Light in fibre needs 5.05 ns a metre (198,000 km/s, as SONiC reckons).
const FIBRE_MM_PER_US: u64 = 198_000;

impl Plan {
    /// Returns the round-trip time between the two NICs farthest apart, when nothing is queued: every cable and
    /// switch there and back, and one largest packet put on the wire.
    pub fn base_rtt(&self) -> Nanoseconds {
        let topology = self.topology();
        let cables = &topology.cables;
        let (t0_t1, t1_t2) = (cables.t0_t1.length, farthest_t2(self));
        let crosses_t1 = topology.zones > 1 || topology.t0.count > 1;
        let (switches, one_way) = match (crosses_t1, t1_t2) {
            (false, _) => (1, vec![cables.nic_t0.length]),
            (true, None) => (3, vec![cables.nic_t0.length, t0_t1]),
            (true, Some(t1_t2)) => (5, vec![cables.nic_t0.length, t0_t1, t1_t2]),
        };
        // A path goes up over each kind of cable once and down once.
        let millimeters: u64 = one_way.iter().map(|length| 2 * length.millimeters()).sum();
        let there = switches * SWITCH_NS + (millimeters * 1_000).div_ceil(FIBRE_MM_PER_US);
        let packet = topology.port_speed().time_of(Bytes(u64::from(topology.mtu.link)));
        Nanoseconds(2 * there + packet.0)
    }
}

/// The longest kind of cable to the T2 tier; nothing where no path crosses it.
fn farthest_t2(plan: &Plan) -> Option<Length> {
    let topology = plan.topology();
    topology.t2.as_ref().filter(|_| topology.zones > 1)?;
    let cables = &topology.cables;
    let kinds = cables.t1_t2_by_zone.values().chain(&cables.t1_t2);
    kinds.map(|cable| cable.length).max()
}
