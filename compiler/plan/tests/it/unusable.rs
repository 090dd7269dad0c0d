//! Checks `W0702` against every value of every NIC: it is reported if and only if all values of a NIC are denied and a
//! path is usable.

use closc_diagnostics::Diagnostics;
use closc_plan::{DeniedPaths, PathTable, Plan, UplinkChoice, checks};
use closc_tests::exceptions::shapes_with_exceptions;
use closc_tests::shape::{Shape, T2};
use closc_topology::{Nic, PlaneId, ZoneId};
use proptest::prelude::*;

/// Returns how often the check reports a NIC without a value for a group in a plane.
fn reported_count(plan: &Plan) -> u64 {
    let mut diagnostics = Diagnostics::new();
    checks::check(plan, &mut diagnostics);
    let found: Vec<_> = diagnostics.iter().filter(|found| found.rule.code == "W0702").collect();
    assert!(found.len() <= 1, "{found:?}");
    let Some(found) = found.first() else { return 0 };
    let times = found.notes.iter().find_map(|note| note.strip_prefix("this affects ")?.split(' ').next());
    times.map_or(1, |times| times.parse().expect("a number"))
}

/// Returns whether a path is denied, ignoring faults of one NIC's own cable.
fn is_denied(table: &PathTable<'_>, plane: PlaneId, from: Nic, to: Nic, choice: UplinkChoice) -> bool {
    let between = |denied: &&DeniedPaths| denied.scope.source.is_none() && denied.scope.downlink.is_none();
    table.denied.iter().filter(between).any(|denied| denied.covers(plane, from, to, choice))
}

/// Counts by examining everything.
fn count_all(plan: &Plan) -> u64 {
    let topology = plan.topology();
    let groups: Vec<(ZoneId, u16)> = plan.groups().collect();
    let first = |(zone, group): (ZoneId, u16)| plan.fabric().group_nics(zone, group).next();
    let mut count = 0;
    for (zone, group) in &groups {
        let table = plan.path_table(*zone, *group);
        for to in groups.iter().filter(|to| *to != &(*zone, *group)).filter_map(|to| first(*to)) {
            let t1_ups = if to.zone == *zone { 1 } else { topology.t1.up.count };
            for plane in topology.plane_ids() {
                for from in plan.fabric().group_nics(*zone, *group) {
                    let order = &table.orders[usize::from(plane.0)];
                    let mut values = table.sets.active(order, from);
                    values.extend(table.sets.backup(order, from));
                    let mut all = (0..topology.t0.up.count)
                        .flat_map(|t0| (0..t1_ups).map(move |t1| UplinkChoice { t0, t1 }));
                    let is_open = all.any(|choice| !is_denied(&table, plane, from, to, choice));
                    let unusable = values.iter().all(|choice| is_denied(&table, plane, from, to, *choice));
                    count += u64::from(is_open && unusable);
                }
            }
        }
    }
    count
}

/// One T0 uplink and two T1 uplinks, one of them lost: every second NIC has its only value there.
#[test]
fn one_uplink_leaves_nothing_for_every_other_nic() {
    let shape = Shape {
        planes: 1,
        groups: 2,
        per_group: 2,
        rails: 1,
        t1: 1,
        parallel: 1,
        t2: Some(T2 { zones: 2, steps: 2, parallel: 1, rows: 0, node_zones: 1 }),
        exceptions: "exceptions: { absent: [ z0-p0-t1-001--p0-t2-001 ] }\n".to_owned(),
    };
    let plan = shape.plan();
    assert_eq!(reported_count(&plan), count_all(&plan));
    // Two groups of zone 0 to two of zone 1 and back, for one NIC of two.
    assert_eq!(reported_count(&plan), 8);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn it_is_said_exactly_where_it_is(shape in shapes_with_exceptions()) {
        let plan = shape.plan();
        prop_assert_eq!(reported_count(&plan), count_all(&plan));
    }
}
