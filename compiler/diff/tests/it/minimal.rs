//! Growth with the fewest moved cables: the bound, the port order that reaches it, and the trees with that order.
//!
//! Cables are compared by the devices and ports of their ends, not by the crate's own comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use closc_artefacts::Routing;
use closc_diff::grow::WorkOrder;
use closc_diff::{MinimalMoves, SettingValue};
use closc_plan::{CableEnds, Plan};
use closc_tests::shape::{Shape, any_routing, plan};
use closc_topology::{Link, TierId};
use closc_verify::{Options, verify};
use proptest::prelude::*;

/// A stage of growth: T0 groups, T1s, and parallel cables between each T0 and T1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stage {
    groups: u16,
    t1: u16,
    parallel: u16,
}

impl Stage {
    /// Returns the stage as an entry of `port_order`.
    fn entry(self) -> String {
        let Stage { groups, t1, parallel } = self;
        format!("{{ groups: {groups}, up: {}, parallel: {parallel} }}", t1 * parallel)
    }

    /// Returns the file of the stage with these settings.
    fn file(self, routing: Routing, settings: &[SettingValue]) -> String {
        let Stage { groups, t1, parallel } = self;
        let shape = Shape { groups, t1, parallel, per_group: 1, ..Shape::SMALL };
        let value =
            |path: &str| settings.iter().find(|setting| setting.path == path).map(|found| &found.value);
        let up = value("tiers.t0.up.spare").map(|spare| format!(", spare: {spare}")).unwrap_or_default();
        let mut t0 = format!("up: {{ count: {}{up} }}, parallel: {parallel}", t1 * parallel);
        if let Some(order) = value("tiers.t0.port_order") {
            let _ = write!(t0, ", port_order: {order}");
        }
        let down = value("tiers.t1.down.spare").map(|spare| format!(" down: {{ spare: {spare} }},"));
        let t1_keys = format!("t1: {{ platform: linux,{}", down.unwrap_or_default());
        let plain = format!("up: {}, parallel: {parallel}", t1 * parallel);
        shape.yaml_with_routing(routing).replace(&plain, &t0).replace("t1: { platform: linux,", &t1_keys)
    }

    fn plan(self, routing: Routing) -> Plan {
        plan(&self.file(routing, &[]))
    }
}

/// A plugged cable: the lower end and the upper end, each as device and port.
type PluggedCable = ((String, String), (String, String));

/// Returns the cables between T0s and T1s.
fn cables(plan: &Plan) -> BTreeSet<PluggedCable> {
    let is_above_t0 = |link: &Link| matches!(link, Link::Fabric { lower, .. } if lower.tier == TierId::T0);
    let text =
        |(device, port): (smol_str::SmolStr, smol_str::SmolStr)| (device.to_string(), port.to_string());
    let of = |link| {
        let CableEnds { lower, upper } = plan.cable_ends(link);
        (text(lower), text(upper))
    };
    plan.fabric().links().filter(is_above_t0).map(of).collect()
}

/// Counts moved and removed cables: those of the first plan that the second does not have at the same ports.
fn count_unplugged(old: &Plan, new: &Plan) -> u64 {
    cables(old).difference(&cables(new)).count() as u64
}

/// Checks that the minimum number of cables move, and that `verify` accepts the file with the settings.
fn check(old: &Plan, new: Stage, routing: Routing) -> Result<Plan, TestCaseError> {
    let written = new.plan(routing);
    let order = WorkOrder::minimal(old, &written);
    let found = order.minimal.unwrap();
    let grown = plan(&new.file(routing, &found.settings));
    prop_assert_eq!(found.plugged, cables(old).len() as u64);
    prop_assert_eq!(found.as_written + found.as_written_removed, count_unplugged(old, &written));
    prop_assert_eq!(found.moved + found.removed, count_unplugged(old, &grown));
    prop_assert_eq!(found.moved + found.removed, found.bound);
    // A T0 that loses uplinks, or is removed, loses that number of cables.
    let uplinks = |plan: &Plan| {
        let mut found = BTreeMap::new();
        for ((t0, _), _) in cables(plan) {
            *found.entry(t0).or_insert(0_u64) += 1;
        }
        found
    };
    let after = uplinks(&grown);
    let fewer =
        uplinks(old).into_iter().map(|(t0, count)| count.saturating_sub(*after.get(&t0).unwrap_or(&0)));
    prop_assert!(found.removed >= fewer.sum::<u64>());
    let again = WorkOrder::minimal(old, &grown).minimal.unwrap();
    prop_assert_eq!((again.as_written + again.as_written_removed, again.settings), (found.bound, Vec::new()));
    let report = verify(&closc_compile::compile_in_memory(&grown).unwrap(), &Options::default()).unwrap();
    prop_assert_eq!(&report.violations, &Vec::new());
    Ok(grown)
}

fn stage() -> impl Strategy<Value = Stage> {
    (1..=4u16, 1..=4u16, 1..=4u16).prop_map(|(groups, t1, parallel)| Stage { groups, t1, parallel })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Changes a fabric twice, each time to arbitrary counts.
    #[test]
    fn the_order_reaches_the_bound(stages in [stage(), stage(), stage()], routing in any_routing()) {
        let first = stages[0].plan(routing);
        let second = check(&first, stages[1], routing)?;
        check(&second, stages[2], routing)?;
    }

    /// Wires a fabric for its later stages: in each stage, T0s and T1s double, and cables between each pair
    /// halve.
    #[test]
    fn reserved_wiring_moves_the_bound(
        groups in 1..=2u16, t1 in 1..=2u16, parallel in 1..=2u16, routing in any_routing(),
    ) {
        let stages = [0, 1, 2].map(|step| Stage {
            groups: groups << step,
            t1: t1 << step,
            parallel: parallel << (2 - step),
        });
        let plans = [0, 1, 2].map(|at: usize| {
            let later = stages[at + 1..].iter().rev().map(|stage| stage.entry());
            let value = format!("[{}]", later.collect::<Vec<_>>().join(", "));
            let path = "tiers.t0.port_order".to_owned();
            plan(&stages[at].file(routing, &[SettingValue { path, value }]))
        });
        for pair in plans.windows(2) {
            let moves = WorkOrder::minimal(&pair[0], &pair[1]).minimal.unwrap();
            let MinimalMoves { plugged, bound, as_written, .. } = moves;
            prop_assert_eq!((bound, as_written), (plugged / 2, plugged / 2));
            prop_assert_eq!(count_unplugged(&pair[0], &pair[1]), bound);
        }
        prop_assert_eq!(cables(&plans[2]), cables(&stages[2].plan(routing)), "the last stage is in plain order");
        let report = verify(&closc_compile::compile_in_memory(&plans[0]).unwrap(), &Options::default()).unwrap();
        prop_assert_eq!(&report.violations, &Vec::new());
    }

    /// If all T1s exist from the start, additional T0s do not move cables, with any port order.
    #[test]
    fn more_t0s_move_nothing(small in stage(), by in 1..=3u16, routing in any_routing()) {
        let large = Stage { groups: small.groups + by, ..small };
        let order = WorkOrder::minimal(&small.plan(routing), &large.plan(routing)).minimal.unwrap();
        prop_assert_eq!((order.bound, order.as_written), (0, 0));
    }
}

/// Returns all arrangements of `neighbours` in a row of `len` ports, some of which may stay free. Each
/// neighbour occurs `times` times.
fn arrangements(neighbours: u16, times: u16, len: u16) -> Vec<Vec<Option<u16>>> {
    let mut found = vec![Vec::new()];
    for _ in 0..len {
        let mut longer = Vec::new();
        for row in &found {
            let used = |neighbour| row.iter().filter(|at| **at == Some(neighbour)).count();
            let next =
                (0..neighbours).filter(|neighbour| used(*neighbour) < times.into()).map(Some).chain([None]);
            longer.extend(next.map(|neighbour| [row.as_slice(), &[neighbour]].concat()));
        }
        found = longer;
    }
    let cables = usize::from(neighbours * times);
    found.retain(|row| row.iter().flatten().count() == cables);
    found
}

/// Returns all choices of one item from each of `count` equal lists.
fn choices<T: Clone>(items: &[T], count: u16) -> Vec<Vec<T>> {
    (0..count).fold(vec![Vec::new()], |found, _| {
        let longer = |row: &Vec<T>| {
            items.iter().map(|item| [row.as_slice(), std::slice::from_ref(item)].concat()).collect::<Vec<_>>()
        };
        found.iter().flat_map(longer).collect()
    })
}

/// Tries every assignment of ports in the new stage. An old cable stays if, at each end, its port still leads
/// to the same switch.
fn fewest_by_force(old: Stage, new: Stage) -> u64 {
    let up = (old.t1 * old.parallel).max(new.t1 * new.parallel);
    let down = (old.groups * old.parallel).max(new.groups * new.parallel);
    let t0s = choices(&arrangements(new.t1, new.parallel, up), new.groups);
    let t1s = choices(&arrangements(new.groups, new.parallel, down), new.t1);
    let all = || {
        (0..old.groups).flat_map(move |t0| {
            (0..old.t1).flat_map(move |t1| (0..old.parallel).map(move |cable| (t0, t1, cable)))
        })
    };
    let mut most = 0;
    for t0s in &t0s {
        for t1s in &t1s {
            let stays = |(t0, t1, cable): (u16, u16, u16)| {
                let (up, down) = (t1 * old.parallel + cable, t0 * old.parallel + cable);
                let row = |rows: &[Vec<Option<u16>>], at: u16, port: u16| {
                    rows.get(usize::from(at)).and_then(|row| row[usize::from(port)])
                };
                row(t0s, t0, up) == Some(t1) && row(t1s, t1, down) == Some(t0)
            };
            most = most.max(all().filter(|cable| stays(*cable)).count());
        }
    }
    (all().count() - most) as u64
}

#[test]
fn the_bound_is_what_all_assignments_need() {
    let of = |groups, t1, parallel| Stage { groups, t1, parallel };
    let cases = [
        (of(2, 1, 2), of(2, 2, 1)),
        (of(1, 1, 4), of(2, 2, 2)),
        (of(1, 1, 3), of(2, 1, 1)),
        (of(2, 2, 1), of(2, 1, 2)),
        (of(2, 2, 1), of(1, 2, 2)),
        (of(2, 1, 1), of(3, 1, 1)),
        (of(1, 2, 2), of(2, 2, 1)),
    ];
    for (old, new) in cases {
        let plans = [old, new].map(|stage| stage.plan(Routing::BgpUnnumbered));
        let minimal = WorkOrder::minimal(&plans[0], &plans[1]).minimal.unwrap();
        // Both planes need the same number of moves.
        assert_eq!(minimal.bound, 2 * fewest_by_force(old, new), "{old:?} {new:?}");
        assert_eq!(minimal.moved + minimal.removed, minimal.bound, "{old:?} {new:?}");
    }
}

/// If a fabric only loses cables, none of them is moved.
#[test]
fn removals_are_not_moves() {
    let [old, new] = [(2, 4, 1), (2, 3, 1)]
        .map(|(groups, t1, parallel)| Stage { groups, t1, parallel }.plan(Routing::BgpUnnumbered));
    let found = WorkOrder::minimal(&old, &new).minimal.unwrap();
    assert_eq!((found.plugged, found.as_written, found.moved), (16, 0, 0));
    assert_eq!((found.as_written_removed, found.removed, found.bound), (4, 4, 4));
    let text = "`new` moves 0 of 16 plugged t0-t1 cables and removes 4; any port order moves or removes at least 4\n";
    assert_eq!(found.summary("new"), text);
}
