//! Isolation of cables: hosts stop using a cable before its ports drop packets, and return after the ports
//! forward again.

use closc_diff::rollout::{Limit, Rollout, Step};
use closc_diff::{Difference, Options, Report, Side};
use closc_plan::Plan;
use closc_tests::shape::{Shape, plan};
use closc_topology::TierId;

/// Returns a SONiC fabric with an exception.
fn fabric(lines: &str) -> Plan {
    let shape = Shape { planes: 2, groups: 3, per_group: 2, t1: 4, exceptions: lines.into(), ..Shape::SMALL };
    let yaml = shape.yaml().replace("platform: linux, os: linux", "platform: th5-512x100g, os: sonic");
    assert!(yaml.contains("os: sonic"), "{yaml}");
    plan(&yaml)
}

const CABLE: &str = "p0-t0-001--p0-t1-002";

fn with(list: &str, cable: &str) -> Plan {
    fabric(&format!("exceptions: {{ {list}: [{cable}] }}\n"))
}

/// Returns the steps of a rollout, wave by wave.
fn waves(old: &Plan, new: &Plan) -> Vec<Vec<Step>> {
    let limit = Limit::one_plane(old.topology());
    let rollout = Rollout::new(old, new, limit).expect("an order exists");
    rollout.waves.into_iter().map(|wave| wave.steps).collect()
}

fn place(steps: &[Vec<Step>], is_it: impl Fn(&Step) -> bool) -> Option<usize> {
    steps.iter().flatten().position(is_it)
}

#[test]
fn hosts_leave_before_ports_drop_and_return_after_they_forward() {
    let (open, isolated) = (with("isolated", ""), with("isolated", CABLE));
    let steps = waves(&open, &isolated);
    let leave = place(&steps, |step| matches!(step, Step::DenyPaths { places: 1, .. }));
    let idle = place(&steps, |step| *step == Step::WaitIdle);
    let change = place(&steps, |step| *step == Step::Change { switches: 2 });
    assert!(leave.is_some() && leave < idle && idle < change, "{steps:?}");
    let steps = waves(&isolated, &open);
    let change = place(&steps, |step| *step == Step::Change { switches: 2 });
    let tables = place(&steps, |step| matches!(step, Step::ReplaceTables { .. }));
    assert!(change.is_some() && change < tables, "{steps:?}");
    assert_eq!(place(&steps, |step| matches!(step, Step::DenyPaths { .. })), None, "{steps:?}");
}

#[test]
fn a_drained_cable_is_isolated_without_a_wave_for_hosts() {
    let steps = waves(&with("drained", CABLE), &with("isolated", CABLE));
    assert_eq!(place(&steps, |step| matches!(step, Step::DenyPaths { .. })), None, "{steps:?}");
}

#[test]
fn a_report_has_both_halves() {
    let side = |source: &str| Side { source: source.into(), fabric: "shape".into(), digest: source.into() };
    let report =
        |old: &Plan, new: &Plan| Report::of_plans((old, side("old")), (new, side("new")), Options::default());
    let (none, open, isolated) = (fabric(""), with("isolated", ""), with("isolated", CABLE));
    let found = report(&open, &isolated);
    let texts: Vec<&str> = found.changes.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, [&format!("drain t0-t1 cable `{CABLE}`"), &format!("isolate t0-t1 cable `{CABLE}`")]);
    let order = "hosts stop using it before its ports drop all IPv6 packets except ICMPv6";
    let rollout = |report: Report| report.rollout.expect("both sides are plans");
    let steps = rollout(found.clone()).steps;
    assert!(steps.iter().any(|step| step.contains(order)), "{steps:?}");
    let back = rollout(report(&isolated, &open));
    assert!(back.hitless && back.steps[0].contains("before hosts use it"), "{back:?}");
    let drained = rollout(report(&with("drained", CABLE), &isolated));
    assert!(drained.hitless, "{drained:?}");
    let list = report(&none, &open);
    assert!(rollout(list.clone()).hitless, "{list:?}");
    assert_eq!(list.changes.len(), 1, "{:?}", list.changes);
}

#[test]
fn a_difference_applied_gives_the_new_side() {
    let all = [fabric(""), with("isolated", ""), with("isolated", CABLE), with("drained", CABLE)];
    for old in &all {
        for new in &all {
            let difference = Difference::compare(old.fabric(), new.fabric());
            let made = difference.apply(old.topology()).expect("it starts from the old side");
            assert_eq!(made.exceptions, new.topology().exceptions);
            assert_eq!(
                made.tier(TierId::T0).map(|t0| t0.os),
                new.topology().tier(TierId::T0).map(|t0| t0.os)
            );
        }
    }
}
