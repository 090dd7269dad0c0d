//! Rejects denials that would remove the last path between two NICs, or too large a share of a plane.
//!
//! In: elements that are dead or denied, and a new one to deny. Out: success, or the reason for rejecting it.
//! Invariants: the check covers every pair of NICs. Undamaged groups are equivalent, so the work grows with the square
//! of the number of damaged groups. Pairs that have no path before the denial are ignored.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch, TierId, Topology, ZoneId};
use fixedbitset::FixedBitSet;
use thiserror::Error;

use crate::element::{Element, nic_name};

/// Why a denial is rejected.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Refusal {
    /// Two NICs would lose their last path.
    #[error("it would remove the last path between {from} and {to}")]
    LastPath {
        /// One NIC.
        from: String,
        /// The other.
        to: String,
    },
    /// Too much of a plane would be out of use.
    #[error("{} of plane {plane} would be denied; at most {} is allowed", percent(*.share), percent(*.most))]
    Share {
        /// The plane.
        plane: u8,
        /// The share out of use, including the new denial.
        share: f64,
        /// The maximum share.
        most: f64,
    },
}

/// Formats a share in percent with at most two decimal places.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 1e2)
}

/// A T0 group: its zone and its number.
type Group = (ZoneId, u16);

/// A class of NICs of a group that have the same usable planes before and after the denial. Planes are bit masks.
#[derive(Debug, Clone, Copy)]
struct NicClass {
    before: u32,
    after: u32,
    nic: Nic,
    /// Another NIC of this class, if there is one.
    second_nic: Option<Nic>,
}

/// Elements that are out of use.
#[derive(Debug, Clone, Default)]
struct UnusableElements {
    planes: BTreeSet<PlaneId>,
    switches: BTreeSet<Switch>,
    ports: BTreeSet<NicPort>,
    uplinks: BTreeSet<(Switch, u16)>,
}

impl UnusableElements {
    fn new(topology: &Topology, elements: impl IntoIterator<Item = Element>) -> UnusableElements {
        let mut out = UnusableElements::default();
        let exceptions = &topology.exceptions;
        let links = exceptions.absent_links.iter().chain(&exceptions.drained_links);
        let switches = exceptions.absent_switches.iter().chain(&exceptions.drained_switches);
        for element in (switches.map(|switch| Element::Switch(*switch)))
            .chain(links.map(|link| Element::Cable(*link)))
            .chain(exceptions.drained_planes.iter().map(|plane| Element::Plane(*plane)))
            .chain(elements)
        {
            out.add(topology, element);
        }
        out
    }

    fn add(&mut self, topology: &Topology, element: Element) {
        match element {
            Element::Plane(plane) => {
                self.planes.insert(plane);
            }
            Element::Switch(switch) => {
                self.switches.insert(switch);
            }
            Element::Nic(nic) => self.ports.extend(topology.plane_ids().map(|plane| NicPort { plane, nic })),
            Element::Port(port) | Element::Cable(Link::Host(port)) => {
                self.ports.insert(port);
            }
            Element::Cable(Link::Fabric { lower, up }) => {
                self.uplinks.insert((lower, up));
            }
        }
    }

    /// Returns the unusable uplinks of a T0, including those to T1s out of use.
    fn t0_uplinks(&self, topology: &Topology, t0: Switch) -> FixedBitSet {
        let mut out = FixedBitSet::with_capacity(topology.t0.up.count.into());
        let first = (t0, 0)..=(t0, u16::MAX);
        out.extend(self.uplinks.range(first).map(|(_, up)| usize::from(*up)));
        let k0 = topology.t0.parallel.max(1);
        let t1 = |index| Switch { tier: TierId::T1, index, ..t0 };
        for switch in self.switches.range(t1(0)..=t1(u16::MAX)) {
            let uplinks = usize::from(switch.index * k0)..usize::from((switch.index + 1) * k0);
            out.extend(uplinks.filter(|up| *up < usize::from(topology.t0.up.count)));
        }
        out
    }

    /// Returns groups with a T0, an uplink or a port out of use.
    fn groups(&self) -> BTreeSet<Group> {
        let of = |switch: &Switch| (switch.tier == TierId::T0).then_some((switch.zone, switch.index));
        let switches = self.switches.iter().filter_map(of);
        let uplinks = self.uplinks.iter().filter_map(|(switch, _)| of(switch));
        let ports = self.ports.iter().map(|port| (port.nic.zone, port.nic.group));
        switches.chain(uplinks).chain(ports).collect()
    }
}

/// Returns the planes usable between two groups as a bit mask, ignoring the ports of NICs.
fn usable_planes(plan: &Plan, out: &UnusableElements, a: Group, b: Group, is_same: bool) -> u32 {
    let topology = plan.topology();
    let t0 = |plane, (zone, index): Group| Switch { plane, tier: TierId::T0, zone, index };
    let open = |plane: &PlaneId| {
        let (from, to) = (t0(*plane, a), t0(*plane, b));
        if out.planes.contains(plane) || out.switches.contains(&from) || out.switches.contains(&to) {
            return false;
        }
        if is_same {
            return true;
        }
        let mut closed = out.t0_uplinks(topology, from);
        closed.union_with(&out.t0_uplinks(topology, to));
        let mut uplinks = closed.zeroes();
        if a.0 == b.0 {
            uplinks.next().is_some()
        } else {
            uplinks.any(|up| connects_zones(topology, out, from, to, up as u16))
        }
    };
    topology.plane_ids().filter(open).fold(0, |all, plane| all | 1 << plane.0)
}

/// Returns whether two zones are connected over some uplink of the T1s behind one T0 uplink.
fn connects_zones(topology: &Topology, out: &UnusableElements, from: Switch, to: Switch, up: u16) -> bool {
    let index = up / topology.t0.parallel.max(1);
    let t1 = |t0: Switch| Switch { tier: TierId::T1, index, ..t0 };
    let open = |m: &u16| {
        let t2 = topology.upper(t1(from), *m);
        !out.uplinks.contains(&(t1(from), *m))
            && !out.uplinks.contains(&(t1(to), *m))
            && t2.is_some_and(|(t2, _)| !out.switches.contains(&t2))
    };
    (0..topology.t1.up.count).any(|m| open(&m))
}

/// Divides the NICs of a T0 group into classes by their usable planes before and after.
fn nic_classes(
    plan: &Plan,
    (before, after): (&UnusableElements, &UnusableElements),
    (zone, group): Group,
) -> Vec<NicClass> {
    let all = plan.topology().plane_ids().fold(0, |all, plane| all | 1u32 << plane.0);
    let left = |out: &UnusableElements, nic: Nic| {
        let own = out.ports.iter().filter(|port| port.nic == nic);
        all & !own.fold(0, |all, port| all | 1u32 << port.plane.0)
    };
    let mut kinds: BTreeMap<(u32, u32), (Nic, Option<Nic>)> = BTreeMap::new();
    for nic in plan.fabric().group_nics(zone, group) {
        let known = kinds.entry((left(before, nic), left(after, nic))).or_insert((nic, None));
        if known.0 != nic {
            known.1.get_or_insert(nic);
        }
    }
    let kind = |((before, after), (nic, other))| NicClass { before, after, nic, second_nic: other };
    kinds.into_iter().map(kind).collect()
}

/// Checks that one more denial leaves every pair a path, and enough of the element's planes.
pub(crate) fn check(plan: &Plan, out: &[Element], more: Element, most: f64) -> Result<(), Refusal> {
    let topology = plan.topology();
    let before = UnusableElements::new(topology, out.iter().copied());
    let mut after = before.clone();
    after.add(topology, more);
    share(plan, &before, &after, most)?;
    // Two undamaged groups represent all undamaged ones of a zone.
    let mut groups = after.groups();
    for zone in topology.zone_ids() {
        let clean: Vec<Group> = (0..topology.hosts.groups)
            .map(|group| (zone, group))
            .filter(|g| !groups.contains(g))
            .take(2)
            .collect();
        groups.extend(clean);
    }
    let kinds: BTreeMap<Group, _> =
        groups.iter().map(|group| (*group, nic_classes(plan, (&before, &after), *group))).collect();
    for (n, a) in groups.iter().enumerate() {
        for b in groups.iter().skip(n) {
            let is_same = a == b;
            let (was, is) =
                (usable_planes(plan, &before, *a, *b, is_same), usable_planes(plan, &after, *a, *b, is_same));
            if let Some((from, to)) = cut_pair((was, is), (&kinds[a], &kinds[b])) {
                let name = |nic: Nic| nic_name(topology, nic);
                return Err(Refusal::LastPath { from: name(from), to: name(to) });
            }
        }
    }
    Ok(())
}

/// Returns two NICs that have a path before and none after.
fn cut_pair((was, is): (u32, u32), (a, b): (&[NicClass], &[NicClass])) -> Option<(Nic, Nic)> {
    for from in a {
        for to in b {
            let is_cut = was & from.before & to.before != 0 && is & from.after & to.after == 0;
            // A NIC has no path to itself.
            let far = if to.nic == from.nic { to.second_nic } else { Some(to.nic) };
            if let Some(far) = far.filter(|_| is_cut) {
                return Some((from.nic, far));
            }
        }
    }
    None
}

/// Checks that no plane loses more than a share of its cables.
fn share(plan: &Plan, before: &UnusableElements, after: &UnusableElements, most: f64) -> Result<(), Refusal> {
    for plane in plan.topology().plane_ids() {
        let (was, is) = (unusable_share(plan, before, plane), unusable_share(plan, after, plane));
        if is > was && is > most {
            return Err(Refusal::Share { plane: plane.0, share: is, most });
        }
    }
    Ok(())
}

/// Returns the largest of the unusable shares of NIC ports, T0 uplinks and T1 uplinks of a plane.
fn unusable_share(plan: &Plan, out: &UnusableElements, plane: PlaneId) -> f64 {
    if out.planes.contains(&plane) {
        return 1.0;
    }
    let topology = plan.topology();
    let zones = f64::from(topology.zones);
    let t0s = zones * f64::from(topology.hosts.groups);
    let t1s = zones * f64::from(topology.t1_count);
    let of = |tier: TierId| {
        out.switches.iter().filter(|switch| switch.plane == plane && switch.tier == tier).count() as f64
    };
    let is_out = |switch: &Switch| out.switches.contains(switch);
    let ports =
        out.ports.iter().filter(|port| port.plane == plane && !is_out(&port.nic.t0(plane))).count() as f64;
    let cables = |tier: TierId, up: f64, switches: f64| {
        let own = out.uplinks.iter().filter(|(lower, _)| lower.plane == plane && lower.tier == tier);
        let own = own.filter(|(lower, _)| !is_out(lower)).count() as f64;
        if up == 0.0 { 0.0 } else { own / (up * switches) + of(tier) / switches }
    };
    let t2s = topology.t2.as_ref().map_or(1.0, |t2| f64::from(t2.count));
    let hosts = ports / (t0s * f64::from(topology.hosts.per_group)) + of(TierId::T0) / t0s;
    let t0_up = cables(TierId::T0, f64::from(topology.t0.up.count), t0s) + of(TierId::T1) / t1s;
    let t1_up = cables(TierId::T1, f64::from(topology.t1.up.count), t1s) + of(TierId::T2) / t2s;
    hosts.max(t0_up).max(t1_up)
}

#[cfg(test)]
mod tests {
    use closc_topology::Side;

    use super::*;
    use crate::testing;

    /// Checks every path of every pair.
    fn is_connected(plan: &Plan, out: &[Element]) -> bool {
        let nics: Vec<Nic> = plan.fabric().nics().collect();
        let covered = |link: Link| out.iter().any(|element| element.covers(plan.topology(), link));
        nics.iter().flat_map(|a| nics.iter().map(move |b| (*a, *b))).filter(|(a, b)| a != b).all(|(a, b)| {
            plan.paths(a, b)
                .any(|path| !covered(path.first) && !path.hops.iter().any(|hop| covered(hop.link)))
        })
    }

    fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
        let mut state = seed;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        }
    }

    #[test]
    fn the_last_path_of_every_pair_stays() {
        let plan = testing::three_tiers();
        let links: Vec<Link> = plan.fabric().links().collect();
        let switches: Vec<Switch> = plan.fabric().switches().collect();
        let (mut refused, mut taken) = (0, 0);
        for seed in 0..6 {
            let mut below = numbers(seed);
            let mut out = Vec::new();
            for _ in 0..24 {
                let more = match below(3) {
                    0 => Element::Switch(switches[below(switches.len())]),
                    _ => Element::Cable(links[below(links.len())]),
                };
                let fine = check(&plan, &out, more, 1.0);
                let with: Vec<Element> = out.iter().copied().chain([more]).collect();
                assert_eq!(fine.is_ok(), is_connected(&plan, &with), "{seed}: {fine:?} {with:?}");
                if fine.is_ok() {
                    out.push(more);
                    taken += 1;
                } else {
                    refused += 1;
                }
            }
        }
        assert!(refused > 10 && taken > 50, "{refused} refused, {taken} taken");
    }

    #[test]
    fn no_plane_loses_more_than_its_share() {
        let plan = testing::eight_planes();
        let t0 = plan.fabric().switches().next().expect("there are switches");
        let port = plan.fabric().ports(t0).find(|port| port.at.side == Side::Up).expect("it has uplinks");
        let up = Element::Cable(Link::Fabric { lower: t0, up: port.at.index });
        assert_eq!(check(&plan, &[], up, 0.1), Ok(()));
        let refused = check(&plan, &[], up, 0.05).expect_err("1 of 16 uplinks").to_string();
        assert_eq!(refused, "6.25 % of plane 0 would be denied; at most 5 % is allowed");
        assert!(check(&plan, &[], Element::Plane(PlaneId(0)), 0.5).is_err());
        assert_eq!(check(&plan, &[], Element::Plane(PlaneId(0)), 1.0), Ok(()));
    }

    /// If two equivalent NICs lose their last common plane, both are named, not one of them twice.
    #[test]
    fn two_nics_that_are_alike_are_named_both() {
        let plan = testing::three_tiers();
        let nics: Vec<Nic> = plan.fabric().nics().take(2).collect();
        let t0 = |plane| Element::Switch(nics[0].t0(PlaneId(plane)));
        let mut out: Vec<Element> = Vec::new();
        let mut said = Vec::new();
        for plane in plan.topology().plane_ids() {
            match check(&plan, &out, t0(plane.0), 1.0) {
                Ok(()) => out.push(t0(plane.0)),
                Err(refusal) => said.push(refusal),
            }
        }
        let name = |nic: Nic| nic_name(plan.topology(), nic);
        assert_eq!(said, [Refusal::LastPath { from: name(nics[0]), to: name(nics[1]) }]);
    }

    /// One NIC of a group had no port before. It must not represent another one, which would lose its last port by the
    /// denial.
    #[test]
    fn a_nic_that_was_cut_off_before_stands_for_no_other() {
        let plan = testing::three_tiers();
        let nics: Vec<Nic> = plan.fabric().nics().take(2).collect();
        let port = |nic: usize, plane| Element::Port(NicPort { plane: PlaneId(plane), nic: nics[nic] });
        let planes: Vec<u8> = plan.topology().plane_ids().map(|plane| plane.0).collect();
        let (last, rest) = planes.split_last().expect("there are planes");
        let mut out: Vec<Element> = planes.iter().map(|plane| port(0, *plane)).collect();
        out.extend(rest.iter().map(|plane| port(1, *plane)));
        let refused = check(&plan, &out, port(1, *last), 1.0);
        assert!(matches!(refused, Err(Refusal::LastPath { .. })), "{refused:?}");
    }

    #[test]
    fn who_would_be_cut_off_is_named() {
        let plan = testing::three_tiers();
        let nic = plan.fabric().nics().next().expect("there are NICs");
        let port = |plane| Element::Port(NicPort { plane: PlaneId(plane), nic });
        assert_eq!(check(&plan, &[], port(0), 1.0), Ok(()));
        let refused =
            check(&plan, &[port(0)], port(1), 1.0).expect_err("the second of two ports").to_string();
        assert_eq!(
            refused,
            "it would remove the last path between z0-su001-n001/nic0 and z0-su001-n002/nic0"
        );
    }
}
