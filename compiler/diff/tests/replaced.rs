//! Replaced equipment in work orders and reports: switches, NICs and cables of both fabrics.

use closc_diff::grow::{Action, WorkOrder};
use closc_diff::{Options, Report, Side};
use closc_plan::Plan;
use closc_tests::shape::plan;

fn side(source: &str) -> Side {
    Side { source: source.into(), fabric: "s".into(), digest: source.into() }
}

/// A small SONiC fabric of two planes: hardware of both tiers with their ports, cables, and more of the NIC.
fn fabric([t0, t1]: [&str; 2], cables: &str, nic: &str) -> Plan {
    plan(&format!(
        "fabric: s\nrouting: bgp-unnumbered\nplanes: 2\n\
         hosts: {{ groups: 4, per_group: 16, nics_per_node: 4, nic: {{ speed: 800G{nic} }} }}\n\
         tiers:\n  t0: {{ {t0}, os: sonic, parallel: 4 }}\n  t1: {{ {t1}, os: sonic }}\n\
         cables: {{ t0-t1: {{ length: 30m, medium: dr4 }}, nic-t0: {{ length: 3m, medium: dac }} }}\nqos: none\n{cables}"
    ))
}

const T0: &str = "platform: th5-64x800g, down: { count: 16, breakout: 2x400G }, up: 16";
const T1: &str = "platform: th5-64x800g";

fn plain() -> Plan {
    fabric([T0, T1], "", "")
}

#[test]
fn replaced_cables_are_jobs() {
    let old = plain();
    let one =
        fabric([T0, T1], "exceptions: { cables: { \"p0-t0-001--p0-t1-001#1\": { length: 50m } } }\n", "");
    let order = WorkOrder::between(&old, &one);
    let jobs: Vec<_> = order.jobs.iter().map(|job| (job.action, job.length.as_str())).collect();
    assert_eq!(jobs, [(Action::Replace, "50m")]);
    assert!(!order.is_empty());
    let text = order.summary();
    assert!(text.contains("replace t0-t1: 1 cable of 30m dr4 by others of 50m dr4, 50m in all\n"), "{text}");
    assert!(text.contains("no cable that is plugged moves\n"), "{text}");
    assert!(order.csv().contains("\nreplace,0,t0-t1,p0-t0-001,"), "{}", order.csv());
    assert!(WorkOrder::between(&old, &plain()).is_empty());
}

#[test]
fn replaced_switches_are_named_by_tier() {
    let old = plain();
    let order = WorkOrder::between(&old, &fabric([T0, "platform: arista-7060x6-64de"], "", ""));
    assert!(!order.is_empty() && order.jobs.is_empty());
    let text = order.summary();
    let line = "replace 8 T1s, `th5-64x800g` by `arista-7060x6-64de`: 128 cables to plug again\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn nics_with_other_cages_are_replaced() {
    let old = plain();
    let order = WorkOrder::between(&old, &fabric([T0, T1], "", ", cages: 2"));
    assert!(!order.is_empty());
    let text = order.summary();
    assert!(text.contains("replace 64 NICs, 800G, 8 lanes, 1 cage by 800G, 8 lanes, 2 cages\n"), "{text}");
}

/// Ports of other hardware have other names and cages. Their cables are plugged into the new switch, at the port of the
/// same number, so none moves.
#[test]
fn other_hardware_moves_no_cable() {
    let old = plain();
    let t0 = "platform: th5-128x400g, down: { count: 16 }, up: { count: 16 }";
    let new = fabric([t0, "platform: th5-128x400g"], "", "");
    let order = WorkOrder::between(&old, &new);
    assert_eq!(order.moved_or_removed(), 0, "{}", order.summary());
    let replaced: Vec<_> =
        order.switches_replaced.iter().map(|found| (found.switches, found.cables)).collect();
    assert_eq!(replaced, [(8, 256), (8, 128)]);
    let report = Report::of_plans((&old, side("old")), (&new, side("new")), Options::default());
    assert!(report.changes.iter().all(|line| !line.text.contains("to other ports")), "{:#?}", report.changes);
    // Another cage on the same hardware is a move.
    let cage = T0.replace("up: 16", "up: { count: 16, first_cage: 40 }");
    let order = WorkOrder::between(&old, &fabric([&cage, T1], "", ""));
    assert_eq!(order.moved_or_removed(), 128);
    // So is another cage where only the switches at the other end are replaced.
    let order = WorkOrder::between(&old, &fabric([&cage, "platform: arista-7060x6-64de"], "", ""));
    assert_eq!(order.moved_or_removed(), 128);
}
