//! Growth and its reverse, in fabrics with absent elements: reports and waves contain only elements that exist.
//!
//! The test finds additions and removals by listing all elements of both fabrics, independently of the
//! crate's comparison.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use closc_diff::grow::WorkOrder;
use closc_diff::rollout::{Limit, Rollout, Step};
use closc_diff::{Difference, Options, Place, Report, RolloutMode, Side, Sign, judge};
use closc_plan::Plan;
use closc_render::{Templates, targets};
use closc_tests::exceptions::{regrown, related_shapes};
use closc_tests::shape::{Shape, T2, any_routing, in_generations, plan, try_plan};
use closc_topology::{Link, Nic, Spans, Switch, Topology, ZoneSizes};
use proptest::prelude::*;

/// All elements of a fabric.
struct Elements {
    switches: BTreeSet<Switch>,
    nics: BTreeSet<Nic>,
    links: BTreeSet<Link>,
    names: BTreeSet<String>,
}

fn list_elements(plan: &Plan) -> Elements {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    let nic_name = |nic: Nic| {
        let (node, number) = topology.node_of(nic);
        topology.naming.nic(node, number)
    };
    let names = fabric.switches().map(|switch| topology.naming.switch(switch).to_string());
    let names =
        names.chain(fabric.nics().map(nic_name)).chain(fabric.links().map(|link| plan.link_name(link)));
    Elements {
        names: names.collect(),
        switches: fabric.switches().collect(),
        nics: fabric.nics().collect(),
        links: fabric.links().collect(),
    }
}

fn meaning(topology: &Topology) -> String {
    format!(
        "{:?}",
        Topology { spans: Spans::default(), zone_sizes: ZoneSizes::default(), ..topology.clone() }
    )
}

static TEMPLATES: LazyLock<Templates> = LazyLock::new(Templates::builtin);

fn render_files(plan: &Plan, switch: Switch) -> Vec<(String, Vec<u8>)> {
    let intent = plan.device(switch);
    let target = targets::target(intent.os).expect("these fabrics run Linux or FRR");
    let files = target.device(&intent, &TEMPLATES).expect("a valid fabric renders");
    files.into_iter().map(|file| (file.path.to_string(), file.bytes)).collect()
}

fn side(source: &str) -> Side {
    Side { source: source.into(), fabric: "shape".into(), digest: source.into() }
}

/// Checks that the lines of a report name only existing elements.
fn lines(old: &Plan, new: &Plan, before: &Elements, after: &Elements) -> Result<(), TestCaseError> {
    let report = Report::of_plans((old, side("old")), (new, side("new")), Options { list: true });
    for (sign, own, other) in [(Sign::Add, after, before), (Sign::Remove, before, after)] {
        let count = |subject: &str| -> u64 {
            let lines = report.changes.iter().filter(|line| line.sign == sign && line.subject == subject);
            lines.map(|line| line.count).sum()
        };
        prop_assert_eq!(count("switches"), own.switches.difference(&other.switches).count() as u64);
        prop_assert_eq!(count("nics"), own.nics.difference(&other.nics).count() as u64);
        prop_assert_eq!(count("cables"), own.links.difference(&other.links).count() as u64);
        let named = report.changes.iter().filter(|line| line.sign == sign);
        for name in named.flat_map(|line| &line.names) {
            prop_assert!(own.names.contains(name), "{name} is named and not there: {:#?}", report.changes);
        }
    }
    let rollout = report.rollout.expect("plans have one");
    let known: BTreeSet<&String> = before.names.union(&after.names).collect();
    for step in &rollout.steps {
        for name in step.split('`').skip(1).step_by(2).filter(|name| name.contains("-t")) {
            prop_assert!(known.contains(&name.to_owned()), "{step}");
        }
    }
    let order = WorkOrder::compare(old, new);
    prop_assert_eq!(order.switches_added, after.switches.difference(&before.switches).count());
    prop_assert_eq!(order.switches_removed, before.switches.difference(&after.switches).count());
    prop_assert_eq!(order.nics_added, after.nics.difference(&before.nics).count());
    Ok(())
}

/// Checks that waves drain only elements that change, mount only new elements, and name only elements that
/// exist on one side.
fn waves(old: &Plan, new: &Plan, before: &Elements, after: &Elements) -> Result<(), TestCaseError> {
    let differs = |a: &Plan, b: &Plan, switch| render_files(a, switch) != render_files(b, switch);
    let Ok(rollout) = Rollout::with_comparison(old, new, Limit { share: 1.0 }, Some(&differs), None) else {
        return Ok(());
    };
    prop_assert!(!rollout.at_most);
    let (mut mounted, mut plugged, mut taken, mut pulled) = (0, 0, 0, 0);
    for wave in &rollout.waves {
        for step in &wave.steps {
            match step {
                Step::Install { switches, cables } => {
                    (mounted, plugged) = (mounted + switches, plugged + cables);
                }
                Step::TakeOut { switches, cables } => {
                    (taken, pulled) = (taken + switches, pulled + cables);
                }
                _ => {}
            }
        }
        for place in wave.drained.iter().chain(&wave.removed_places) {
            match place {
                Place::Switch(switch) => {
                    prop_assert!(before.switches.contains(switch), "{switch:?} was not there");
                    let stays = after.switches.contains(switch);
                    let differs = || render_files(old, *switch) != render_files(new, *switch);
                    prop_assert!(!stays || differs(), "{switch:?} does not change and is drained");
                }
                Place::Link(link) => {
                    prop_assert!(before.links.contains(link), "{link:?} was not there");
                    let alike = after.links.contains(link)
                        && old.fabric().cable(*link) == new.fabric().cable(*link)
                        && old.fabric().upper_end(*link) == new.fabric().upper_end(*link);
                    prop_assert!(!alike, "{link:?} does not change and is drained");
                }
            }
        }
        for place in wave.joined_places.iter().chain(&wave.pending_places) {
            let comes = match place {
                Place::Switch(switch) => after.switches.contains(switch) && !before.switches.contains(switch),
                Place::Link(link) => after.links.contains(link) && !before.links.contains(link),
            };
            prop_assert!(comes, "{place:?} is not new");
        }
    }
    let only = |own: &Elements, other: &Elements| {
        (own.switches.difference(&other.switches).count(), own.links.difference(&other.links).count())
    };
    prop_assert_eq!((mounted, plugged), only(after, before));
    prop_assert_eq!((taken, pulled), only(before, after));
    check_configured(old, new, &rollout, before, after)
}

/// Checks that waves configure exactly the switches whose files differ between the trees or between stages.
fn check_configured(
    old: &Plan,
    new: &Plan,
    rollout: &Rollout,
    before: &Elements,
    after: &Elements,
) -> Result<(), TestCaseError> {
    let differ = |a: &Plan, b: &Plan, switch| render_files(a, switch) != render_files(b, switch);
    let all: BTreeSet<Switch> = rollout.waves.iter().flat_map(|wave| wave.switches.clone()).collect();
    let is_staged = rollout.waves.iter().any(|wave| !wave.pending_places.is_empty());
    for switch in &after.switches {
        let differs = !before.switches.contains(switch) || differ(old, new, *switch);
        prop_assert!(!differs || all.contains(switch), "{switch:?} changes and is in no wave");
        prop_assert!(
            differs || is_staged || !all.contains(switch),
            "{switch:?} is in a wave and does not change"
        );
    }
    prop_assert!(all.is_subset(&after.switches), "a removed switch is configured");
    if is_staged {
        let mut last = old;
        let stages = rollout.stages(new);
        for (wave, stage) in rollout.waves.iter().zip(&stages) {
            let differs =
                |switch: &&Switch| !last.fabric().has_switch(**switch) || differ(last, stage, **switch);
            let found: BTreeSet<Switch> = after.switches.iter().filter(differs).copied().collect();
            prop_assert_eq!(&wave.switches, &found, "{:?}", wave);
            last = stage;
        }
    }
    Ok(())
}

fn check(old: &Plan, new: &Plan) -> Result<(), TestCaseError> {
    let (before, after) = (list_elements(old), list_elements(new));
    let difference = Difference::compare(old.fabric(), new.fabric());
    let applied = difference.apply(old.topology()).expect("a difference fits what it was made from");
    prop_assert_eq!(meaning(&applied), meaning(new.topology()));
    prop_assert_eq!(difference.is_empty(), meaning(old.topology()) == meaning(new.topology()));
    lines(old, new, &before, &after)?;
    waves(old, new, &before, &after)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn growth_reports_only_existing_elements((old, new) in regrown(), routing in any_routing()) {
        let (old, new) = (old.plan_with_routing(routing), new.plan_with_routing(routing));
        check(&old, &new)?;
        check(&new, &old)?;
    }

    #[test]
    fn waves_with_exceptions_name_only_existing_elements((old, new) in related_shapes(), routing in any_routing()) {
        let (old, new) = (old.plan_with_routing(routing), new.plan_with_routing(routing));
        let (before, after) = (list_elements(&old), list_elements(&new));
        waves(&old, &new, &before, &after)?;
    }

    /// Adds or enlarges a zone that has fewer T0 groups or NICs than the other zones.
    #[test]
    fn smaller_zones_can_be_added(
        zones in 1..=3u16, groups in 2..=4u16, more in 0..=2u16, few in any::<[bool; 3]>(), cut in 1..=2u16,
    ) {
        let shape = |zones, groups| Shape {
            planes: 2, groups, per_group: 2, t2: Some(T2 { zones, steps: 2, parallel: 1, rows: 0, node_zones: 1 }), ..Shape::SMALL
        };
        let smaller = |shape: &Shape, few: bool| {
            let groups = (few && cut < shape.groups).then_some(cut);
            in_generations(&shape.yaml(), None, groups, few.then_some(1))
        };
        let [old, new] = [(shape(zones, groups), few[0]), (shape(zones + u16::from(few[2]), groups + more), few[1])]
            .map(|(shape, few)| try_plan(&smaller(&shape, few)));
        if let (Ok(old), Ok(new)) = (old, new) {
            check(&old, &new)?;
            check(&new, &old)?;
        }
    }
}

/// The new zone has one T0 group, and the others have four. The rollout does not remove or drain anything.
#[test]
fn adding_a_zone_with_absent_groups_is_hitless() {
    let zones = |zones, few: &str| {
        plan(&format!(
            "fabric: z\nplanes: 2\nzones: {zones}\nhosts: {{ groups: 4, {few} per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: linux, up: 2 }}\n  t1: {{ platform: linux, os: linux, up: 2 }}\n  \
             t2: {{ platform: linux, os: linux, ports_per_zone: 4 }}\nqos: none\n"
        ))
    };
    let (old, new) = (zones(2, ""), zones(3, "groups_by_zone: { 2: 1 }, "));
    let difference = Difference::compare(old.fabric(), new.fabric());
    let modes: BTreeSet<RolloutMode> =
        difference.changes.iter().map(|change| judge(change, old.fabric(), new.fabric()).mode).collect();
    assert_eq!(modes, BTreeSet::from([RolloutMode::Hitless]));
    let report = Report::of_plans((&old, side("old")), (&new, side("new")), Options::default());
    let lines: Vec<String> =
        report.changes.iter().map(|line| format!("{}  {}", line.subject, line.text)).collect();
    let line = "hosts.groups_by_zone  omits 6 NICs, 6 T0s that neither fabric has";
    assert!(lines.iter().any(|own| own == line), "{lines:#?}");
    assert!(report.rollout.expect("plans have one").hitless);
    check(&old, &new).unwrap();
    check(&new, &old).unwrap();
}

/// With `rows`, the number of T2s does not follow from the last index.
#[test]
fn t2s_in_rows_are_counted() {
    let of = |up| {
        plan(&format!(
            "fabric: g\nrouting: ecmp-static\nplanes: 4\nzones: 2\n\
             hosts: {{ groups: 2, per_group: 2, nics_per_node: 1, nic: {{ speed: 400G, lanes: 4 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: linux, up: {up} }}\n  t1: {{ platform: linux, os: linux, up: 4 }}\n  \
             t2: {{ platform: linux, os: linux, wiring: rows, rows: 4, ports_per_zone: 16 }}\nqos: none\n"
        ))
    };
    let report = Report::of_plans((&of(2), side("old")), (&of(4), side("new")), Options::default());
    let line = report.changes.iter().find(|line| line.subject == "tiers.t2.count").expect("it grows");
    assert_eq!(line.text, "T2s of a plane: 8 -> 16");
}
