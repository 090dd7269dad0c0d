//! Switches that stand for all: one of each kind, so that a check of hardware does not grow with the fabric.
//!
//! In: a plan. Out: switches. Invariants: of switches that are alike in tier, hardware, lengths of cables and numbers of
//! cables on each side one is there; where nothing is absent that is one for each kind of hardware in each place.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::PortUse;
use closc_platform::Os;
use closc_qos::units::Length;
use closc_topology::{Link, Side, Switch, TierId, ZoneId};

use crate::plan::Plan;

/// What decides what is asked of the hardware of a switch: tier, hardware, the zone's cables, cables of its own, and
/// how many cables it has below and above.
type Kind<'a> = (TierId, &'a str, Os, Option<Length>, Vec<Length>, [u32; 2]);

impl Plan {
    /// Returns one switch of each kind.
    pub fn kinds(&self) -> BTreeSet<Switch> {
        let topology = self.topology();
        let exceptions = &topology.exceptions;
        let mut own: BTreeMap<Switch, Vec<Length>> =
            exceptions.switches.keys().map(|switch| (*switch, Vec::new())).collect();
        for (link, cable) in &exceptions.cables {
            for switch in ends(self, *link) {
                own.entry(switch).or_default().push(cable.length);
            }
        }
        let whole = exceptions.absent_switches.is_empty()
            && exceptions.absent_links.is_empty()
            && exceptions.absent_nics.is_empty();
        let mut found: BTreeMap<Kind<'_>, Switch> = BTreeMap::new();
        let mut add = |switch: Switch| {
            let mut lengths = own.get(&switch).cloned().unwrap_or_default();
            lengths.sort_unstable();
            let (platform, os) = topology.hardware(switch);
            let zone = topology.cables.t1_t2_by_zone.get(&switch.zone).map(|cable| cable.length);
            let cables = if whole { [0; 2] } else { cables(self, switch) };
            found.entry((switch.tier, &platform.id, os, zone, lengths, cables)).or_insert(switch);
        };
        for tier in TierId::ALL {
            let count = topology.count(tier);
            for plane in topology.plane_ids() {
                for zone in topology.zone_ids().filter(|zone| tier != TierId::T2 || *zone == ZoneId(0)) {
                    let mut there = (0..count).filter_map(|index| {
                        let switch = Switch { plane, tier, zone, index };
                        (self.fabric().has_switch(switch) && !own.contains_key(&switch)).then_some(switch)
                    });
                    // Without gaps all are alike.
                    if whole { there.next().into_iter().for_each(&mut add) } else { there.for_each(&mut add) }
                }
            }
        }
        own.keys().filter(|switch| self.fabric().has_switch(**switch)).copied().for_each(&mut add);
        found.into_values().collect()
    }
}

/// How many cables a switch has below and above.
fn cables(plan: &Plan, switch: Switch) -> [u32; 2] {
    let mut sides = [0; 2];
    for port in plan.fabric().ports(switch).filter(|port| matches!(port.used, PortUse::Link { .. })) {
        sides[usize::from(port.at.side == Side::Up)] += 1;
    }
    sides
}

/// The switches at the ends of a cable.
fn ends(plan: &Plan, link: Link) -> impl Iterator<Item = Switch> {
    let upper = plan.fabric().upper_end(link).map(|(switch, _)| switch);
    let lower = match link {
        Link::Fabric { lower, .. } => Some(lower),
        Link::Host(_) => None,
    };
    upper.into_iter().chain(lower)
}
