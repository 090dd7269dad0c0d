//! Representative switches, one of each kind, so that hardware checks do not grow with the fabric.
//!
//! In: a plan. Out: switches. Invariants: there is one representative for each combination of tier, hardware, cable
//! lengths and numbers of cables on each side. Without exceptions, that is one per tier and hardware.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::PortUse;
use closc_platform::{Breakout, Os};
use closc_qos::units::Length;
use closc_topology::{Link, Side, Switch, TierId, ZoneId};

use crate::plan::Plan;

/// Properties that determine the hardware requirements of a switch: tier, hardware, the cables of its zone,
/// exceptional cables, numbers of cables below and above, and the split of its cages.
type Kind<'a> = (TierId, &'a str, Os, Option<Length>, Vec<Length>, [u32; 2], [Breakout; 2]);

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
        let gaps = gaps(self);
        let mut found: BTreeMap<Kind<'_>, Switch> = BTreeMap::new();
        let mut add = |switch: Switch, cables: [u32; 2]| {
            let mut lengths = own.get(&switch).cloned().unwrap_or_default();
            lengths.sort_unstable();
            let (platform, os) = topology.hardware(switch);
            let zone = topology.cables.t1_t2_by_zone.get(&switch.zone).map(|cable| cable.length);
            let splits = topology.blocks(switch).map(|block| block.breakout);
            found.entry((switch.tier, &platform.id, os, zone, lengths, cables, splits)).or_insert(switch);
        };
        // Without gaps, all other switches of a tier in a zone are equal. With gaps, the unaffected ones of a
        // row are equal.
        let rows = if gaps.is_empty() { 1 } else { topology.t2_rows() };
        let mut plain: BTreeMap<(TierId, u16), [u32; 2]> = BTreeMap::new();
        for tier in TierId::ALL {
            for plane in topology.plane_ids() {
                for zone in topology.zone_ids().filter(|zone| tier != TierId::T2 || *zone == ZoneId(0)) {
                    let at = |index| Switch { plane, tier, zone, index };
                    let is_there =
                        |switch: &Switch| self.fabric().has_switch(*switch) && !own.contains_key(switch);
                    let mut some: BTreeSet<Switch> =
                        gaps.range(at(0)..=at(u16::MAX)).copied().filter(is_there).collect();
                    for row in 0..rows {
                        let mut all =
                            (row..topology.count(tier)).step_by(usize::from(rows)).map(at).filter(is_there);
                        some.extend(all.find(|switch| !gaps.contains(switch)));
                    }
                    for switch in some {
                        let cables = match gaps.contains(&switch) {
                            _ if gaps.is_empty() => [0; 2],
                            true => cables(self, switch),
                            false => *plain
                                .entry((tier, switch.index % rows))
                                .or_insert_with(|| cables(self, switch)),
                        };
                        add(switch, cables);
                    }
                }
            }
        }
        let cables = |switch| if gaps.is_empty() { [0; 2] } else { cables(self, switch) };
        let own = own.keys().filter(|switch| self.fabric().has_switch(**switch));
        own.for_each(|switch| add(*switch, cables(*switch)));
        found.into_values().collect()
    }
}

/// Switches that lack a cable that others of their tier have.
fn gaps(plan: &Plan) -> BTreeSet<Switch> {
    let (fabric, exceptions) = (plan.fabric(), &plan.topology().exceptions);
    let ports = exceptions.absent_switches.iter().flat_map(|switch| fabric.ports(*switch));
    let with_switches = ports.filter_map(|port| match port.usage {
        PortUse::Link { link, .. } | PortUse::Absent { link } => Some(link),
        PortUse::Spare => None,
    });
    let cables = exceptions.absent_links.iter().copied().chain(with_switches);
    let cables = cables.flat_map(|link| ends(plan, link));
    let nics = exceptions.absent_nics.iter();
    let t0s = nics.flat_map(|nic| plan.topology().plane_ids().map(|plane| nic.t0(plane)));
    cables.chain(t0s).collect()
}

/// Returns the number of cables of a switch, below and above.
fn cables(plan: &Plan, switch: Switch) -> [u32; 2] {
    let mut sides = [0; 2];
    for port in plan.fabric().ports(switch).filter(|port| matches!(port.usage, PortUse::Link { .. })) {
        sides[usize::from(port.at.side == Side::Up)] += 1;
    }
    sides
}

/// Returns the switches at the ends of a cable.
fn ends(plan: &Plan, link: Link) -> impl Iterator<Item = Switch> {
    let upper = plan.fabric().upper_end(link).map(|(switch, _)| switch);
    let lower = match link {
        Link::Fabric { lower, .. } => Some(lower),
        Link::Host(_) => None,
    };
    upper.into_iter().chain(lower)
}
