//! Rollout modes follow from differences between the two fabrics: moved cables, changed port speeds, changed switch
//! files.

use std::collections::BTreeSet;

use closc_diff::grow::WorkOrder;
use closc_diff::rollout::{Limit, Rollout, Step};
use closc_diff::{Change, Difference, Options, Place, Report, RolloutMode, Side, judge};
use closc_plan::Plan;
use closc_tests::shape::{Shape, any_routing, plan, three_tiers, try_plan};
use closc_topology::{Link, TierId, ZoneId};
use proptest::prelude::*;

const MOVES: &str = "cables move to other ports";

fn reasons(old: &Plan, new: &Plan) -> Vec<(RolloutMode, &'static str)> {
    let difference = Difference::compare(old.fabric(), new.fabric());
    let verdict = |change: &Change| judge(change, old.fabric(), new.fabric());
    difference.changes.iter().map(verdict).map(|verdict| (verdict.mode, verdict.reason)).collect()
}

fn report(old: &Plan, new: &Plan) -> Report {
    let side = |source: &str| Side { source: source.into(), fabric: "shape".into(), digest: source.into() };
    Report::of_plans((old, side("old")), (new, side("new")), Options::default())
}

fn is_upper(link: &Link) -> bool {
    matches!(link, Link::Fabric { lower, .. } if lower.tier == TierId::T1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// T1-T2 cables are reported as moved if and only if a cable of both fabrics is at another port.
    #[test]
    fn cables_move_if_they_are_at_other_ports(
        old in three_tiers(), new in three_tiers(), routing in any_routing(), same in any::<bool>(), more in 0..=2u16,
    ) {
        let new = if same { Shape { t1: old.t1 + more, ..old.clone() } } else { new };
        prop_assume!(try_plan(&new.yaml()).is_ok());
        let (old, new) = (old.plan_with_routing(routing), new.plan_with_routing(routing));
        let links: BTreeSet<Link> = old.fabric().links().collect();
        let other = |link: &Link| old.fabric().upper_end(*link) != new.fabric().upper_end(*link);
        let moved = new.fabric().links().filter(is_upper).any(|link| links.contains(&link) && other(&link));
        let t2 = |change: &Change| matches!(change, Change::T2(_));
        let difference = Difference::compare(old.fabric(), new.fabric());
        let said = difference.changes.iter().filter(|change| t2(change));
        let said: Vec<_> = said.map(|change| judge(change, old.fabric(), new.fabric())).collect();
        let says = said.iter().any(|verdict| verdict.reason == MOVES);
        prop_assert!(!says || moved, "nothing moves: {said:?}");
        let parallel = old.topology().t1.parallel != new.topology().t1.parallel;
        prop_assert!(says || !moved || parallel, "cables move: {:?}", reasons(&old, &new));
    }
}

/// More T0 uplinks mean more T1s. Cables do not move, although other values are computed from this number.
#[test]
fn more_uplinks_are_growth_in_three_tiers() {
    let of = |up: u16| {
        plan(&format!(
            "fabric: g\nplanes: 2\nzones: 2\nhosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: linux, up: {up} }}\n  t1: {{ platform: linux, os: linux, up: 2 }}\n  \
             t2: {{ platform: linux, os: linux, ports_per_zone: 8 }}\nqos: none\n"
        ))
    };
    let (old, new) = (of(3), of(5));
    let modes: BTreeSet<RolloutMode> = reasons(&old, &new).into_iter().map(|(mode, _)| mode).collect();
    assert_eq!(modes, BTreeSet::from([RolloutMode::Hitless]));
    let report = report(&old, &new);
    assert!(report.rollout.expect("plans have one").hitless);
    assert!(!report.changes.iter().any(|line| line.subject == "tiers.t2.rows"), "{:#?}", report.changes);
}

fn planes(planes: u8, nic: &str, port: &str) -> Plan {
    plan(&format!(
        "fabric: p\nplanes: {planes}\nhosts: {{ groups: 2, per_group: 2, nic: {nic} }}\n\
         tiers:\n  t0: {{ platform: linux, os: linux, down: {{ count: 2, breakout: 1x{port} }}, up: 2 }}\n  \
         t1: {{ platform: linux, os: linux }}\nqos: none\n"
    ))
}

/// If speed and lanes of NICs grow by the same factor, ports keep their speed, and nodes are changed one by one.
#[test]
fn planes_come_with_other_nics() {
    let (old, new) =
        (planes(1, "{ speed: 100G, lanes: 1 }", "100G"), planes(2, "{ speed: 200G, lanes: 2 }", "100G"));
    let report = report(&old, &new);
    let text = report.rollout.expect("plans have one").steps.join("\n");
    assert!(text.contains("node by node") && !text.contains("whole fabric stops"), "{text}");
    let rollout = Rollout::new(&old, &new, Limit { share: 1.0 }).expect("it has an order");
    assert!(rollout.waves.iter().all(|wave| wave.drained.is_empty()), "{rollout:#?}");
    let replaced = |step: &Step| matches!(step, Step::ReplaceNics { nics: 4, .. });
    assert!(rollout.waves.iter().any(|wave| wave.steps.iter().any(replaced)), "{rollout:#?}");
    // The same NICs in twice as many planes have ports of half the speed.
    let (old, new) =
        (planes(1, "{ speed: 200G, lanes: 2 }", "200G"), planes(2, "{ speed: 200G, lanes: 2 }", "100G"));
    assert!(reasons(&old, &new).iter().any(|(mode, _)| *mode == RolloutMode::AtOnce));
}

/// More ports in zones with their own hardware are growth. New hardware in one zone affects only that zone.
#[test]
fn zones_of_other_hardware_change_by_themselves() {
    let text = include_str!("../../../../topologies/examples/two-generations.yaml");
    let old = plan(text);
    let more = plan(&text.replace("up: { count: 8,", "up: { count: 10,"));
    assert_ne!(old.topology().t0.up.count, more.topology().t0.up.count, "the example has these uplinks");
    let modes: BTreeSet<RolloutMode> = reasons(&old, &more).into_iter().map(|(mode, _)| mode).collect();
    assert_eq!(modes, BTreeSet::from([RolloutMode::Hitless]), "{:?}", reasons(&old, &more));
    for line in report(&old, &more).changes.iter().filter(|line| line.subject.contains("by_zone")) {
        let sides: Vec<&str> = line.text.split(" -> ").collect();
        assert_ne!(sides.first(), sides.last(), "{}", line.text);
    }
    let mut topology = old.topology().clone();
    topology.t0.by_zone.clear();
    let other = Plan::new(closc_fabric::Fabric::new(std::sync::Arc::new(topology)));
    let rollout = Rollout::new(&old, &other, Limit { share: 1.0 }).expect("it has an order");
    let drained = rollout.waves.iter().flat_map(|wave| &wave.drained);
    let zones: BTreeSet<ZoneId> = drained
        .filter_map(|place| match place {
            Place::Switch(switch) => Some(switch.zone),
            Place::Link(_) => None,
        })
        .collect();
    assert_eq!(zones, old.topology().t0.by_zone.keys().copied().collect());
}

/// Returns a two-tier fabric whose ports begin at given cages.
fn cages(t0_up: u16, t1_down: u16, breakout: &str) -> Plan {
    plan(&format!(
        "fabric: c\nplanes: 2\nhosts: {{ groups: 4, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}\n\
         tiers:\n  t0: {{ platform: linux, os: linux, down: {{ count: 2, breakout: {breakout} }}, up: {{ count: 8, first_cage: {t0_up} }} }}\n  \
         t1: {{ platform: linux, os: linux, down: {{ first_cage: {t1_down} }} }}\nqos: none\n"
    ))
}

/// Counts the existing cables with a changed port name. On the same operating system, another name is another
/// port.
fn count_renamed(old: &Plan, new: &Plan) -> usize {
    let ends = |plan: &Plan, link| {
        let ends = plan.cable_ends(link);
        (ends.lower, ends.upper)
    };
    let both = old.fabric().links().filter(|link| new.fabric().has_link(*link));
    both.filter(|link| ends(old, *link) != ends(new, *link)).count()
}

/// If ports begin at another cage, they are other ports. The work order lists their cables, and waves include
/// time for moving them.
#[test]
fn cables_of_other_cages_are_pulled() {
    let old = cages(300, 0, "1x100G");
    for (new, moved) in
        [(cages(300, 0, "1x100G"), 0), (cages(340, 0, "1x100G"), 64), (cages(300, 8, "1x100G"), 64)]
    {
        assert_eq!(count_renamed(&old, &new), moved);
        let order = WorkOrder::compare(&old, &new);
        let text = order.summary();
        let said = if moved == 0 {
            "no plugged cable moves".to_owned()
        } else {
            format!("{moved} plugged cables to move")
        };
        assert!(text.contains(&said), "{text}");
        let lines = report(&old, &new).changes;
        assert_eq!(lines.iter().any(|line| line.text.contains("to other ports")), moved > 0, "{lines:#?}");
        if moved == 0 {
            continue;
        }
        for share in [1.0, 0.5] {
            let rollout = Rollout::new(&old, &new, Limit { share }).expect("it has an order");
            let steps = rollout.waves.iter().flat_map(|wave| &wave.steps);
            let pulled: usize =
                steps.map(|step| if let Step::Replace { cables, .. } = step { *cables } else { 0 }).sum();
            assert_eq!(pulled, moved, "each cable in one wave");
        }
    }
}
