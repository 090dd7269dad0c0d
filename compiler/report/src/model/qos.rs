//! Quality of service: the classes of the fabric, and the settings of switches, stored once for equal ones.
//!
//! In: a plan. Out: [`Quality`]. Invariants: switches share an entry only if the inputs of their settings are equal:
//! hardware, tier, zone, and cables by side and length. Every switch has an entry.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::PortUse;
use closc_plan::{Plan, PortKind, SwitchQos};
use closc_platform::Platform;
use closc_qos::Place;
use closc_qos::profile::{Class, Profile, Scheduler};
use closc_topology::{Link, Side, Switch, TierId, ZoneId};
use serde::Serialize;

use super::tiers_of;

/// Quality of service of a fabric.
#[derive(Debug, Serialize)]
pub(crate) struct Quality {
    profile: String,
    default: String,
    trims: bool,
    lossless: bool,
    classes: Vec<ClassRow>,
    sets: Vec<Set>,
    /// By tier, plane and zone.
    set_of: Vec<Vec<Vec<usize>>>,
    /// Switches that differ: tier, plane, zone, index, set.
    set_exceptions: Vec<[usize; 5]>,
}

#[derive(Debug, Serialize)]
struct ClassRow {
    name: String,
    role: &'static str,
    dscp: Vec<u8>,
    tc: u8,
    queue: u8,
    priority: u8,
    scheduler: String,
    pfc: bool,
    trim: bool,
}

/// Settings of equal switches.
#[derive(Debug, Default, Serialize)]
struct Set {
    ports: Vec<PortRow>,
    /// Bytes of the buffer: total, headroom, shared. Absent if the platform has no buffer size.
    buffer: Option<[u64; 3]>,
    /// Reason for missing numbers.
    error: Option<String>,
}

/// A kind of port.
#[derive(Debug, Serialize)]
struct PortRow {
    place: &'static str,
    mbps: u32,
    cable_m: u64,
    ports: u32,
    /// Bytes of XOFF, XON and size of a lossless group.
    headroom: Option<[u64; 3]>,
    /// ECN marking: the queue, the minimum and maximum threshold in bytes, and the probability just below the
    /// maximum, in percent.
    marks: Vec<[u64; 4]>,
}

impl Quality {
    /// Computes the settings of the switches of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let topology = plan.topology();
        let profile = &topology.qos;
        let exceptional_switches = exceptional_switches(plan);
        let mut found = Sets { plan, index_by_signature: BTreeMap::new(), unique: Vec::new() };
        let mut plain = Vec::new();
        for tier in tiers_of(topology) {
            let planes = topology.plane_ids().map(|plane| {
                let zones = topology.zone_ids().map(|zone| {
                    let of = |index| Switch { plane, tier, zone, index };
                    let mut all = (0..topology.count(tier)).map(of);
                    let is_plain = |switch: &Switch| {
                        plan.fabric().has_switch(*switch) && !exceptional_switches.contains(switch)
                    };
                    let zoned = tier != TierId::T2 || zone.0 == 0;
                    all.find(is_plain).filter(|_| zoned).map_or(0, |switch| found.set(switch))
                });
                zones.collect::<Vec<_>>()
            });
            plain.push(planes.collect::<Vec<_>>());
        }
        let set_exceptions =
            exceptional_switches.iter().filter(|switch| plan.fabric().has_switch(**switch)).map(|switch| {
                let tier = usize::from(switch.tier.level());
                [tier, switch.plane.0.into(), switch.zone.0.into(), switch.index.into(), found.set(*switch)]
            });
        let set_exceptions = set_exceptions.collect();
        Quality {
            profile: profile.name().to_string(),
            default: profile.default_class().name.to_string(),
            trims: profile.trimming().is_some(),
            lossless: profile.is_lossless(),
            classes: profile.classes().map(class).collect(),
            sets: found.unique,
            set_of: plain,
            set_exceptions,
        }
    }
}

fn class(class: &Class) -> ClassRow {
    ClassRow {
        name: class.name.to_string(),
        role: class.role.name(),
        dscp: class.dscp.iter().map(|dscp| dscp.get()).collect(),
        tc: class.tc.get(),
        queue: class.queue.get(),
        priority: class.priority.get(),
        scheduler: match class.scheduler {
            Scheduler::Strict => "strict".to_owned(),
            Scheduler::Dwrr(weight) => format!("DWRR {}", weight.get()),
        },
        pfc: class.pfc,
        trim: class.trim,
    }
}

/// Inputs of a switch's settings: tier and zone (delays differ by zone), platform, operating system with port blocks,
/// and the number of connected cables by side and length in metres.
type Signature = ((TierId, ZoneId), usize, String, BTreeMap<(bool, u64), u32>);

/// The sets found so far.
struct Sets<'a> {
    plan: &'a Plan,
    index_by_signature: BTreeMap<Signature, usize>,
    unique: Vec<Set>,
}

impl Sets<'_> {
    fn set(&mut self, switch: Switch) -> usize {
        let signature = self.signature(switch);
        if let Some(at) = self.index_by_signature.get(&signature) {
            return *at;
        }
        self.index_by_signature.insert(signature, self.unique.len());
        self.unique.push(set(self.plan, switch));
        self.unique.len() - 1
    }

    fn signature(&self, switch: Switch) -> Signature {
        let (topology, fabric) = (self.plan.topology(), self.plan.fabric());
        let (platform, os) = topology.hardware(switch);
        let mut cables: BTreeMap<(bool, u64), u32> = BTreeMap::new();
        for port in fabric.ports(switch) {
            if let PortUse::Link { link, .. } = port.usage {
                let length = fabric.cable(link).length.meters_ceil();
                *cables.entry((port.at.side == Side::Up, length)).or_default() += 1;
            }
        }
        let platform = std::ptr::from_ref::<Platform>(platform).addr();
        (
            (switch.tier, switch.zone),
            platform,
            format!("{} {:?}", os.keyword(), topology.blocks(switch)),
            cables,
        )
    }
}

fn set(plan: &Plan, switch: Switch) -> Set {
    match plan.qos(switch) {
        Ok(qos) => Set {
            ports: qos
                .kinds
                .iter()
                .enumerate()
                .map(|(at, kind)| port(&plan.topology().qos, &qos, at, kind))
                .collect(),
            buffer: qos
                .buffers
                .as_ref()
                .map(|buffers| [buffers.memory.total.0, buffers.pools.headroom.0, buffers.pools.shared.0]),
            error: None,
        },
        Err(error) => Set { error: Some(error.to_string()), ..Set::default() },
    }
}

fn port(profile: &Profile, qos: &SwitchQos, at: usize, kind: &PortKind) -> PortRow {
    let headroom = qos.buffers.as_ref().filter(|_| profile.is_lossless());
    let headroom = headroom.and_then(|buffers| buffers.headroom(at));
    let marks = qos.marks[at].iter().map(|(queue, marks)| {
        [u64::from(queue.get()), marks.min().0, marks.max().0, u64::from(marks.probability().get())]
    });
    PortRow {
        place: match kind.place {
            Place::LastHop => "to NICs",
            Place::Edge => "uplinks",
            Place::Fabric => "fabric ports",
        },
        mbps: kind.speed.mbps(),
        cable_m: kind.cable.meters_ceil(),
        ports: kind.ports,
        headroom: headroom.map(|own| [own.xoff.0, own.xon.0, own.size.0]),
        marks: marks.collect(),
    }
}

/// Returns the switches whose settings may differ: those with a hardware exception, and those next to an
/// absent element or a cable with an exception.
fn exceptional_switches(plan: &Plan) -> BTreeSet<Switch> {
    let (topology, fabric) = (plan.topology(), plan.fabric());
    let exceptions = &topology.exceptions;
    let mut found: BTreeSet<Switch> = exceptions.switches.keys().copied().collect();
    for link in exceptions.absent_links.iter().chain(exceptions.cables.keys()) {
        found.extend(fabric.upper_end(*link).map(|(switch, _)| switch));
        if let Link::Fabric { lower, .. } = link {
            found.insert(*lower);
        }
    }
    for nic in &exceptions.absent_nics {
        found.extend(topology.plane_ids().map(|plane| nic.t0(plane)));
    }
    for switch in &exceptions.absent_switches {
        let neighbours = fabric.ports(*switch).filter_map(|port| match port.usage {
            PortUse::Link { link, .. } | PortUse::Absent { link } => Some(link),
            PortUse::Spare => None,
        });
        for link in neighbours {
            match (link, fabric.upper_end(link)) {
                (Link::Fabric { lower, .. }, Some((upper, _))) => {
                    found.insert(if lower == *switch { upper } else { lower });
                }
                (Link::Fabric { .. } | Link::Host(_), _) => {}
            }
        }
    }
    found
}
