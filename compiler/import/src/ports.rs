//! Port names that devices of a kind share: `swp1` is the same port of the plan on all T0s.
//!
//! In: cables of the network that are matched with planned ones. Out: for each kind of device and each name,
//! the port of the plan that has this name on most devices. Invariants: a name refers to one port. If the
//! devices of a kind share less than half of their port names, the kind does not have shared names.

use std::collections::{BTreeMap, HashMap};

use closc_plan::Plan;
use closc_topology::Link;
use smol_str::SmolStr;

use crate::network::{ExistingNetwork, Level};
use crate::pattern::natural;
use crate::position::{Place, Positions};

/// Returns the devices at the lower and the upper end of a cable.
pub(crate) fn ends(plan: &Plan, devices: &HashMap<Place, u32>, link: Link) -> [Option<u32>; 2] {
    let upper = plan.fabric().upper_end(link).map(|(switch, _)| Place::Switch(switch));
    let lower = match link {
        Link::Host(port) => Place::Node(plan.topology().node_of(port.nic).0),
        Link::Fabric { lower, .. } => Place::Switch(lower),
    };
    [Some(lower), upper].map(|place| devices.get(&place?).copied())
}

/// A kind of device: tier, zone and platform.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Kind {
    level: Level,
    zone: u16,
    platform: SmolStr,
}

impl Kind {
    pub(crate) fn of(plan: &Plan, positions: &Positions, device: u32) -> Kind {
        let level = positions.levels[device as usize];
        match positions.places[device as usize] {
            Place::Node(_) => Kind { level, zone: 0, platform: SmolStr::default() },
            Place::Switch(switch) => {
                Kind { level, zone: switch.zone.0, platform: plan.topology().hardware(switch).0.id.clone() }
            }
        }
    }
}

/// Corresponding names in the network and in the plan.
#[derive(Debug, Default)]
struct NamePairs {
    new: HashMap<SmolStr, SmolStr>,
    old: HashMap<SmolStr, SmolStr>,
}

/// Number of devices that use a name for a port of the plan.
type Votes = BTreeMap<SmolStr, BTreeMap<SmolStr, u32>>;

/// Returns whether ports have the same order by both names.
fn is_in_order(shared: &NamePairs) -> bool {
    let mut ports: Vec<_> = shared.new.iter().map(|(old, new)| (natural(old), natural(new))).collect();
    ports.sort();
    ports.is_sorted_by_key(|(_, new)| new.clone())
}

/// Shared names of ports, by kind of device.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    kinds: HashMap<Kind, NamePairs>,
    /// The tiers whose switches do not share port names.
    pub(crate) irregular: Vec<Level>,
}

impl Ports {
    /// Finds shared names from matched cables.
    pub(crate) fn of(
        plan: &Plan,
        network: &ExistingNetwork,
        positions: &Positions,
        matched: &[Option<Link>],
    ) -> Ports {
        let devices = positions.devices();
        let mut votes: BTreeMap<Kind, Votes> = BTreeMap::new();
        for (cable, link) in network.cables.iter().zip(matched) {
            let Some(link) = link else { continue };
            let (at, names) = (ends(plan, &devices, *link), plan.cable_ends(*link));
            for plug in cable.ends {
                let new = if at[0] == Some(plug.device) { &names.lower.1 } else { &names.upper.1 };
                let kind = votes.entry(Kind::of(plan, positions, plug.device)).or_default();
                let ports = kind.entry(network.ports.name(plug.port).clone()).or_default();
                *ports.entry(SmolStr::new(new)).or_default() += 1;
            }
        }
        let mut found = Ports::default();
        for (kind, ports) in votes {
            let all = |is_meant: &dyn Fn(&SmolStr, &SmolStr) -> bool| -> u32 {
                let counts = ports
                    .iter()
                    .flat_map(|(old, news)| news.iter().map(move |(new, count)| (old, new, count)));
                counts.filter(|(old, new, _)| is_meant(old, new)).map(|(_, _, count)| *count).sum()
            };
            let total = all(&|_, _| true);
            let is_plan = all(&|old, new| old == new) * 2 >= total;
            let is_single = ports.values().all(|news| news.values().sum::<u32>() == 1);
            let mut agreed = 0;
            let mut shared = NamePairs::default();
            for (old, news) in &ports {
                let Some((new, count)) = news.iter().max_by_key(|(new, count)| (**count, *new == old)) else {
                    continue;
                };
                // A name on a single device is not a pattern, so it is assumed to be the name in the plan.
                let is_alone = is_plan && news.values().sum::<u32>() == 1;
                let new = if is_alone { old } else { new };
                agreed += if is_alone { news.get(old).copied().unwrap_or(0) } else { *count };
                shared.old.entry(new.clone()).or_insert_with(|| old.clone());
                shared.new.insert(old.clone(), new.clone());
            }
            if is_single && !is_plan && !is_in_order(&shared) {
                agreed = 0;
            }
            if agreed * 2 >= total {
                found.kinds.insert(kind, shared);
            } else if kind.level != Level::Node && !found.irregular.contains(&kind.level) {
                found.irregular.push(kind.level);
            }
        }
        found
    }

    /// Returns whether this name refers to this port of the plan on most devices.
    pub(crate) fn agrees(&self, kind: &Kind, old: &SmolStr, new: &str) -> bool {
        let shared = self.kinds.get(kind).and_then(|kind| kind.new.get(old));
        shared.is_none_or(|shared| shared == new)
    }

    /// Returns the name in the plan.
    pub(crate) fn planned_name<'a>(&'a self, kind: &Kind, old: &'a SmolStr) -> &'a SmolStr {
        self.kinds.get(kind).and_then(|kind| kind.new.get(old)).unwrap_or(old)
    }

    /// Returns the name in the network.
    pub(crate) fn old<'a>(&'a self, kind: &Kind, new: &'a str) -> &'a str {
        self.kinds.get(kind).and_then(|kind| kind.old.get(new)).map_or(new, SmolStr::as_str)
    }
}
