//! Compares the plan of a fabric file with the existing network (the plant) that the file describes.
//!
//! In: a plan, a plant, and the places of its devices. Out: planned cables that are not plugged, cables of the plant
//! that are not in the plan, and ports that have another name. Invariants: every cable of the plant is matched with a
//! planned one, or is reported as left.

use std::collections::{BTreeMap, HashMap};

use closc_plan::Plan;
use closc_topology::Link;
use smol_str::SmolStr;

use crate::pattern::natural;
use crate::plant::Plant;
use crate::position::{Place, Positions};

/// A port that has another name in the plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Port {
    pub(crate) device: u32,
    pub(crate) old: SmolStr,
    pub(crate) new: SmolStr,
}

/// Result of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// The planned cable of each cable of the plant, by number; `None` if it is not planned.
    pub(crate) matched: Vec<Option<Link>>,
    /// Planned cables that the plant lacks.
    pub(crate) missing: Vec<Link>,
    /// Planned cables with an end that has another cable.
    pub(crate) occupied: Vec<Link>,
    /// Cables that the plan does not have.
    pub(crate) left: Vec<u32>,
    /// Ports that have another name.
    pub(crate) ports: Vec<Port>,
}

/// The devices at the ends of a cable: the lower one, and the upper one.
fn ends(plan: &Plan, devices: &HashMap<Place, u32>, link: Link) -> [Option<u32>; 2] {
    let upper = plan.fabric().upper_end(link).map(|(switch, _)| Place::Switch(switch));
    let lower = match link {
        Link::Host(port) => Place::Node(plan.topology().node_of(port.nic).0),
        Link::Fabric { lower, .. } => Place::Switch(lower),
    };
    [Some(lower), upper].map(|place| devices.get(&place?).copied())
}

/// Compares the cables of a plan with those of a plant. If ports may have other names than in the plan, cables between
/// the same devices are matched in the order of their ports.
pub(crate) fn compare(plan: &Plan, plant: &Plant, positions: &Positions, ports_may_differ: bool) -> Compared {
    let devices = positions.devices();
    let mut found = Compared { matched: vec![None; plant.cables.len()], ..Compared::default() };
    let mut open: Vec<Open> = Vec::new();
    for link in plan.fabric().links() {
        let at = ends(plan, &devices, link);
        let names = plan.cable_ends(link);
        let plug = |device: Option<u32>, port: &str| plant.plugged(device?, plant.ports.find(port)?);
        let plugs = [plug(at[0], &names.lower.1), plug(at[1], &names.upper.1)];
        match plugs {
            [Some(a), Some(b)] if a == b => found.matched[a as usize] = Some(link),
            _ => open.push((link, at, plugs)),
        }
    }
    if ports_may_differ {
        open = by_device(plan, plant, open, positions, &mut found);
    }
    for (link, at, plugs) in open {
        let is_occupied = plugs.iter().flatten().any(|cable| found.matched[*cable as usize].is_none());
        let both = at[0].is_some() && at[1].is_some();
        if is_occupied && both && !ports_may_differ {
            found.occupied.push(link);
        } else {
            found.missing.push(link);
        }
    }
    found.left =
        (0..).zip(&found.matched).filter(|(_, link)| link.is_none()).map(|(cable, _)| cable).collect();
    found
}

/// A planned cable, its devices, and the cables that are plugged into its two ports.
type Open = (Link, [Option<u32>; 2], [Option<u32>; 2]);

/// Matches the remaining cables by the devices at their ends, and returns the planned ones that are still open.
fn by_device(
    plan: &Plan,
    plant: &Plant,
    open: Vec<Open>,
    positions: &Positions,
    found: &mut Compared,
) -> Vec<Open> {
    let mut left: BTreeMap<(u32, u32), Vec<(u32, usize)>> = BTreeMap::new();
    for (number, cable) in (0..).zip(&plant.cables) {
        if found.matched[number as usize].is_none() {
            let [a, b] = cable.ends.map(|plug| plug.device);
            let is_lower_first = positions.levels[a as usize] < positions.levels[b as usize];
            let (key, lower) = if is_lower_first { ((a, b), 0) } else { ((b, a), 1) };
            left.entry(key).or_default().push((number, lower));
        }
    }
    let nic = |number: u32| positions.nics.numbers.get(&number).copied();
    for cables in left.values_mut() {
        // In descending order, because `pop` takes the last.
        cables.sort_by_key(|(number, lower)| {
            let port = plant.cables[*number as usize].ends[*lower].port;
            std::cmp::Reverse((nic(*number), natural(plant.ports.name(port))))
        });
    }
    let mut still = Vec::new();
    for (link, at, plugs) in open {
        let taken = match at {
            [Some(a), Some(b)] => left.get_mut(&(a, b)).and_then(Vec::pop),
            _ => None,
        };
        let Some((number, lower)) = taken else {
            still.push((link, at, plugs));
            continue;
        };
        found.matched[number as usize] = Some(link);
        let names = plan.cable_ends(link);
        let cable = &plant.cables[number as usize];
        for (end, new) in [(lower, names.lower.1), (1 - lower, names.upper.1)] {
            let plug = cable.ends[end];
            let old = plant.ports.name(plug.port).clone();
            if old != new {
                found.ports.push(Port { device: plug.device, old, new });
            }
        }
    }
    still
}
