//! Kernel labs of fabrics whose switches choose the path. Flows between all NICs are followed hop by hop, and compared
//! with the weights of next hops. They need root, and FRR if switches use BGP. Otherwise they are skipped with a
//! message.

use std::process::Command;

use closc_lab::trace::Finding;
use closc_lab::{Ends, Lab, LabError, LinkLayer};
use closc_tests::frr::Frr;

use crate::common::{can_run, compile, quietly};

/// A T0 has twice as many cables to one T1 as to the other.
const STATIC: &str = "
fabric: ecmp
planes: 1
routing: ecmp-static
hosts: { groups: 3, per_group: 2, nic: { speed: 100G, lanes: 1 }, os: linux }
tiers:
  t0: { platform: linux, os: linux, up: 4, parallel: 2 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
exceptions:
  absent: [ \"p0-t0-001--p0-t1-001#2\" ]
";

/// `STATIC` with IPv4 addresses.
fn static_ipv4() -> String {
    format!("{STATIC}addresses: {{ hosts: 10.0.0.0/8 }}\n")
}

/// Two zones of two T0s and two T1s, under two T2s, with IPv4 addresses.
fn bgp_ipv4() -> String {
    Frr { zones: 2, ipv4: true, ..Frr::default() }.yaml("bgp4")
}

/// Two zones of two T0s and two T1s, under two T2s.
fn bgp() -> String {
    Frr { zones: 2, ..Frr::default() }.yaml("bgp")
}

fn namespaces(fabric: &str) -> usize {
    let output = Command::new("ip").args(["netns", "list"]).output().unwrap();
    let prefix = format!("closc-{fabric}-");
    String::from_utf8(output.stdout).unwrap().lines().filter(|line| line.starts_with(&prefix)).count()
}

/// Single switches, and rails without a common switch.
#[test]
fn with_one_tier_flows_go_between_nics_of_a_group() {
    if !can_run() {
        return;
    }
    for (rails, apart) in [(1, 8), (2, 4)] {
        let yaml = format!(
            "fabric: one\nplanes: 2\nrouting: ecmp-static\nhosts: {{ groups: 2, per_group: 2, nics_per_node: {rails}, rails: {rails}, nic: {{ \
             speed: 200G, lanes: 2 }}, os: linux }}\ntiers: {{ t0: {{ platform: linux, os: linux }} }}\ncables: {{ nic-t0: {{ length: \
             1m, medium: virtual }} }}\n"
        );
        let compiled = compile(&yaml, "ro");
        let (mut lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
        let report = quietly(|watch| lab.test(watch)).unwrap();
        print!("{report}");
        assert!(report.is_fine(), "{report}");
        assert_eq!((report.pairs, report.apart, report.delivered), (4, apart, report.packets));
        lab.down().unwrap();
    }
}

/// Planes by NIC: two zones that share only nodes, with static routes.
#[test]
fn flows_stay_in_their_plane_by_nic() {
    if !can_run() {
        return;
    }
    let yaml = "fabric: bynic\nplanes: 1\nzones: 2\nrouting: ecmp-static\nhosts: { groups: 2, per_group: 1, nics_per_node: 2, rails: 2, \
                zones_per_node: 2, nic: { speed: 100G, lanes: 1 }, os: linux }\ntiers:\n  t0: { platform: linux, os: linux, up: 2 }\n  t1: { \
                platform: linux, os: linux }\ncables:\n  nic-t0: { length: 1m, medium: virtual }\n  t0-t1: { length: 1m, medium: virtual }\n";
    let compiled = compile(yaml, "rn");
    let (mut lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    let report = quietly(|watch| lab.test(watch)).unwrap();
    print!("{report}");
    assert!(report.is_fine(), "{report}");
    // Two nodes with one NIC per plane: an ordered pair in each direction per plane, and none between planes.
    assert_eq!((report.pairs, report.apart, report.delivered), (4, 4, report.packets));
    lab.down().unwrap();
}

#[test]
fn static_groups_carry_flows_by_their_weights() {
    if !can_run() {
        return;
    }
    let compiled = compile(STATIC, "ra");
    let (mut lab, report) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    print!("{report}");
    let report = quietly(|watch| lab.test(watch)).unwrap();
    print!("{report}");
    assert!(report.is_fine(), "{report}");
    assert_eq!((report.pairs, report.delivered), (30, report.packets));
    let spread = report.spread.as_ref().unwrap();
    assert!(spread.groups >= 3, "{report}");
    // The reason for a rejection is reported.
    let error = quietly(|watch| lab.probe(watch)).unwrap_err();
    assert!(matches!(error, LabError::Routing { .. }), "{error}");
    // A switch whose weights differ from its file is detected, and so is one that loses flows.
    let route = |rest: &str| {
        let name = format!("closc-{}-p0-t0-002", compiled.fabric);
        let mut words = vec!["-n", &name, "-6", "route"];
        words.extend(rest.split(' '));
        let output = Command::new("ip").args(&words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let group = route("show fd00:c105:1::/52");
    assert!(group.contains("nexthop via"), "{group}");
    route("replace blackhole fd00:c105:1::/52");
    route("del fd00:c105:1::/52 metric 1024");
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.lost > 0 && !report.is_fine(), "{report}");
    let fabric = compiled.fabric.clone();
    lab.down().unwrap();
    assert_eq!(namespaces(&fabric), 0);
    assert!(!compiled.options.runtime.exists(), "nothing is left behind");
}

/// The kinds of findings, and their cables.
fn finding_cables(findings: &[Finding]) -> Vec<(&'static str, Vec<&str>)> {
    fn kind(finding: &Finding) -> (&'static str, Vec<&str>) {
        match finding {
            Finding::Cut { cable, .. } => ("cut", vec![cable]),
            Finding::Unused { cable, .. } => ("unused", vec![cable]),
            Finding::Swapped { first, second, .. } => ("swapped", vec![first, second]),
            Finding::Misplugged { cable, .. } => ("misplugged", vec![cable]),
            Finding::Silent { device, .. } => ("silent", vec![device]),
        }
    }
    findings.iter().map(kind).collect()
}

/// Without a routing protocol, kernels keep using a cut cable while its ports are up, and lose its share. If the
/// ports are down, both ends stop using the cable. Traffic from the T1 to that T0 then uses a parallel cable, if
/// there is one.
#[test]
fn static_groups_lose_what_a_cut_cable_carried() {
    if !can_run() {
        return;
    }
    let compiled = compile(STATIC, "rd");
    let (mut lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    let mut cut = |cable: &str, ends: Ends| {
        let report = quietly(|watch| lab.cut(cable, ends, watch)).unwrap();
        print!("{report}");
        quietly(|watch| lab.restore(watch)).unwrap();
        assert!(report.is_found(), "{report}");
        (report.test.unwrap(), report.findings)
    };
    // A cable with a parallel one, a T0's only cable to a T1, and the cable of a NIC.
    for cable in ["p0-t0-002--p0-t1-001#2", "p0-t0-001--p0-t1-001", "su003-n002/nic0.p0"] {
        let (test, findings) = cut(cable, Ends::Up);
        assert!(test.lost > 0 && test.strayed + test.misdelivered + test.damaged == 0, "{test}");
        assert_eq!(finding_cables(&findings), [("cut", vec![cable])]);
    }
    let (test, findings) = cut("p0-t0-002--p0-t1-001#2", Ends::Down);
    assert_eq!((test.lost, finding_cables(&findings)), (0, vec![("unused", vec!["p0-t0-002--p0-t1-001#2"])]));
    let (test, findings) = cut("p0-t0-001--p0-t1-001", Ends::Down);
    assert!(test.lost > 0, "the other T0s do not learn of it: {test}");
    assert_eq!(finding_cables(&findings), [("unused", vec!["p0-t0-001--p0-t1-001"])]);
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "whole again: {report}");
    lab.down().unwrap();
}

#[test]
fn swapped_cables_of_static_groups_are_found_by_where_flows_come_in() {
    if !can_run() {
        return;
    }
    let compiled = compile(STATIC, "re");
    let (mut lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    // Cables of one T0, of two T0s at one T1, of two T0s at two T1s, and of two NICs.
    for (first, second, link_layer) in [
        ("p0-t0-002--p0-t1-001", "p0-t0-002--p0-t1-002", LinkLayer::Open),
        ("p0-t0-001--p0-t1-002", "p0-t0-002--p0-t1-002#2", LinkLayer::Open),
        ("p0-t0-002--p0-t1-001", "p0-t0-003--p0-t1-002", LinkLayer::AsConfigured),
        ("su001-n001/nic0.p0", "su002-n002/nic0.p0", LinkLayer::Open),
    ] {
        let report = quietly(|watch| lab.miswire(first, second, link_layer, watch)).unwrap();
        print!("{report}");
        quietly(|watch| lab.restore(watch)).unwrap();
        assert_eq!(finding_cables(&report.findings), [("swapped", vec![first, second])], "{report}");
        assert!(report.is_found() && !report.test.is_fine(), "{report}");
    }
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "whole again: {report}");
    lab.down().unwrap();
}

/// Routers stop using a cable if the neighbour does not answer, and flows are not lost.
#[test]
fn routers_lead_around_a_cable() {
    if !can_run() {
        return;
    }
    let compiled = compile(&bgp(), "rf");
    let mut lab = match quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)) {
        Err(error @ LabError::NoFrr) => {
            closc_skip::skip(error);
            return;
        }
        other => other.unwrap().0,
    };
    let cable = "z0-p0-t0-001--z0-p0-t1-001";
    for ends in [Ends::Up, Ends::Down] {
        let report = quietly(|watch| lab.cut(cable, ends, watch)).unwrap();
        print!("{report}");
        assert!(report.is_found(), "{report}");
        assert_eq!(
            (report.test.unwrap().lost, finding_cables(&report.findings)),
            (0, vec![("unused", vec![cable])])
        );
        quietly(|watch| lab.restore(watch)).unwrap();
        let test = quietly(|watch| lab.test(watch)).unwrap();
        assert!(test.is_fine(), "whole again: {test}");
    }
    let (first, second) = (cable, "z0-p0-t0-002--z0-p0-t1-001");
    let report = quietly(|watch| lab.miswire(first, second, LinkLayer::Open, watch)).unwrap();
    print!("{report}");
    assert_eq!(report.test.delivered, report.test.packets, "{report}");
    assert_eq!(
        finding_cables(&report.findings),
        [("unused", vec![first]), ("unused", vec![second])],
        "{report}"
    );
    assert!(report.is_found(), "{report}");
    quietly(|watch| lab.restore(watch)).unwrap();
    lab.down().unwrap();
}

/// IPv4 over cables without IPv4 addresses (RFC 8950), in two and three tiers. Flows of all pairs must arrive, before
/// and after a cable is cut.
#[test]
fn routers_carry_ipv4_over_ipv6() {
    if !can_run() {
        return;
    }
    let two = Frr { groups: 3, ipv4: true, ..Frr::default() }.yaml("bgp4");
    for (yaml, name, cable, pairs) in
        [(two, "rg", "p0-t0-001--p0-t1-001", 6), (bgp_ipv4(), "rh", "z0-p0-t0-001--z0-p0-t1-001", 12)]
    {
        let compiled = compile(&yaml, name);
        let mut lab = match quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)) {
            Err(error @ LabError::NoFrr) => {
                closc_skip::skip(error);
                return;
            }
            other => other.unwrap().0,
        };
        let test = quietly(|watch| lab.test(watch)).unwrap();
        print!("{test}");
        assert!(test.is_fine(), "{test}");
        assert_eq!((test.pairs, test.lost), (pairs, 0));
        let switch = format!("closc-{}-{}", compiled.fabric, cable.split("--").next().unwrap());
        let show = Command::new("ip").args(["-n", &switch, "-4", "route"]).output().unwrap();
        let routes = String::from_utf8(show.stdout).unwrap();
        // FRR prints the neighbour's address. If routes contain next hops, it may print an IPv4 placeholder for its MAC
        // address instead.
        let over_ipv6 = ["via inet6 fe80::", "via 169.254.0.1 dev "].iter().any(|hop| routes.contains(hop));
        assert!(over_ipv6 && !routes.contains("169.254.0.1/"), "no cable has an IPv4 address: {routes}");
        for ends in [Ends::Up, Ends::Down] {
            let report = quietly(|watch| lab.cut(cable, ends, watch)).unwrap();
            print!("{report}");
            assert!(report.is_found(), "{report}");
            assert_eq!(
                (report.test.unwrap().lost, finding_cables(&report.findings)),
                (0, vec![("unused", vec![cable])])
            );
            quietly(|watch| lab.restore(watch)).unwrap();
        }
        lab.down().unwrap();
    }
}

/// Static next-hop groups with /31 cables. Flows match the weights, and a cut cable is found.
#[test]
fn static_groups_carry_ipv4() {
    if !can_run() {
        return;
    }
    let compiled = compile(&static_ipv4(), "ri");
    let (mut lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    let report = quietly(|watch| lab.test(watch)).unwrap();
    print!("{report}");
    assert!(report.is_fine(), "{report}");
    assert_eq!((report.pairs, report.delivered), (30, report.packets));
    assert!(report.spread.as_ref().unwrap().groups >= 3, "{report}");
    let cable = "p0-t0-002--p0-t1-001#2";
    let report = quietly(|watch| lab.cut(cable, Ends::Up, watch)).unwrap();
    assert_eq!(finding_cables(&report.findings), [("cut", vec![cable])]);
    quietly(|watch| lab.restore(watch)).unwrap();
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "whole again: {report}");
    lab.down().unwrap();
}

#[test]
fn routers_find_each_other_and_carry_flows() {
    if !can_run() {
        return;
    }
    let compiled = compile(&bgp(), "rb");
    let (mut lab, report) = match quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)) {
        Err(error @ LabError::NoFrr) => {
            closc_skip::skip(error);
            return;
        }
        other => other.unwrap(),
    };
    print!("{report}");
    let test = quietly(|watch| lab.test(watch)).unwrap();
    print!("{test}");
    assert!(test.is_fine(), "{test}");
    assert_eq!((test.pairs, test.lost), (12, 0));
    assert!(test.spread.as_ref().unwrap().groups >= 4, "{test}");
    assert!(lab.status().missing.is_empty());
    // Open it as another process would, and configure it again. Routers keep running.
    drop(lab);
    let (lab, report) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    assert!(report.again);
    let fabric = compiled.fabric.clone();
    let down = lab.down().unwrap();
    // 10 switches run zebra, staticd, bfdd and bgpd each; with FRR 10 also mgmtd.
    assert!(down.processes >= 40, "{}", down.processes);
    assert_eq!(namespaces(&fabric), 0);
    assert!(!compiled.options.runtime.exists(), "nothing is left behind");
}

#[test]
fn hostile_routers_cannot_be_read() {
    let compiled = compile(&bgp(), "rc");
    let path = compiled.tree.join("switches/z0-p0-t0-001/frr.conf");
    let was = std::fs::read_to_string(&path).unwrap();
    closc_lab::tree::Tree::read(&compiled.tree).unwrap();
    for line in ["log file /tmp/x", "netns /run/netns/x", "username x nopassword", "neighbor eth1 password x"]
    {
        for text in [format!("{was}{line}\n"), format!("{line}\n{was}")] {
            std::fs::write(&path, text).unwrap();
            compiled.seal();
            let error = closc_lab::tree::Tree::read(&compiled.tree).unwrap_err();
            assert!(matches!(&error, LabError::Tree { path: at, .. } if *at == path), "{line}: {error}");
        }
    }
}
