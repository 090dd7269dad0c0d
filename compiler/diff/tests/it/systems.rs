//! Reasons and rows match the operating system of the fabric and the ports of its tiers. Rows count cables,
//! not their ends.

use closc_artefacts::Routing;
use closc_diff::grow::{Action, WorkOrder};
use closc_diff::{Difference, Options, Report, RolloutMode, Side, judge};
use closc_plan::Plan;
use closc_tests::shape::plan;

/// Returns a two-tier fabric with the same hardware in both tiers.
fn pod(groups: u16, hardware: &str, t0: &str, t1: &str, qos: &str) -> Plan {
    plan(&format!(
        "fabric: pod\nplanes: 1\nrouting: ecmp-static\nhosts: {{ groups: {groups}, per_group: 32, nic: {{ speed: 400G, lanes: 4 }} }}\n\
         tiers:\n  t0: {{ {hardware}, down: {{ count: 32, breakout: 2x400G }}, {t0} }}\n  t1: {{ {hardware}, {t1} }}\n\
         cables: {{ nic-t0: {{ length: 2m }}, t0-t1: {{ length: 30m }} }}\nqos: {qos}\n"
    ))
}

fn report(old: &Plan, new: &Plan) -> Report {
    let side = |source: &str| Side { source: source.into(), fabric: "pod".into(), digest: source.into() };
    Report::of_plans((old, side("old")), (new, side("new")), Options::default())
}

/// Returns the rollout modes for additional groups, with their reasons.
fn growth(hardware: &str) -> Vec<(RolloutMode, &'static str)> {
    let fabric = |groups| {
        pod(groups, hardware, "up: { count: 4, breakout: 1x800G }", "down: { breakout: 1x800G }", "lossless")
    };
    let (old, new) = (fabric(4), fabric(8));
    let changes = Difference::compare(old.fabric(), new.fabric()).changes;
    let verdicts = changes.iter().map(|change| judge(change, old.fabric(), new.fabric()));
    verdicts.map(|verdict| (verdict.mode, verdict.reason)).collect()
}

#[test]
fn pools_need_a_reload_on_the_systems_that_have_them_alone() {
    let sonic = growth("platform: th5-64x800g, os: sonic");
    let reload = |(mode, why): &(RolloutMode, &str)| {
        matches!(mode, RolloutMode::PlaneByPlane(_)) && why.contains("BUFFER_POOL")
    };
    assert!(sonic.iter().any(reload), "{sonic:?}");
    for hardware in ["platform: th5-64x800g, os: eos", "platform: spectrum4-sn5600, os: nvue"] {
        let found = growth(hardware);
        assert!(!found.is_empty());
        for (mode, why) in found {
            assert_eq!(mode, RolloutMode::Hitless, "{hardware}: {why}");
            assert!(!why.contains("SONiC"), "{hardware}: {why}");
        }
    }
}

#[test]
fn a_t1_without_uplinks_has_no_rows_for_them() {
    let fabric = |platform: &str| {
        plan(&format!(
            "fabric: phantom\nplanes: 1\nrouting: {}\nhosts: {{ groups: 4, per_group: 32, nic: {{ speed: 800G }} }}\n\
             tiers:\n  t0: {{ platform: th5-64x800g, os: sonic, up: 32 }}\n  \
             t1: {{ platform: {platform}, os: sonic, down: {{ breakout: 1x800G }} }}\nqos: none\n",
            Routing::EcmpStatic.keyword()
        ))
    };
    let old = fabric("th5-64x800g");
    // One platform has a different default breakout, and the other a different number of cages.
    for platform in ["th5-128x400g", "th6-128x800g"] {
        let new = fabric(platform);
        let report = report(&old, &new);
        let subjects = report.changes.iter().map(|line| line.subject.as_str());
        let subjects: Vec<&str> = subjects.filter(|subject| subject.contains('.')).collect();
        assert_eq!(subjects, ["tiers.t1.platform"], "{platform}");
        let difference = Difference::compare(old.fabric(), new.fabric());
        let applied = difference.apply(old.topology()).unwrap();
        assert_eq!(format!("{:?}", applied.t1), format!("{:?}", new.topology().t1));
        assert_eq!(WorkOrder::compare(&old, &new).renumbers, Vec::<String>::new());
    }
}

#[test]
fn a_cable_that_moves_at_both_ends_is_one_cable() {
    let hardware = "platform: spectrum4-sn5600, os: nvue";
    let of = |up: &str, down: &str| {
        let up = format!("up: {{ count: 4, breakout: 1x800G, first_cage: {up} }}");
        pod(4, hardware, &up, &format!("down: {{ breakout: 1x800G, first_cage: {down} }}"), "none")
    };
    let (old, new) = (of("32", "0"), of("40", "8"));
    let order = WorkOrder::compare(&old, &new);
    let moves = order.jobs.iter().filter(|job| job.action == Action::Move).count();
    assert_eq!(moves, 32, "an end is a job");
    let text = order.summary();
    assert!(text.contains("move t0-t1: 16 cables (32 ends to plug elsewhere) of "), "{text}");
    assert!(text.contains("\n16 plugged cables to move\n"), "{text}");
    let said = report(&old, &new);
    assert!(said.changes.iter().any(|line| line.text == "16 cables move to other ports"), "{said:?}");
}
