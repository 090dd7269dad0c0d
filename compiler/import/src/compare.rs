//! Compares the plan of a fabric file with the existing network that the file describes.
//!
//! In: a plan, an existing network, and the positions of its devices. Out: planned cables that are not
//! plugged, cables of the network that are not in the plan, and ports whose names differ. Invariants: every
//! cable of the network is either matched with a planned one or reported.

use std::collections::BTreeMap;

use closc_plan::Plan;
use closc_topology::Link;
use smol_str::SmolStr;

use crate::network::{ExistingNetwork, Plug};
use crate::pattern::natural;
use crate::ports::{Kind, Ports, ends};
use crate::position::Positions;

/// A port with different names in the network and the plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Port {
    pub(crate) device: u32,
    pub(crate) old: SmolStr,
    pub(crate) new: SmolStr,
}

/// Result of a comparison.
#[derive(Debug, Default)]
pub(crate) struct NetworkComparison {
    /// For each cable of the network, by number, the matching planned cable; `None` if it is not planned.
    pub(crate) matches: Vec<Option<Link>>,
    /// Planned cables that the network does not have.
    pub(crate) missing: Vec<Link>,
    /// Planned cables whose port has another cable at one end.
    pub(crate) occupied_cables: Vec<Link>,
    /// Cables of the network that the plan does not have.
    pub(crate) unplanned_cables: Vec<u32>,
    /// Ports whose names differ.
    pub(crate) ports: Vec<Port>,
    /// Port names that most devices of a kind share.
    pub(crate) shared_names: Ports,
}

/// Compares the cables of a plan with those of an existing network. If port names may differ from the plan,
/// cables between the same devices are matched in the order of their ports. A cable stays unmatched if one of
/// its ports has an unusual name for its kind of device.
pub(crate) fn compare(
    plan: &Plan,
    network: &ExistingNetwork,
    positions: &Positions,
    ports_may_differ: bool,
) -> NetworkComparison {
    let devices = positions.devices();
    let mut found =
        NetworkComparison { matches: vec![None; network.cables.len()], ..NetworkComparison::default() };
    let mut open: Vec<UnmatchedCable> = Vec::new();
    for link in plan.fabric().links() {
        let at = ends(plan, &devices, link);
        let names = plan.cable_ends(link);
        let plug = |device: Option<u32>, port: &str| network.cable_at(device?, network.ports.find(port)?);
        let plugs = [plug(at[0], &names.lower.1), plug(at[1], &names.upper.1)];
        match plugs {
            [Some(a), Some(b)] if a == b => found.matches[a as usize] = Some(link),
            _ => open.push((link, at, plugs)),
        }
    }
    if ports_may_differ && !network.is_numbered {
        open = by_t0_port(network, open, &mut found);
    }
    if ports_may_differ {
        open = by_device(network, open, positions, &mut found);
    }
    if ports_may_differ && !network.is_numbered {
        found.shared_names = Ports::of(plan, network, positions, &found.matches);
        open = by_shared_ports(plan, network, positions, open, &mut found);
    }
    for (link, at, plugs) in open {
        let is_occupied = plugs.iter().flatten().any(|cable| found.matches[*cable as usize].is_none());
        let both = at[0].is_some() && at[1].is_some();
        if is_occupied && both && (!ports_may_differ || !network.is_numbered) {
            found.occupied_cables.push(link);
        } else {
            found.missing.push(link);
        }
    }
    found.unplanned_cables =
        (0..).zip(&found.matches).filter(|(_, link)| link.is_none()).map(|(cable, _)| cable).collect();
    found.ports = renamed_ports(plan, network, positions, &found);
    found
}

/// Matches cables of nodes by the port of the T0, because nodes use other names for their NIC ports.
fn by_t0_port(
    network: &ExistingNetwork,
    open: Vec<UnmatchedCable>,
    comparison: &mut NetworkComparison,
) -> Vec<UnmatchedCable> {
    let is_open = |(link, at, plugs): &UnmatchedCable| {
        let (Link::Host(_), Some(node), Some(cable)) = (link, at[0], plugs[1]) else { return true };
        let is_node = network.cables[cable as usize].ends.iter().any(|plug| plug.device == node);
        let is_match = is_node && comparison.matches[cable as usize].is_none();
        if is_match {
            comparison.matches[cable as usize] = Some(*link);
        }
        !is_match
    };
    open.into_iter().filter(is_open).collect()
}

/// Undoes matches whose port names are unusual for the kind of device. Matches those cables by the shared
/// names instead. Returns the planned cables that are still unmatched, with the cables in their ports.
fn by_shared_ports(
    plan: &Plan,
    network: &ExistingNetwork,
    positions: &Positions,
    mut open: Vec<UnmatchedCable>,
    comparison: &mut NetworkComparison,
) -> Vec<UnmatchedCable> {
    let devices = positions.devices();
    for number in 0..comparison.matches.len() {
        let Some(link) = comparison.matches[number] else { continue };
        let at = ends(plan, &devices, link);
        let names = plan.cable_ends(link);
        let is_shared = |plug: &Plug| {
            let new = if at[0] == Some(plug.device) { &names.lower.1 } else { &names.upper.1 };
            let kind = Kind::of(plan, positions, plug.device);
            comparison.shared_names.agrees(&kind, network.ports.name(plug.port), new)
        };
        if !network.cables[number].ends.iter().all(is_shared) {
            comparison.matches[number] = None;
            open.push((link, at, [None, None]));
        }
    }
    let plugs = |link: Link, at: [Option<u32>; 2]| {
        let names = plan.cable_ends(link);
        let plug = |device: Option<u32>, new: &str| {
            let device = device?;
            let old = comparison.shared_names.old(&Kind::of(plan, positions, device), new);
            network.cable_at(device, network.ports.find(old)?)
        };
        [plug(at[0], &names.lower.1), plug(at[1], &names.upper.1)]
    };
    let open: Vec<UnmatchedCable> =
        open.into_iter().map(|(link, at, _)| (link, at, plugs(link, at))).collect();
    let matched = &mut comparison.matches;
    let is_open = |(link, _, plugs): &UnmatchedCable| match plugs {
        [Some(a), Some(b)] if a == b && matched[*a as usize].is_none() => {
            matched[*a as usize] = Some(*link);
            false
        }
        _ => true,
    };
    open.into_iter().filter(is_open).collect()
}

/// Returns the ports with another name in the plan.
fn renamed_ports(
    plan: &Plan,
    network: &ExistingNetwork,
    positions: &Positions,
    comparison: &NetworkComparison,
) -> Vec<Port> {
    let devices = positions.devices();
    let mut ports = Vec::new();
    for (cable, link) in network.cables.iter().zip(&comparison.matches) {
        let planned = link.map(|link| (ends(plan, &devices, link), plan.cable_ends(link)));
        for plug in cable.ends {
            let old = network.ports.name(plug.port).clone();
            let new = match &planned {
                Some((at, names)) if at[0] == Some(plug.device) => SmolStr::new(&names.lower.1),
                Some((_, names)) => SmolStr::new(&names.upper.1),
                None => comparison
                    .shared_names
                    .planned_name(&Kind::of(plan, positions, plug.device), &old)
                    .clone(),
            };
            if old != new {
                ports.push(Port { device: plug.device, old, new });
            }
        }
    }
    ports
}

/// A planned cable, its devices, and the cables that are plugged into its two ports.
type UnmatchedCable = (Link, [Option<u32>; 2], [Option<u32>; 2]);

/// Matches the remaining cables by the devices at their ends, and returns the planned ones that are still
/// unmatched.
fn by_device(
    network: &ExistingNetwork,
    open: Vec<UnmatchedCable>,
    positions: &Positions,
    comparison: &mut NetworkComparison,
) -> Vec<UnmatchedCable> {
    let mut left: BTreeMap<(u32, u32), Vec<(u32, usize)>> = BTreeMap::new();
    for (number, cable) in (0..).zip(&network.cables) {
        if comparison.matches[number as usize].is_none() {
            let [a, b] = cable.ends.map(|plug| plug.device);
            let is_lower_first = positions.levels[a as usize] < positions.levels[b as usize];
            let (key, lower) = if is_lower_first { ((a, b), 0) } else { ((b, a), 1) };
            left.entry(key).or_default().push((number, lower));
        }
    }
    let nic = |number: u32| positions.nics.numbers.get(&number).copied();
    for cables in left.values_mut() {
        // In descending order, because `pop` takes the last item.
        cables.sort_by_key(|(number, lower)| {
            let port = network.cables[*number as usize].ends[*lower].port;
            std::cmp::Reverse((nic(*number), natural(network.ports.name(port))))
        });
    }
    let mut still = Vec::new();
    for (link, at, plugs) in open {
        let taken = match at {
            [Some(a), Some(b)] => left.get_mut(&(a, b)).and_then(Vec::pop),
            _ => None,
        };
        match taken {
            Some((number, _)) => comparison.matches[number as usize] = Some(link),
            None => still.push((link, at, plugs)),
        }
    }
    still
}
