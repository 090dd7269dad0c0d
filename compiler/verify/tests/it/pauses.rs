//! Pause cycles: compiled trees have none, whatever is absent or drained. Handmade ones are found.

use camino::Utf8Path;
use closc_artefacts::Memory;
use closc_plan::Plan;
use closc_tests::{exceptions, shape};
use closc_verify::{Options, Report, verify};
use proptest::prelude::*;

use crate::common;
use crate::common::fabrics::Target;

/// Sets SONiC, PFC and a routing mode in a fabric file.
fn lossless(yaml: &str, routing: &str) -> String {
    format!("routing: {routing}\n{}", Target::Lossless.apply(yaml))
}

fn report(tree: &Memory) -> Report {
    verify(tree, &Options { digests: false, ..Options::default() }).expect("the tree can be read")
}

/// Returns the number of facts and the violations of the rule.
fn circles(report: &Report) -> (u64, Vec<String>) {
    let facts = report.rules.iter().filter(|rule| rule.code == "V1602").map(|rule| rule.tally.facts).sum();
    let found = report.violations.iter().filter(|violation| violation.rule.code == "V1602");
    (facts, found.map(|violation| format!("{} {}", violation.place, violation.message)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn compiled_fabrics_have_no_circle(shape in exceptions::shapes_with_exceptions()) {
        if let Ok(plan) = shape::try_plan(&lossless(&shape.yaml(), "ecmp-static")) {
            let (facts, found) = circles(&report(&common::tree(&plan)));
            prop_assert!(found.is_empty(), "{found:#?}");
            prop_assert!(facts > 0 || shape.groups == 1, "nothing was looked at");
        }
    }
}

/// Two planes of two T0s and two T1s.
fn lab(routing: &str) -> Plan {
    let yaml = include_str!("../../../../topologies/lab/two-planes.yaml");
    let yaml: String = yaml
        .lines()
        .filter(|line| !line.starts_with("routing:"))
        .fold(String::new(), |text, line| text + line + "\n");
    shape::plan(&lossless(&yaml, routing))
}

/// Returns the row of a route in a file for SONiC.
fn row<'a>(text: &'a str, prefix: &str) -> &'a str {
    let start =
        text.find(&format!("\"default|{prefix}\": ")).unwrap_or_else(|| panic!("no {prefix}:\n{text}"));
    let end = text[start..].find('}').expect("a row has an end");
    &text[start..=start + end]
}

#[test]
fn a_route_up_down_up_is_a_circle() {
    let plan = lab("ecmp-static");
    let mut tree = common::tree(&plan);
    assert_eq!(circles(&report(&tree)).1, Vec::<String>::new());
    // The T1 sends packets for the second group down to the first, which sends them up again.
    let groups: Vec<String> =
        plan.groups().map(|(zone, group)| plan.addresses().group(zone, group).to_string()).collect();
    let path = Utf8Path::new("switches/p0-t1-001/config_db.json");
    let text = String::from_utf8(tree.files[path].clone()).expect("it is text");
    let (own, other) = (row(&text, &groups[0]), row(&text, &groups[1]));
    let bent = text.replace(other, &own.replace(&groups[0], &groups[1]));
    assert_ne!(bent, text);
    tree.files.insert(path.to_owned(), bent.into_bytes());
    let (_, found) = circles(&report(&tree));
    assert_eq!(found.len(), 1, "{found:#?}");
    let circle =
        "`p0-t1-001:Ethernet0` -> `p0-t0-001:Ethernet256` -> `p0-t1-001:Ethernet0` wait for each other";
    let starts = found[0].starts_with("switches/p0-t0-001/config_db.json:");
    assert!(starts && found[0].ends_with(circle), "{found:#?}");
}

#[test]
fn what_is_not_paused_cannot_wait() {
    let yaml = include_str!("../../../../topologies/lab/two-planes.yaml");
    let (facts, found) = circles(&report(&common::tree(&shape::plan(yaml))));
    assert_eq!((facts, found.len()), (0, 0));
}
