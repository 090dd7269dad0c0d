//! Labs on the kernel of fabrics whose switches choose the path: flows between all NICs, each followed hop by hop, and the
//! weights of next hops. They need root, and FRR where switches speak BGP, and say so where they lack it.

mod common;

use std::process::Command;

use closc_lab::{Lab, LabError, LinkLayer};
use closc_tests::frr::Frr;

use common::{can_run, compile, quietly};

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

/// Two zones of two T0s and two T1s, under two T2s.
fn bgp() -> String {
    Frr { zones: 2, ..Frr::default() }.yaml("bgp")
}

fn namespaces(fabric: &str) -> usize {
    let output = Command::new("ip").args(["netns", "list"]).output().unwrap();
    let prefix = format!("closc-{fabric}-");
    String::from_utf8(output.stdout).unwrap().lines().filter(|line| line.starts_with(&prefix)).count()
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
    // What is not there is said.
    for error in [
        quietly(|watch| lab.probe(watch)).unwrap_err(),
        quietly(|watch| lab.cut("p0-t0-001--p0-t1-001", watch)).unwrap_err(),
        quietly(|watch| lab.miswire("a", "b", LinkLayer::Open, watch)).unwrap_err(),
    ] {
        assert!(matches!(error, LabError::Routing { .. }), "{error}");
    }
    // A switch that weighs in another way than its file says is seen, and so is one that loses flows.
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
    // Another process finds it, configures it again, and the routers stay.
    drop(lab);
    let (lab, report) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    assert!(report.again);
    let fabric = compiled.fabric.clone();
    let down = lab.down().unwrap();
    // On each of 10 switches zebra, staticd, bfdd and bgpd, and with FRR 10 mgmtd.
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
