//! Drained elements of cable lists, as in `exceptions.drained` and `exceptions.isolated`: planes, then
//! switches, then single cables.
//!
//! In: a plan without exceptions, and its drained cables. Out: names. Invariants: the names drain exactly
//! these cables. A switch or plane is named only if all of its existing cables are drained. An isolated cable
//! is not listed in `exceptions.drained`, but its switch or plane may be.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use closc_plan::Plan;
use closc_topology::{Link, PlaneId, Switch};

use super::ranges::ranges;
use crate::compare::NetworkComparison;
use crate::network::ExistingNetwork;

/// The number of cables of a device or plane, and its drained cables.
#[derive(Default)]
struct Share {
    all: usize,
    drained: Vec<Link>,
}

impl Share {
    fn add(&mut self, link: Link, is_drained: bool) {
        self.all += 1;
        if is_drained {
            self.drained.push(link);
        }
    }

    fn is_whole(&self) -> bool {
        self.all == self.drained.len()
    }
}

/// Returns the switches at the ends of a cable.
fn switches(plan: &Plan, link: Link) -> impl Iterator<Item = Switch> {
    let lower = match link {
        Link::Host(_) => None,
        Link::Fabric { lower, .. } => Some(lower),
    };
    lower.into_iter().chain(plan.fabric().upper_end(link).map(|(switch, _)| switch))
}

/// Returns the names of drained elements.
pub(super) fn drained_names(
    network: &ExistingNetwork,
    plan: &Plan,
    compared: &NetworkComparison,
) -> Vec<String> {
    if network.drained.is_empty() {
        return Vec::new();
    }
    let mut planes: BTreeMap<PlaneId, Share> = BTreeMap::new();
    let mut by_switch: BTreeMap<Switch, Share> = BTreeMap::new();
    for (link, number) in compared.matches.iter().zip(0_u32..) {
        let Some(link) = *link else { continue };
        let is_drained = network.drained.contains(&number);
        planes.entry(link.plane()).or_default().add(link, is_drained);
        for switch in switches(plan, link) {
            by_switch.entry(switch).or_default().add(link, is_drained);
        }
    }
    let mut left: BTreeSet<Link> = planes.values().flat_map(|share| share.drained.iter().copied()).collect();
    let mut names = Vec::new();
    // A fabric file cannot drain every plane.
    if planes.values().any(|share| !share.is_whole()) {
        for (plane, share) in planes.iter().filter(|(_, share)| share.is_whole()) {
            names.push(format!("plane {plane}"));
            share.drained.iter().for_each(|link| {
                left.remove(link);
            });
        }
    }
    let mut whole: Vec<(Switch, Share)> =
        by_switch.into_iter().filter(|(_, share)| share.is_whole()).collect();
    whole.sort_by_key(|(_, share)| Reverse(share.all));
    let mut chosen = BTreeSet::new();
    for (switch, share) in &whole {
        // If only one cable of a switch is left, name this cable instead of the switch.
        if share.drained.iter().filter(|link| left.contains(*link)).nth(1).is_some() {
            chosen.insert(*switch);
            share.drained.iter().for_each(|link| {
                left.remove(link);
            });
        }
    }
    let chosen: Vec<String> = chosen.into_iter().map(|switch| plan.switch_name(switch).to_string()).collect();
    let isolated = links_of(&network.isolated, compared);
    let links: Vec<String> = left.difference(&isolated).map(|link| plan.link_name(*link)).collect();
    names.extend(ranges(&chosen));
    names.extend(ranges(&links));
    names
}

/// Returns the names of isolated cables.
pub(super) fn isolated_names(
    network: &ExistingNetwork,
    plan: &Plan,
    compared: &NetworkComparison,
) -> Vec<String> {
    let links = links_of(&network.isolated, compared);
    ranges(&links.into_iter().map(|link| plan.link_name(link)).collect::<Vec<_>>())
}

/// Returns the planned cables that match the cables of the network with these numbers.
fn links_of(rows: &HashSet<u32>, compared: &NetworkComparison) -> BTreeSet<Link> {
    let numbered = compared.matches.iter().zip(0_u32..);
    numbered.filter(|(_, number)| rows.contains(number)).filter_map(|(link, _)| *link).collect()
}
