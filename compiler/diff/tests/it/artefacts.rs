//! Compares the artefacts that a report counts with those that differ when both sides are compiled, for random edits.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Routing;
use closc_compile::{Part, Unit};
use closc_diff::{Item, Options, Report, Side};
use closc_plan::Plan;
use closc_render::Templates;
use closc_tests::exceptions::{regrown, related_shapes, shapes_with_exceptions};
use closc_tests::shape::{Shape, any_routing};
use proptest::prelude::*;

fn unit(item: Item) -> Unit {
    match item {
        Item::Switch(switch) => Unit::Switch(switch),
        Item::Node(node) => Unit::Host(node),
        Item::Table(zone, group) => Unit::Group(zone, group),
        Item::List(plane) => Unit::Cables(plane),
    }
}

fn kind(unit: Unit) -> Option<&'static str> {
    match unit {
        Unit::Switch(_) => Some("switches"),
        Unit::Host(_) => Some("nodes"),
        Unit::Group(..) => Some("path tables"),
        Unit::Cables(_) | Unit::ZoneCables(..) => Some("cable lists"),
        Unit::Pipelines => None,
    }
}

/// Returns the numbers of additions, changes and removals by kind, from rendering both sides completely.
fn rendered_counts(old: &Plan, new: &Plan, templates: &Templates) -> BTreeMap<String, (u64, u64, u64)> {
    let all = |plan: &Plan| Unit::all(plan, &Part::default()).into_iter().collect::<BTreeSet<_>>();
    let (before, after) = (all(old), all(new));
    let mut found: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for unit in before.union(&after) {
        let Some(kind) = kind(*unit) else { continue };
        let counts = found.entry(kind.to_owned()).or_default();
        match (before.contains(unit), after.contains(unit)) {
            (false, _) => counts.0 += 1,
            (_, false) => counts.2 += 1,
            (true, true) => counts.1 += u64::from(unit.differs(old, new, templates)),
        }
    }
    found.retain(|_, counts| *counts != (0, 0, 0));
    found
}

fn predicted_counts(old: &Plan, new: &Plan, templates: &Templates) -> BTreeMap<String, (u64, u64, u64)> {
    let side = |name: &str| Side { source: name.to_owned(), fabric: name.to_owned(), digest: String::new() };
    let differs = |item| unit(item).differs(old, new, templates);
    let report = Report::of_plans_with(
        (old, side("old")),
        (new, side("new")),
        Options::default(),
        Some(&differs),
        None,
    );
    let counts =
        report.artefacts.into_iter().map(|kind| (kind.kind, (kind.added, kind.changed, kind.removed)));
    counts.collect()
}

#[test]
fn racks_change_no_artefact_of_a_device() {
    let text = "fabric: r\nplanes: 1\nrouting: ecmp-static\nqos: none\n\
        hosts: { groups: 2, per_group: 2, nic: { speed: 800G, lanes: 8 } }\n\
        tiers:\n  t0: { platform: spectrum4-sn5600, os: nvue, up: 2 }\n  t1: { platform: spectrum4-sn5600, os: nvue }\n";
    let plan = |per_rack: u16| {
        closc_tests::shape::plan(&format!(
            "{text}racks: {{ t0: {{ name: \"a{{rack:02}}\", per_rack: {per_rack} }} }}\n"
        ))
    };
    let (none, one, two, templates) =
        (closc_tests::shape::plan(text), plan(1), plan(2), Templates::builtin());
    for (old, new) in [(&one, &two), (&none, &one), (&one, &none)] {
        let counts = rendered_counts(old, new, &templates);
        assert_eq!(predicted_counts(old, new, &templates), counts);
        assert!(counts.keys().all(|kind| kind == "cable lists"), "{counts:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_is_predicted_is_what_is_compiled((old, new) in related_shapes(), routing in any_routing()) {
        let (old, new, templates) = (old.plan_with_routing(routing), new.plan_with_routing(routing), Templates::builtin());
        prop_assert_eq!(predicted_counts(&old, &new, &templates), rendered_counts(&old, &new, &templates));
    }

    #[test]
    fn of_growth_and_its_reverse_too((old, new) in regrown(), routing in any_routing()) {
        let (old, new, templates) = (old.plan_with_routing(routing), new.plan_with_routing(routing), Templates::builtin());
        prop_assert_eq!(predicted_counts(&old, &new, &templates), rendered_counts(&old, &new, &templates));
        prop_assert_eq!(predicted_counts(&new, &old, &templates), rendered_counts(&new, &old, &templates));
    }

    #[test]
    fn of_any_two_fabrics_too(old in shapes_with_exceptions(), new in shapes_with_exceptions()) {
        let (old, new, templates) = (old.plan(), new.plan(), Templates::builtin());
        prop_assert_eq!(predicted_counts(&old, &new, &templates), rendered_counts(&old, &new, &templates));
    }
}

/// Draining an element of a drained plane changes only path tables.
#[test]
fn a_switch_of_a_drained_plane_changes_path_tables_only() {
    let small = |drained: &str| Shape {
        exceptions: format!("exceptions: {{ drained: [{drained}] }}\n"),
        ..Shape::SMALL
    };
    let plan = |drained| small(drained).plan_with_routing(Routing::Srv6Static);
    let (old, new) = (plan("plane 1"), plan("plane 1, p1-t1-001"));
    let found = predicted_counts(&old, &new, &Templates::builtin());
    assert_eq!(found, BTreeMap::from([("path tables".to_owned(), (0, 2, 0))]));
}
