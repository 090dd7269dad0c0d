//! Delays of an empty network, from hops and cables.
//!
//! In: the numbers of the topology. Out: round-trip time and bandwidth-delay product, with every step. Invariants: the
//! longest path of the fabric by its kinds of cable; a single cable that differs does not move the thresholds of
//! a whole fabric.

use std::collections::BTreeMap;

use closc_qos::bdp::{self, Delay};
use closc_qos::ecn::EcnThresholds;
use closc_qos::units::{Bytes, Length, Nanoseconds, Speed};
use closc_topology::{HostOutput, Switch, TierId, ZoneId};

use crate::Plan;
use crate::zone_delay::ZoneDelay;

/// What a switch adds to a packet that meets no queue. The MRC paper measures 5.09 us inside a T0 group and
/// 6.54 us across a T1: 1.45 us for two more switches and the two cables between them.
pub const SWITCH_LATENCY: Nanoseconds = Nanoseconds(700);

/// What a NIC adds to a packet. Nobody publishes it; half a microsecond is the order of magnitude.
pub const NIC_LATENCY: Nanoseconds = Nanoseconds(500);

/// The smallest frame on the wire with gap and preamble, which carries an acknowledgement.
const ACKNOWLEDGEMENT: Bytes = Bytes(84);

impl Plan {
    /// Returns the delay between the two NICs farthest apart when nothing is queued, at the speed of the slowest NIC port.
    pub fn delay(&self) -> Delay {
        self.delay_over(&longest_path(self), self.slowest_port())
    }

    /// Returns the delay between a NIC of a zone and the one that is farthest from it, at the speed of the zone's NICs.
    pub fn delay_from(&self, zone: ZoneId) -> Delay {
        self.delay_over(&longest_path_from(self, zone), self.topology().port_speed(zone))
    }

    /// Returns the delay that the thresholds of a tier start from.
    ///
    /// T0s see their zone: a queue there holds what a zone has in flight, and does not grow with the distance to
    /// another building. T1s and T2s, where the long cables begin and far flows come together, see the whole path. It is
    /// one time in all zones, so that switches that are alike are set alike.
    pub fn delay_of_tier(&self, tier: TierId) -> Delay {
        match tier {
            TierId::T0 => self.delay_over(&path_in_zone(self), self.slowest_port()),
            TierId::T1 | TierId::T2 => self.delay(),
        }
    }

    fn slowest_port(&self) -> Speed {
        let topology = self.topology();
        let ports = topology.zone_ids().map(|zone| topology.port_speed(zone));
        ports.min_by_key(|speed| speed.mbps()).unwrap_or(topology.port_speed(ZoneId(0)))
    }

    fn delay_over(&self, cables: &[Length], speed: Speed) -> Delay {
        bdp::delay(&bdp::Path {
            cables,
            speed,
            packet: Bytes(u64::from(self.topology().mtu.link)),
            acknowledgement: ACKNOWLEDGEMENT,
            switch_latency: SWITCH_LATENCY,
            nic_latency: NIC_LATENCY,
            cut_through: true,
        })
    }
}

impl Plan {
    /// Returns what senders of each zone need to know of the longest path.
    pub fn zone_delays(&self) -> &[ZoneDelay] {
        self.delays.get_or_init(|| {
            let mut known = BTreeMap::new();
            self.topology().zone_ids().map(|zone| of_zone(self, zone, &mut known)).collect()
        })
    }

    /// Tells whether nodes are given files that state their delays.
    pub fn nodes_state_delays(&self) -> bool {
        self.topology().hosts.outputs.contains(&HostOutput::Nic)
    }

    /// Returns what senders of a zone need to know of the longest path.
    pub fn zone_delay(&self, zone: ZoneId) -> &ZoneDelay {
        &self.zone_delays()[usize::from(zone.0)]
    }
}

/// When uplinks of T0s mark the data class, by the T0 that stands for all that are alike.
type Marks = BTreeMap<Switch, Option<EcnThresholds>>;

fn of_zone(plan: &Plan, zone: ZoneId, known: &mut Marks) -> ZoneDelay {
    let marks = plan.sample(zone).and_then(|t0| known.entry(t0).or_insert_with(|| plan.marks(t0)).clone());
    let (port, delay) = (plan.topology().port_speed(zone), plan.delay_from(zone));
    let target = marks.as_ref().map(|marks| delay.target(port, marks.min()));
    ZoneDelay { port, delay, target, marks }
}

impl Plan {
    /// Returns the T0 that stands for those of a zone: one stands for all that are alike, in whatever zone. Buffers of a T0
    /// that lacks a cable are divided among fewer ports, and that moves no target.
    fn sample(&self, zone: ZoneId) -> Option<Switch> {
        let topology = self.topology();
        let first = |zone: ZoneId| {
            let is_in = |switch: &Switch| switch.zone == zone;
            topology.plane_ids().find_map(|plane| self.fabric().tier_switches(plane, TierId::T0).find(is_in))
        };
        let hardware = |t0: Switch| {
            let (platform, os) = topology.hardware(t0);
            (&platform.id, os, topology.blocks(t0).map(|block| block.breakout))
        };
        let own = first(zone)?;
        topology.zone_ids().filter_map(first).find(|t0| hardware(*t0) == hardware(own))
    }

    /// Returns when an uplink of a T0 marks the data class. Nothing where no switch marks.
    fn marks(&self, t0: Switch) -> Option<EcnThresholds> {
        let device = self.device(t0);
        let qos = crate::qos::SwitchQos::of(&device).ok()?;
        let uplink = device.ports.iter().position(|port| !port.is_down() && port.connection.is_some())?;
        qos.marks.get(qos.ports[uplink]?)?.get(&device.qos.data().queue).cloned()
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

/// The cables of the longest path of all.
fn longest_path(plan: &Plan) -> Vec<Length> {
    let paths = plan.topology().zone_ids().map(|zone| longest_path_from(plan, zone));
    let length = |path: &Vec<Length>| path.iter().map(|cable| cable.meters_ceil()).sum::<u64>();
    paths.max_by_key(length).unwrap_or_default()
}

/// The cables of the longest path from a zone: up over each kind and down again. Two zones meet at a T2.
fn longest_path_from(plan: &Plan, zone: ZoneId) -> Vec<Length> {
    let topology = plan.topology();
    let up = up_in_zone(plan);
    let mut path = up.clone();
    if topology.zones > 1 && topology.t2.is_some() {
        let length = |zone: ZoneId| {
            let cable = topology.cables.t1_t2_by_zone.get(&zone).or(topology.cables.t1_t2.as_ref())?;
            Some(cable.length)
        };
        path.extend(length(zone));
        path.extend(topology.zone_ids().filter(|other| *other != zone).filter_map(length).max());
    }
    path.extend(up.into_iter().rev());
    path
}
