//! Isolated cables: the ports that get the access list, and fabrics in which a cable cannot be isolated.

use closc_diagnostics::Diagnostics;
use closc_plan::{Plan, checks};
use closc_tests::shape::plan;

/// Two tiers of SONiC switches, with additional lines.
fn fabric(lines: &str) -> String {
    format!(
        "fabric: tiny\nplanes: 2\nhosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}\n\
         tiers:\n  t0: {{ platform: th5-512x100g, os: sonic, up: 2 }}\n  t1: {{ platform: th5-512x100g, os: sonic }}\n\
         qos: none\n{lines}"
    )
}

/// The findings about isolation: code and message.
fn findings(text: &str) -> Vec<(&'static str, String)> {
    let mut diagnostics = Diagnostics::new();
    checks::check(&plan(text), &mut diagnostics);
    let own = diagnostics.iter().filter(|found| found.rule.code == "E0822");
    own.map(|found| (found.rule.code, found.message.clone())).collect()
}

/// Switch and port of every isolated port.
fn isolated_ports(plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    for switch in plan.switches() {
        let intent = plan.device(switch);
        assert!(intent.has_isolation, "{}", intent.name);
        let ports =
            intent.ports.iter().filter(|port| port.connection.as_ref().is_some_and(|own| own.isolated));
        found.extend(ports.map(|port| {
            let own = port.connection.as_ref().expect("an isolated port has a cable");
            assert!(own.drained, "an isolated cable is drained");
            format!("{}: {}", intent.name, port.description)
        }));
    }
    found
}

#[test]
fn both_ends_between_switches_and_the_switch_of_a_nic_are_isolated() {
    let cables = "exceptions: { isolated: [p0-t0-001--p0-t1-002, su002-n001/nic0.p1] }\n";
    let found = isolated_ports(&plan(&fabric(cables)));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("p0-t0-001: p0-t1-002:") && found[1].starts_with("p0-t1-002: p0-t0-001:"));
    assert_eq!(found[2], "p1-t0-002: su002-n001/nic0.p1");
    assert_eq!(isolated_ports(&plan(&fabric("exceptions: { isolated: [] }\n"))), Vec::<String>::new());
    assert_eq!(findings(&fabric(cables)), []);
    let plain = plan(&fabric(""));
    assert!(plain.switches().all(|switch| !plain.device(switch).has_isolation));
}

#[test]
fn what_cannot_be_isolated_is_refused_by_name() {
    let cable = "exceptions: { isolated: [p0-t0-001--p0-t1-002] }\n";
    for routing in ["ecmp-static", "bgp-unnumbered"] {
        for list in [cable, "exceptions: { isolated: [] }\n"] {
            let message =
                format!("`exceptions.isolated` needs `routing: srv6-static`; this fabric uses `{routing}`");
            assert_eq!(findings(&fabric(&format!("routing: {routing}\n{list}"))), [("E0822", message)]);
        }
    }
    for (platform, os) in [("linux", "frr"), ("linux", "linux"), ("bmv2", "p4")] {
        let mixed = |cable: &str| {
            let tier = format!("t1: {{ platform: {platform}, os: {os} }}");
            let text = fabric(&format!("exceptions: {{ isolated: [{cable}] }}\n"));
            text.replace("t1: { platform: th5-512x100g, os: sonic }", &tier)
        };
        let message = format!("`p0-t0-001--p0-t1-002` cannot be isolated: `p0-t1-002` runs `{os}`");
        assert_eq!(findings(&mixed("p0-t0-001--p0-t1-002")), [("E0822", message)]);
        assert_eq!(findings(&mixed("su002-n001/nic0.p1")), [], "its only switch runs SONiC");
    }
}
