//! Entropy sets use the uplinks of every tier evenly, differ between the NICs of a group, and change only with the
//! uplinks that they select.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::{EntropySets, Plan, UplinkChoice};
use closc_tests::shape::{self, Shape, T2, three_tiers, two_tiers};
use closc_topology::{Nic, PlaneId};
use proptest::prelude::*;

/// The active and the backup values of every NIC of a plane.
fn sets(plan: &Plan, plane: PlaneId) -> BTreeMap<Nic, [Vec<UplinkChoice>; 2]> {
    let mut all = BTreeMap::new();
    for (zone, group) in plan.groups() {
        let sets = EntropySets::new(plan.topology(), zone, group);
        let order = sets.order(plane);
        all.extend(
            plan.fabric()
                .group_nics(zone, group)
                .map(|nic| (nic, [sets.active(&order, nic), sets.backup(&order, nic)])),
        );
    }
    all
}

/// Counts how often each pair of T1 and T1 uplink is selected in a zone.
fn by_t1_uplink(plan: &Plan) -> BTreeMap<(u16, u16, u16), u32> {
    let topology = plan.topology();
    let t1s = topology.t0.up.count / topology.t0.parallel;
    let all = topology.zone_ids().flat_map(|zone| (0..t1s).map(move |t1| (zone, t1)));
    let mut used: BTreeMap<_, u32> =
        all.flat_map(|(zone, t1)| (0..topology.t1.up.count).map(move |up| ((zone.0, t1, up), 0))).collect();
    for (nic, [active, _]) in sets(plan, PlaneId(0)) {
        for choice in active {
            *used.entry((nic.zone.0, choice.t0 / topology.t0.parallel, choice.t1)).or_default() += 1;
        }
    }
    used
}

/// Regression: 5,922 of 16,384 T1 uplinks had no value at all, and the busiest had six times the mean.
#[test]
fn the_large_fabric_of_three_tiers_uses_every_t1_uplink_alike() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../topologies/reference/three-tier-64x800g.yaml");
    let plan = shape::plan(&std::fs::read_to_string(file).unwrap());
    let used = by_t1_uplink(&plan);
    assert_eq!(used.len(), 16_384);
    // In each zone, 1,024 NICs times 16 values, over 32 T1s with 32 uplinks.
    assert!(used.values().all(|times| *times == 16), "{:?}", used.iter().find(|used| *used.1 != 16));
    let sets = sets(&plan, PlaneId(0));
    let group: BTreeSet<_> = sets.iter().filter(|(nic, _)| (nic.zone.0, nic.group) == (0, 0)).collect();
    let pairs: BTreeSet<(u16, u16)> =
        group.iter().flat_map(|(_, [active, _])| active).map(|choice| (choice.t0, choice.t1)).collect();
    assert_eq!((group.len(), pairs.len()), (32, 512), "of 1,024 pairs of uplinks");
}

fn shape() -> Shape {
    Shape {
        planes: 2,
        groups: 4,
        per_group: 3,
        rails: 1,
        t1: 4,
        parallel: 1,
        t2: Some(T2 { zones: 2, steps: 4, parallel: 1, rows: 0, node_zones: 1 }),
        exceptions: "entropy: { active: 4, backup: 4 }\n".to_owned(),
    }
}

#[test]
fn growth_moves_no_set() {
    let before = shape();
    let zones = T2 { zones: 3, ..before.t2.clone().unwrap() };
    let grown = [
        Shape { groups: 7, ..before.clone() },
        Shape { per_group: 4, ..before.clone() },
        Shape { t2: Some(zones), ..before.clone() },
    ];
    let plan = before.plan();
    for grown in grown.map(|shape| shape.plan()) {
        for plane in plan.topology().plane_ids() {
            let after = sets(&grown, plane);
            for (nic, own) in sets(&plan, plane) {
                assert_eq!(after.get(&nic), Some(&own), "{nic:?} in plane {plane}");
            }
        }
    }
}

#[test]
fn nics_of_a_group_differ() {
    let plan = shape().plan();
    let sets = sets(&plan, PlaneId(1));
    for (nic, set) in &sets {
        let others = sets.iter().filter(|(other, _)| (other.zone, other.group) == (nic.zone, nic.group));
        for (other, others) in others.filter(|(other, _)| *other != nic) {
            assert_ne!(set, others, "{nic:?} and {other:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn over_each_t0_uplink_t1_uplinks_take_turns(shape in prop_oneof![two_tiers(), three_tiers()]) {
        let plan = shape.plan();
        let topology = plan.topology();
        for (zone, group) in plan.groups() {
            for plane in topology.plane_ids() {
                let sets = EntropySets::new(topology, zone, group);
                let order = sets.order(plane);
                let mut used = BTreeMap::new();
                for nic in plan.fabric().group_nics(zone, group) {
                    for choice in sets.active(&order, nic) {
                        prop_assert!(choice.t1 < topology.t1.up.count.max(1));
                        *used.entry((choice.t0, choice.t1)).or_insert(0u32) += 1;
                    }
                }
                for t0 in 0..topology.t0.up.count {
                    let times = |t1| used.get(&(t0, t1)).copied().unwrap_or(0);
                    let all: Vec<u32> = (0..topology.t1.up.count.max(1)).map(times).collect();
                    prop_assert!(all.iter().max().unwrap() - all.iter().min().unwrap() <= 1, "{all:?}");
                }
            }
        }
    }
}
