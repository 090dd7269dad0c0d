//! Labs of embedded switches that choose the path: programmed, all flows followed hop by hop, weights compared.
//! Unsupported trees are rejected with the reason.

use std::sync::Arc;

use closc_compile::Folder;
use closc_deploy::{Fleet, Inventory, PushOptions, Tree, open_gate, push, silent};
use closc_lab::trace::Finding;
use closc_lab::{Ends, Extent, Lab, LabError, LinkLayer, Target};

use crate::common::{CompiledTree, compile, quietly, shipped};

/// Pushes a tree, which may differ from the lab's.
fn program(lab: &CompiledTree, tree: &CompiledTree) {
    let path = closc_lab::inventory(&lab.fabric, &lab.options).unwrap();
    let inventory = Inventory::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let nothing = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let tree = Arc::new(Tree::open(Arc::new(Folder::new(tree.tree.clone()))).unwrap());
    let fleet = Fleet::new(&inventory, &nothing, &tree, |_| true).unwrap().of_lab();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let report = runtime.block_on(push(&fleet, &PushOptions::default(), silent(), open_gate()));
    assert!(report.is_good(), "{:?}", report.failures().next());
}

fn up(yaml: &str, fabric: &str) -> (Lab, CompiledTree) {
    let compiled = compile(yaml, fabric);
    let (lab, report) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    assert_eq!((report.target, report.again), (Target::Embedded, false));
    (lab, compiled)
}

/// Checks that the pushed entries forward every flow according to their weights, and that entries of another tree are
/// detected.
fn prove(yaml: &str, fabric: &str) {
    let (mut lab, compiled) = up(yaml, fabric);
    let error = quietly(|watch| lab.test(watch)).unwrap_err();
    assert!(matches!(&error, LabError::NotProgrammed { .. }), "{error}");
    program(&compiled, &compiled);
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "{report}");
    assert_eq!((report.pairs, report.delivered), (30, report.packets));
    assert!(report.packets > 65_000, "{report}");
    // At least one group per node, over two planes, and one per T0.
    let spread = report.spread.as_ref().unwrap();
    assert!(spread.groups >= 6 + 6, "{report}");
    let few = Extent::Sample { paths: 300, seed: 1 };
    let mut sample = || quietly(|watch| lab.walk(few, watch)).unwrap();
    let (sample, again) = (sample(), sample());
    assert!(sample.is_fine() && sample.packets == 300, "{sample}");
    assert_eq!(sample, again, "the same flows take the same ways");
    // The reason for a rejection is reported: no paths of hosts, or no carrier.
    let error = quietly(|watch| lab.probe(watch)).unwrap_err();
    assert!(matches!(error, LabError::Routing { .. }), "{error}");
    let error = quietly(|watch| lab.cut("p0-t0-001--p0-t1-002", Ends::Down, watch)).unwrap_err();
    assert!(matches!(error, LabError::NoCarrier { .. }), "{error}");
    break_cables(&mut lab);
    assert_eq!(lab.down().unwrap().fabric, compiled.fabric);
    assert!(!compiled.options.runtime.exists(), "nothing is left behind");
}

/// Switches cannot detect a cut or moved cable, so they keep using it and lose flows. The cables are found from the
/// ports at which flows arrive.
fn break_cables(lab: &mut Lab) {
    for cable in ["p0-t0-001--p0-t1-001", "su003-n002/nic0.p1"] {
        let report = quietly(|watch| lab.cut(cable, Ends::Up, watch)).unwrap();
        assert!(report.is_found(), "{report}");
        assert!(matches!(&report.findings[..], [Finding::Cut { .. }]), "{report}");
        let test = report.test.unwrap();
        assert!(test.lost > 0 && test.lost + test.delivered == test.packets, "{test}");
        quietly(|watch| lab.restore(watch)).unwrap();
    }
    // Two cables of one T0, and two of T0s in different planes.
    for (first, second) in
        [("p0-t0-001--p0-t1-001", "p0-t0-001--p0-t1-002"), ("p0-t0-002--p0-t1-001", "p1-t0-003--p1-t1-002#2")]
    {
        let report = quietly(|watch| lab.miswire(first, second, LinkLayer::Open, watch)).unwrap();
        let found = matches!(&report.findings[..], [Finding::Swapped { first: a, second: b, .. }]
            if (a.as_str(), b.as_str()) == (first, second));
        assert!(found && !report.test.is_fine(), "{report}");
        quietly(|watch| lab.restore(watch)).unwrap();
    }
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "whole again: {report}");
}

#[test]
fn switches_of_the_fabric_pipeline_spread_flows_by_their_weights() {
    prove(&shipped("lab/ecmp-p4"), "pa");
}

#[test]
fn switches_of_sonic_hardware_spread_flows_by_their_weights() {
    prove(&shipped("lab/ecmp-pins"), "pb");
}

/// Two rails of a plane have separate switches, and flows are not sent from one rail to another.
#[test]
fn with_one_tier_flows_go_between_nics_of_a_rail() {
    let yaml = "fabric: one-tier\nplanes: 2\nrouting: ecmp-static\nhosts: { groups: 2, per_group: 2, nics_per_node: 2, rails: 2, nic: { \
                speed: 200G, lanes: 2 }, os: linux }\ntiers: { t0: { platform: bmv2, os: p4 } }\ncables: { nic-t0: { length: 1m, \
                medium: virtual } }\n";
    let (mut lab, compiled) = up(yaml, "po");
    program(&compiled, &compiled);
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "{report}");
    // Two rails with two NICs each. Half of the NICs of the other rail are in other nodes.
    assert_eq!((report.pairs, report.apart, report.delivered), (4, 4, report.packets));
    assert!(report.to_string().contains("4 pairs (4 more have no path)"), "{report}");
    let report = quietly(|watch| lab.cut("su001-n002/nic0.p1", Ends::Up, watch)).unwrap();
    assert!(
        report.is_found() && report.test.unwrap().lost > 0,
        "a cable that is cut is a loss, and not a pair less"
    );
    lab.down().unwrap();
}

/// With nine bits, port numbers 510 and 511 are reserved and 512 does not exist. `sai` therefore has ten bits.
#[test]
fn the_last_of_512_ports_of_sonic_hardware_carry_flows() {
    let (mut lab, compiled) = up(&shipped("lab/ports-512-pins"), "pf");
    program(&compiled, &compiled);
    let (switch, port) = (lab.model().device("p0-t0-001").unwrap(), "Ethernet511");
    assert!(lab.model().port(switch, port).is_some(), "the last port has a cable");
    let report = quietly(|watch| lab.walk(Extent::Sample { paths: 20_000, seed: 1 }, watch)).unwrap();
    assert!(report.is_fine() && report.pairs == 56, "{report}");
    let spread = report.spread.as_ref().unwrap();
    assert_eq!(spread.ports, 8 * 8, "flows leave each T0 by all of ports 505 to 512: {report}");
}

#[test]
fn three_tiers_carry_flows() {
    let yaml = "fabric: x\nplanes: 1\nzones: 2\nrouting: ecmp-static\nqos: none\n\
                hosts: { groups: 4, per_group: 2, nic: { speed: 100G, lanes: 1 }, os: linux }\n\
                tiers:\n  t0: { platform: bmv2, os: p4, up: 2 }\n  t1: { platform: bmv2, os: p4, up: 2 }\n  \
                t2: { platform: bmv2, os: p4 }\n\
                cables:\n  nic-t0: { length: 1m, medium: virtual }\n  t0-t1: { length: 1m, medium: virtual }\n  \
                t1-t2: { length: 1m, medium: virtual }\n";
    let (mut lab, compiled) = up(yaml, "pc");
    program(&compiled, &compiled);
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine() && report.pairs == 240, "{report}");
}

/// A switch with entries of another plan is detected, because flows over a cable that the lab lacks are lost.
#[test]
fn a_lab_that_lacks_a_cable_of_the_tree_loses_its_flows() {
    let yaml = shipped("lab/ecmp-pins");
    let (mut lab, compiled) = up(&yaml, "pd");
    let whole = yaml.split("exceptions:").next().unwrap();
    let other = compile(whole, "pd");
    program(&compiled, &other);
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.lost > 0 && !report.is_fine(), "{report}");
    program(&compiled, &compiled);
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "{report}");
}

#[test]
fn what_no_lab_runs_is_refused_by_name() {
    let refused = |yaml: &str, target: Option<Target>| {
        let mut compiled = compile(yaml, "pe");
        compiled.options.target = target;
        quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap_err().to_string()
    };
    let pins = shipped("lab/ecmp-pins");
    let said = refused(&pins.replace("ecmp-static", "srv6-static").replace("os: linux", "os: none"), None);
    assert!(said.contains("the segments of switch `p0-t0-001` are in its CONFIG_DB"), "{said}");
    let said = refused(&pins.replace("os: linux", "os: none"), None);
    assert!(said.contains("`su001-n001`") && said.contains("write `os: linux` below `hosts`"), "{said}");
    let said = refused(&pins, Some(Target::Linux));
    assert!(said.contains("platform: linux, os: linux"), "{said}");
}
