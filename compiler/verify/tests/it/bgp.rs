//! Fabrics with BGP: compiled trees have no violations, whatever is absent or drained. Sessions that leak routes can
//! create cyclic buffer dependencies.

use camino::Utf8Path;
use closc_artefacts::Memory;
use closc_plan::Plan;
use closc_tests::exceptions;
use closc_tests::shape::{self, Shape, T2, by_nic};
use closc_verify::{Options, Report, verify};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use crate::common;
use crate::common::fabrics::Target;

/// Plans a shape with BGP in a language; `None` if the language does not support it.
fn plan(shape: &Shape, target: Target) -> Option<Plan> {
    let yaml = target.apply(&shape.yaml());
    shape::try_plan(&format!("routing: bgp-unnumbered\n{yaml}")).ok()
}

fn report(tree: &Memory) -> Report {
    verify(tree, &Options { digests: false, ..Options::default() }).expect("the tree can be read")
}

/// Returns the number of facts that a rule checked.
fn facts(report: &Report, code: &str) -> u64 {
    report.rules.iter().filter(|rule| rule.code == code).map(|rule| rule.tally.facts).sum()
}

#[test]
fn compiled_fabrics_have_no_faults() {
    let mut runner = TestRunner::deterministic();
    let (mut tiers, mut drained, mut paused) = ([0; 2], 0, 0);
    for number in 0..60 {
        let target = [Target::Frr, Target::Sonic, Target::Lossless][number % 3];
        let (shape, plan) = loop {
            let shape = exceptions::shapes_with_exceptions()
                .new_tree(&mut runner)
                .expect("there are such fabrics")
                .current();
            if let Some(plan) = plan(&shape, target) {
                break (shape, plan);
            }
        };
        let report = report(&common::tree(&plan));
        assert!(report.holds(), "{target:?}:\n{}\n{}", shape.yaml(), report.text());
        assert!(shape.t1 == 0 || facts(&report, "V1801") > 0 && facts(&report, "V1810") > 0);
        tiers[usize::from(shape.t2.is_some())] += 1;
        drained += usize::from(!shape.exceptions.contains("drained: []"));
        paused += usize::from(facts(&report, "V1602") > 0);
    }
    println!("{tiers:?} fabrics of two and three tiers, {drained} with drains, {paused} with pauses");
    assert!(tiers.iter().all(|count| *count > 10) && drained > 10 && paused > 10);
}

/// Planes by NIC: sessions and routes stay inside a zone.
#[test]
fn planes_by_nic_have_no_faults() {
    let mut runner = TestRunner::deterministic();
    let mut proved = 0;
    for number in 0..24 {
        let target = [Target::Frr, Target::Sonic, Target::Lossless][number % 3];
        let shape = by_nic().new_tree(&mut runner).expect("there are such fabrics").current();
        let yaml = target.apply(&shape.yaml()).replace("routing: ecmp-static", "routing: bgp-unnumbered");
        let Ok(plan) = shape::try_plan(&yaml) else { continue };
        let report = report(&common::tree(&plan));
        assert!(report.holds(), "{target:?}:\n{yaml}\n{}", report.text());
        let delivery = report.delivery.expect("switches choose");
        assert!(delivery.arrive == delivery.possible && delivery.possible < delivery.deliveries, "{yaml}");
        proved += 1;
    }
    assert!(proved > 15, "{proved}");
}

/// T2s that have lost their only cable are not in the cable list of any plane, and keep the AS number of their tier.
#[test]
fn switches_without_cables_keep_their_number() {
    for absent in ["z0-p0-t1-001", "z0-p0-t1-001--p0-t2-001"] {
        let t2 = Some(T2 { zones: 1, steps: 1, parallel: 1, rows: 8, node_zones: 1 });
        let exceptions = format!("exceptions: {{ absent: [{absent}] }}\n");
        let shape =
            Shape { planes: 2, groups: 1, per_group: 1, rails: 1, t1: 2, parallel: 1, t2, exceptions };
        let report = report(&common::tree(&plan(&shape, Target::Frr).expect("there is room")));
        assert!(report.holds(), "{}", report.text());
    }
}

/// Three T0s and two T1s with PFC.
fn pod() -> Memory {
    let shape = Shape {
        planes: 1,
        groups: 3,
        per_group: 1,
        rails: 1,
        t1: 2,
        parallel: 1,
        t2: None,
        exceptions: String::new(),
    };
    common::tree(&plan(&shape, Target::Lossless).expect("there is room"))
}

/// Changes the routing of a switch.
fn edit(tree: &mut Memory, switch: &str, change: impl Fn(&str) -> String) {
    let file = format!("switches/{switch}/frr.conf");
    let bytes = tree.files.get_mut(Utf8Path::new(&file)).expect("the switch has a file");
    let text = String::from_utf8(bytes.clone()).expect("the file is text");
    let changed = change(&text);
    assert_ne!(changed, text, "{switch} is changed");
    *bytes = changed.into_bytes();
}

/// Without announced bandwidths, every path has equal weight, even one with less capacity.
#[test]
fn bandwidths_that_nobody_announces_are_missed() {
    let exceptions = "exceptions: { absent: [\"p0-t0-001--p0-t1-001#2\"] }\n".to_owned();
    let shape =
        Shape { planes: 1, groups: 3, per_group: 1, rails: 1, t1: 2, parallel: 2, t2: None, exceptions };
    let mut tree = common::tree(&plan(&shape, Target::Frr).expect("there is room"));
    assert!(report(&tree).holds(), "{}", report(&tree).text());
    for (path, bytes) in &mut tree.files {
        if path.file_name() == Some("frr.conf") {
            let text = String::from_utf8(bytes.clone()).expect("the file is text");
            let keeps = |line: &&str| !line.contains("set extcommunity bandwidth");
            *bytes =
                text.lines().filter(keeps).flat_map(|line| [line, "\n"]).collect::<String>().into_bytes();
        }
    }
    let report = report(&tree);
    let shares = report.violations.iter().find(|violation| violation.rule.code == "V1709");
    let shares = shares.unwrap_or_else(|| panic!("shares are wrong\n{}", report.text()));
    assert!(
        shares.message.contains("has weights 1 : 1 : 1 : 1; the remaining capacity to"),
        "{}",
        shares.message
    );
}

/// A T0 announces received routes, and T1s without another path accept them. Packets that one T1 sends down then go up
/// to the other.
#[test]
fn sessions_that_leak_let_pauses_wait_in_a_circle() {
    let mut tree = pod();
    assert!(report(&tree).holds(), "{}", report(&tree).text());
    edit(&mut tree, "p0-t0-001", |text| {
        text.replace(
            " match ipv6 address prefix-list OWN\n match as-path AT-MOST-0",
            " match ipv6 address prefix-list FABRIC",
        )
    });
    for (switch, lost) in [("p0-t1-001", "Ethernet2"), ("p0-t1-002", "Ethernet1")] {
        edit(&mut tree, switch, |text| {
            let keeps = |line: &&str| {
                !line.contains(&format!("neighbor {lost} ")) && *line != " match as-path AT-MOST-1"
            };
            let text: String = text.lines().filter(keeps).flat_map(|line| [line, "\n"]).collect();
            text.replace(
                "  neighbor BELOW activate",
                "  neighbor BELOW activate\n  neighbor BELOW allowas-in",
            )
        });
    }
    let report = report(&tree);
    let found = |code: &str, file: &str| {
        report.violations.iter().any(|violation| {
            violation.rule.code == code && violation.place.file == Utf8Path::new("switches").join(file)
        })
    };
    assert!(found("V1809", "p0-t0-001/frr.conf"), "{}", report.text());
    assert!(found("V1602", "p0-t0-001/frr.conf"), "{}", report.text());
}
