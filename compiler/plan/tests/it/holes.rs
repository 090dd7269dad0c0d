//! Elements that exceptions cut off, and equal switches next to gaps, are compared with a walk over every device and
//! cable.

use std::collections::BTreeSet;
use std::sync::Arc;

use closc_fabric::{Fabric, FabricGraph, PortUse};
use closc_plan::Plan;
use closc_tests::shape::{Shape, islands, three_tiers, two_tiers};
use closc_topology::{Link, Nic, NicPort, PlaneId, Side, Switch, TierId, Topology, ZoneId};
use proptest::prelude::*;

/// An element to remove: its kind, and numbers that are reduced to the size of the fabric.
type ElementPick = (u8, [u16; 5]);

/// Removes elements from a fabric, which may become partitioned.
fn remove_elements(shape: &Shape, picks: &[ElementPick]) -> Fabric {
    let mut topology = shape.plan().topology().clone();
    for (what, numbers) in picks {
        take(&mut topology, *what, *numbers);
    }
    Fabric::new(Arc::new(topology))
}

fn take(topology: &mut Topology, what: u8, [a, b, c, d, more]: [u16; 5]) {
    let plane = PlaneId((a % u16::from(topology.planes)) as u8);
    let zone = ZoneId(b % topology.zones);
    let nic = Nic { zone, group: c % topology.hosts.groups, downlink: d % topology.hosts.per_group };
    let switch = |tier: TierId| {
        let zone = if tier == TierId::T2 { ZoneId(0) } else { zone };
        Switch { plane, tier, zone, index: c.checked_rem(topology.count(tier)).unwrap_or(0) }
    };
    match what {
        0 => {
            let tiers = if topology.t2.is_some() { 3 } else { 2 };
            let found = switch(TierId::ALL[usize::from(d % tiers)]);
            if Fabric::new(Arc::new(topology.clone())).has_switch(found) {
                topology.exceptions.absent_switches.insert(found);
            }
        }
        1 => drop(topology.exceptions.absent_nics.insert(nic)),
        2 => drop(topology.exceptions.absent_links.insert(Link::Host(NicPort { plane, nic }))),
        // All cables of a NIC.
        3 => {
            let links = topology.plane_ids().map(|plane| Link::Host(NicPort { plane, nic }));
            topology.exceptions.absent_links.extend(links);
        }
        // A run of cables above a switch.
        _ => {
            let lower = switch(TierId::ALL[usize::from(b % 2)]);
            let ups = topology.tier(lower.tier).map_or(0, |tier| tier.up.count);
            if topology.t2.is_some() || lower.tier == TierId::T0 {
                let links = (d.checked_rem(ups).unwrap_or(0)..ups).take(1 + usize::from(more % 4));
                topology.exceptions.absent_links.extend(links.map(|up| Link::Fabric { lower, up }));
            }
        }
    }
}

fn picks() -> impl Strategy<Value = Vec<ElementPick>> {
    prop::collection::vec((0..6u8, any::<[u16; 5]>()), 0..14)
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![two_tiers().prop_filter("few planes", |shape| shape.planes <= 4), three_tiers(), islands()]
}

/// Numbers of cables below and above, and the tier, of every switch.
fn counts(fabric: &Fabric, switches: impl Iterator<Item = Switch>) -> BTreeSet<(TierId, [usize; 2])> {
    let cables = |switch: Switch, side: Side| {
        let ports = fabric.ports(switch).filter(|port| port.at.side == side);
        ports.filter(|port| matches!(port.usage, PortUse::Link { .. })).count()
    };
    switches.map(|s| (s.tier, [Side::Down, Side::Up].map(|side| cables(s, side)))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn what_is_cut_off_is_what_a_graph_shows(shape in shapes(), picks in picks()) {
        let fabric = remove_elements(&shape, &picks);
        let graph = FabricGraph::of(&fabric);
        let lonely: Vec<Nic> = graph.isolated_nics().collect();
        prop_assert_eq!(fabric.isolated_nics(), lonely.iter().min().map(|first| (*first, lonely.len() as u64)));
        prop_assert_eq!(fabric.islands(), graph.islands() as u64);
        let planes = |nic: Nic| {
            let there = |plane: &PlaneId| fabric.has_link(Link::Host(NicPort { plane: *plane, nic }));
            fabric.topology().plane_ids().filter(there).fold(0_u16, |planes, plane| planes | 1 << plane.0)
        };
        let nics: Vec<(Nic, u16)> = fabric.nics().map(|nic| (nic, planes(nic))).filter(|nic| nic.1 != 0).collect();
        let pairs = nics.iter().enumerate().flat_map(|(at, one)| nics[at + 1..].iter().map(move |two| (*one, *two)));
        // With one tier, NICs of different groups have no path by design. Neither do those in different planes by
        // NIC.
        let by_nic = shape.t2.as_ref().is_some_and(|t2| t2.steps == 0);
        let is_pair = |one: Nic, two: Nic| (shape.t1 > 0 || one.group == two.group) && (!by_nic || one.zone == two.zone);
        let apart: Vec<(Nic, Nic)> =
            pairs.filter(|(one, two)| one.1 & two.1 == 0 && is_pair(one.0, two.0)).map(|(one, two)| (one.0, two.0)).collect();
        match fabric.pair_without_common_plane() {
            Some((one, two, count)) => {
                prop_assert_eq!(count, apart.len() as u64);
                prop_assert!(apart.contains(&(one, two)), "{one:?} {two:?}");
            }
            None => prop_assert!(apart.is_empty(), "{apart:?}"),
        }
    }

    #[test]
    fn beside_gaps_every_number_of_cables_has_its_switch(shape in shapes(), picks in picks()) {
        let fabric = remove_elements(&shape, &picks);
        let all = counts(&fabric, fabric.switches());
        let plan = Plan::new(fabric.clone());
        let kinds = plan.kinds();
        prop_assert!(kinds.iter().all(|switch| fabric.has_switch(*switch)));
        let exceptions = &fabric.topology().exceptions;
        let whole = exceptions.absent_switches.is_empty() && exceptions.absent_nics.is_empty() && exceptions.absent_links.is_empty();
        if !whole {
            prop_assert_eq!(counts(&fabric, kinds.iter().copied()), all);
            prop_assert!(kinds.len() <= counts(&fabric, kinds.into_iter()).len());
        }
    }
}
