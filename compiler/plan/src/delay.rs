//! Delays of an idle network, from hops and cables.
//!
//! In: the numbers of the topology. Out: round-trip time and bandwidth-delay product, with every step. Invariants: the
//! longest path is computed from the kinds of cable and the speeds of zones. A single longer cable therefore does not
//! change the thresholds of the fabric. The work grows with the number of zones, not of pairs of zones.

use std::collections::BTreeMap;

use closc_qos::bdp::{self, Delay, Hop};
use closc_qos::ecn::EcnThresholds;
use closc_qos::units::{Bytes, Length, Nanoseconds};
use closc_topology::{HostOutput, Switch, TierId, ZoneId};

use crate::Plan;
use crate::zone_delay::{UnloadedDelays, ZoneDelay};

/// Delay of a switch without queueing. The MRC paper measures 5.09 us inside a T0 group and 6.54 us across a T1. The
/// difference, 1.45 us, is for two more switches and the two cables between them.
pub const SWITCH_LATENCY: Nanoseconds = Nanoseconds(700);

/// Delay of a NIC. Vendors do not publish it; 500 ns is the order of magnitude.
pub const NIC_LATENCY: Nanoseconds = Nanoseconds(500);

/// Size of the smallest frame on the wire, with gap and preamble, which is that of an acknowledgement.
const ACKNOWLEDGEMENT: Bytes = Bytes(84);

impl Plan {
    /// Returns the delay between the two NICs that are farthest apart, without queueing, as measured by the slower
    /// sender.
    pub fn delay(&self) -> &Delay {
        &self.empty().longest
    }

    /// Returns the delay between a NIC of a zone and the NIC farthest from it, at the speed of the zone's NICs.
    pub fn delay_from(&self, zone: ZoneId) -> &Delay {
        let empty = self.empty();
        &empty.kinds[empty.zones[usize::from(zone.0)]]
    }

    /// Returns the delay from which the thresholds of a tier are computed.
    ///
    /// For T0s it is the delay inside their zone, so their queues do not grow with the distance to another building.
    /// For T1s and T2s, where long cables begin and flows from far zones meet, it is that of the complete path. The
    /// delay is the same in all zones, so equal switches have equal settings.
    pub fn delay_of_tier(&self, tier: TierId) -> &Delay {
        match tier {
            TierId::T0 => &self.empty().in_zone,
            TierId::T1 | TierId::T2 => self.delay(),
        }
    }

    fn empty(&self) -> &UnloadedDelays {
        self.empty.get_or_init(|| empty(self))
    }
}

/// Computes the delays of all zones.
fn empty(plan: &Plan) -> UnloadedDelays {
    let (ends, mut known) = (Ends::of(plan), BTreeMap::new());
    let mut kinds: Vec<Delay> = Vec::new();
    let mut number = |path: Vec<Hop>| {
        *known.entry(path).or_insert_with_key(|path| {
            kinds.push(over(plan, path));
            (kinds[kinds.len() - 1].base_rtt, kinds.len() - 1)
        })
    };
    let farthest = |zone| ends.paths(plan, zone).into_iter().map(&mut number).max_by_key(|(rtt, _)| *rtt);
    let zones: Vec<(Nanoseconds, usize)> = plan.topology().zone_ids().filter_map(farthest).collect();
    let sender = |at: usize| kinds[at].bdp;
    let longest = zones.iter().max_by_key(|(rtt, at)| (*rtt, std::cmp::Reverse(sender(*at))));
    let longest = kinds[longest.expect("a fabric has a zone").1].clone();
    let zones = zones.into_iter().map(|(_, at)| at).collect();
    UnloadedDelays { in_zone: over(plan, &slowest_in_zone(plan)), longest, kinds, zones }
}

/// Computes the delay of a path.
fn over(plan: &Plan, hops: &[Hop]) -> Delay {
    bdp::delay(&bdp::Path {
        hops,
        packet: Bytes(u64::from(plan.topology().mtu.link)),
        acknowledgement: ACKNOWLEDGEMENT,
        switch_latency: SWITCH_LATENCY,
        nic_latency: NIC_LATENCY,
        cut_through: true,
    })
}

impl Plan {
    /// Returns the data of the longest path for senders of each zone.
    pub fn zone_delays(&self) -> &[ZoneDelay] {
        self.delays.get_or_init(|| {
            let mut known = BTreeMap::new();
            self.topology().zone_ids().map(|zone| of_zone(self, zone, &mut known)).collect()
        })
    }

    /// Returns whether nodes get files with their delays.
    pub fn nodes_state_delays(&self) -> bool {
        self.topology().hosts.outputs.contains(&HostOutput::Nic)
    }

    /// Returns the data of the longest path for senders of a zone.
    pub fn zone_delay(&self, zone: ZoneId) -> &ZoneDelay {
        &self.zone_delays()[usize::from(zone.0)]
    }
}

/// ECN marking of the data class on uplinks, by representative T0.
type Marks = BTreeMap<Switch, Option<EcnThresholds>>;

fn of_zone(plan: &Plan, zone: ZoneId, known: &mut Marks) -> ZoneDelay {
    let marks = plan.sample(zone).and_then(|t0| known.entry(t0).or_insert_with(|| plan.marks(t0)).clone());
    let (port, delay) = (plan.topology().port_speed(zone), plan.delay_from(zone).clone());
    let target = marks.as_ref().map(|marks| delay.target(port, marks.min()));
    ZoneDelay { port, delay, target, marks }
}

impl Plan {
    /// Returns the T0 that represents the T0s of a zone. Equal T0s have the same representative in all zones. A T0
    /// with a missing cable divides its buffer among fewer ports, but that must not change the target delay.
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

    /// Returns the ECN thresholds of the data class on an uplink of a T0; `None` if the T0 does not mark, has
    /// no uplink in use, or does not support the profile.
    fn marks(&self, t0: Switch) -> Option<EcnThresholds> {
        let device = self.device(t0);
        let qos = crate::qos::SwitchQos::of(&device).ok()?;
        let uplink = device.ports.iter().position(|port| !port.is_down() && port.connection.is_some())?;
        qos.marks.get(qos.ports[uplink]?)?.get(&device.qos.data().queue).cloned()
    }
}

/// Returns the links from a NIC of a zone up to the top tier of the zone.
fn upward_hops(plan: &Plan, zone: ZoneId) -> Vec<Hop> {
    let topology = plan.topology();
    let mut up = vec![Hop { length: topology.cables.nic_t0.length, speed: topology.port_speed(zone) }];
    if topology.zones > 1 || topology.hosts.groups > 1 {
        let speed = topology.t0.up_ports(zone).breakout.speed;
        up.push(Hop { length: topology.cables.t0_t1.length, speed });
    }
    up
}

/// Returns the link from a zone to the T2s; `None` if there is one zone, or no T2 tier.
fn to_t2(plan: &Plan, zone: ZoneId) -> Option<Hop> {
    let topology = plan.topology();
    let cable = topology.cables.t1_t2_by_zone.get(&zone).or(topology.cables.t1_t2.as_ref())?;
    let speed = topology.t1.up_ports(zone).breakout.speed;
    (topology.zones > 1 && topology.t2.is_some()).then_some(Hop { length: cable.length, speed })
}

/// Returns the path inside the zone with the slowest links: up over each kind of link and down again.
fn slowest_in_zone(plan: &Plan) -> Vec<Hop> {
    let there_and_back = |zone| {
        let up = upward_hops(plan, zone);
        up.iter().chain(up.iter().rev()).copied().collect::<Vec<Hop>>()
    };
    plan.topology().zone_ids().map(there_and_back).min_by_key(|path| speeds(path)).unwrap_or_default()
}

/// Returns the speed of the slowest link of a path, and that of its sender, in Mb/s.
fn speeds(path: &[Hop]) -> (u32, u32) {
    let all = path.iter().map(|hop| hop.speed.mbps());
    (all.clone().min().unwrap_or(0), all.take(1).next().unwrap_or(0))
}

/// The zones that can be farthest from another zone. For each speed of the slowest link, these are the two zones with
/// the longest cables to the T2s. Two are needed because a zone is not paired with itself. The number of speeds
/// depends on the hardware, not on the number of zones.
struct Ends(BTreeMap<u32, [Option<(Length, ZoneId)>; 2]>);

impl Ends {
    fn of(plan: &Plan) -> Ends {
        let mut found: BTreeMap<u32, [Option<(Length, ZoneId)>; 2]> = BTreeMap::new();
        for zone in plan.topology().zone_ids() {
            let Some(last) = to_t2(plan, zone) else { continue };
            let mut up = upward_hops(plan, zone);
            up.push(last);
            let [first, second] = found.entry(speeds(&up).0).or_default();
            let own = Some((last.length, zone));
            // The first of several equal zones represents all.
            let longer = |than: &Option<(Length, ZoneId)>| than.is_none_or(|than| last.length > than.0);
            if longer(first) {
                (*first, *second) = (own, *first);
            } else if longer(second) {
                *second = own;
            }
        }
        Ends(found)
    }

    /// Returns candidates for the longest path from a zone: up over each kind of cable and down again. Two zones meet
    /// at a T2.
    fn paths(&self, plan: &Plan, zone: ZoneId) -> Vec<Vec<Hop>> {
        let up = |zone| upward_hops(plan, zone).into_iter().chain(to_t2(plan, zone));
        let to = |other| up(zone).chain(up(other).collect::<Vec<Hop>>().into_iter().rev()).collect();
        let other = |zones: &[Option<(Length, ZoneId)>; 2]| {
            zones.iter().flatten().map(|(_, other)| *other).find(|other| *other != zone)
        };
        let mut others = self.0.values().filter_map(other).peekable();
        if others.peek().is_none() { vec![to(zone)] } else { others.map(to).collect() }
    }
}
