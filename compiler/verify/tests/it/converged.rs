//! The derived BGP state equals that of FRR's daemons: the same prefixes, ports and shares on every switch. Fabrics
//! have two or three tiers, and absent, drained and cut cables.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use closc_plan::Plan;
use closc_render::{Templates, targets};
use closc_tests::frr::Frr;
use closc_tests::namespaces::{Fabric, File, missing_frr};
use closc_tests::shape::plan;
use closc_topology::TierId;
use serde_json::Value;

use crate::common;

/// Names of the fabrics.
const NAME: &str = "converged";

/// Timeout for convergence. On an idle machine, sessions come up within seconds.
const PATIENCE: Duration = Duration::from_mins(3);

/// Next hops of a route: ports, each with its share in thousandths.
type NextHops = BTreeMap<String, u64>;

/// The routes of a switch, by prefix.
type Routes = BTreeMap<String, NextHops>;

/// Returns next hops with their shares: the weights divided by their sum.
fn shares(ways: impl Iterator<Item = (String, u64)> + Clone) -> NextHops {
    let all: u64 = ways.clone().map(|(_, weight)| weight).sum();
    ways.map(|(port, weight)| (port, weight * 1000 / all.max(1))).collect()
}

/// Returns the routes derived from the configurations of a plan.
fn derived_routes(plan: &Plan) -> BTreeMap<String, Routes> {
    let all = closc_verify::converged_routes(&common::tree(plan)).expect("the tree can be read");
    let ways = |ways: Vec<(_, u32)>| {
        shares(ways.into_iter().map(|(port, weight)| (format!("{port}"), weight.into())))
    };
    let routes = |routes: Vec<(closc_artefacts::Prefix, Vec<(_, u32)>)>| {
        routes.into_iter().map(|(prefix, all)| (prefix.to_string(), ways(all))).collect()
    };
    all.into_iter().map(|(switch, found)| (switch.to_string(), routes(found))).collect()
}

/// Returns the BGP routes in the kernel of a switch.
fn kernel_routes(fabric: &Fabric, switch: &str) -> Routes {
    let text = fabric.ip(switch, &["-j", "-6", "route", "show", "proto", "bgp"]);
    let routes: Value = serde_json::from_str(&text).unwrap_or_default();
    let port = |hop: &Value| hop["dev"].as_str().map(str::to_owned);
    let mut found = Routes::new();
    for route in routes.as_array().into_iter().flatten() {
        let to = route["dst"].as_str().expect("a route leads somewhere");
        let to = if to.contains('/') { to.to_owned() } else { format!("{to}/128") };
        let single = std::slice::from_ref(route);
        let hops = route["nexthops"].as_array().map_or(single, Vec::as_slice);
        let ways: Vec<(String, u64)> =
            hops.iter().filter_map(|hop| Some((port(hop)?, hop["weight"].as_u64().unwrap_or(1)))).collect();
        found.insert(to, shares(ways.into_iter()));
    }
    found
}

/// Returns whether routes are equal; FRR 8 passes shares to the kernel in whole percents.
fn equal_routes(a: &Routes, b: &Routes) -> bool {
    let ways = |a: &NextHops, b: &NextHops| {
        a.len() == b.len() && a.iter().zip(b).all(|((p, x), (q, y))| p == q && x.abs_diff(*y) <= 20)
    };
    a.len() == b.len() && a.iter().zip(b).all(|((p, x), (q, y))| p == q && ways(x, y))
}

/// Waits until every switch has the derived routes.
fn agree(fabric: &Fabric, plan: &Plan, what: &str) {
    let start = Instant::now();
    let expected = derived_routes(plan);
    for (switch, routes) in &expected {
        assert!(!routes.is_empty(), "{switch} receives something");
        loop {
            let found = kernel_routes(fabric, switch);
            if equal_routes(routes, &found) {
                break;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "{what}: {switch} has not after {PATIENCE:?}\nderived {routes:#?}\nrunning {found:#?}"
            );
            thread::sleep(Duration::from_millis(250));
        }
    }
    let count: usize = expected.values().map(BTreeMap::len).sum();
    println!("{what}: {count} routes of {} switches are those of FRR", expected.len());
}

/// Waits until an echo request is answered.
fn answers(fabric: &Fabric, (device, from): (&str, &str), to: &str) {
    let start = Instant::now();
    while !fabric.ping(device, from, to) {
        assert!(start.elapsed() < PATIENCE, "{from} of {device} to {to}: no answer after {PATIENCE:?}");
    }
}

/// Checks that the loopbacks of all T0s, and all NICs, can reach each other.
fn all_answer(fabric: &Fabric, plan: &Plan) {
    let t0s = plan.switches().filter(|switch| switch.tier == TierId::T0).map(|switch| {
        let device = plan.device(switch);
        (device.name.to_string(), device.system.loopback.to_string())
    });
    let nics = plan.nodes().flat_map(|node| {
        let host = plan.host(node);
        let all: Vec<(String, String)> =
            host.nics.iter().map(|nic| (host.name.to_string(), nic.address.to_string())).collect();
        all
    });
    let mut answered = 0;
    for ends in [t0s.collect::<Vec<_>>(), nics.collect()] {
        for (device, from) in &ends {
            for (_, to) in ends.iter().filter(|(_, to)| to != from) {
                answers(fabric, (device, from), to);
                answered += 1;
            }
        }
    }
    println!("{answered} pairs answered");
}

fn up(plan: &Plan) -> Fabric {
    let templates = Templates::builtin();
    let switches = plan.switches().flat_map(|switch| {
        let intent = plan.device(switch);
        let target = targets::target(intent.os).expect("FRR has a target");
        target.device(&intent, &templates).expect("the switch renders")
    });
    let nodes =
        plan.nodes().flat_map(|node| targets::host(&plan.host(node), &templates).expect("the node renders"));
    let files: Vec<File> = switches.chain(nodes).map(|artefact| (artefact.path, artefact.bytes)).collect();
    Fabric::up(plan, &files)
}

fn cut(fabric: &Fabric, device: &str, port: &str) {
    fabric.ip(device, &["link", "set", "dev", port, "down"]);
}

/// Three T0s and two T1s, with two cables between each T0 and T1. One cable is absent, one is drained.
const POD: Frr<'_> = Frr {
    zones: 1,
    groups: 3,
    t0_up: 4,
    parallel: 2,
    t1_up: 0,
    absent: &["p0-t0-001--p0-t1-001#2"],
    drained: &["p0-t0-002--p0-t1-002#2"],
    ipv4: false,
};

#[test]
fn two_tiers_converge_as_derived() {
    if let Some(missing) = missing_frr() {
        closc_skip::skip(missing);
        return;
    }
    let whole = plan(&POD.yaml(NAME));
    let fabric = up(&whole);
    agree(&fabric, &whole, "as compiled");
    // For BGP, a cut cable is the same as an absent one.
    let mut absent = POD.absent.to_vec();
    for (port, cable) in [("eth501", "p0-t0-003--p0-t1-001"), ("eth502", "p0-t0-003--p0-t1-001#2")] {
        cut(&fabric, "p0-t0-003", port);
        absent.push(cable);
        agree(&fabric, &plan(&Frr { absent: &absent, ..POD }.yaml(NAME)), cable);
    }
}

/// Two zones of one T0 and seven T1s with five uplinks each. One uplink is absent, so its T1 lacks seven of
/// 35 paths to the other zone. At 1 Gb/s per cable, the sum of 35 Gb/s in bytes per second would exceed 32
/// bits, which hold 34.4 Gb/s.
const WIDE: Frr<'_> = Frr {
    zones: 2,
    groups: 1,
    t0_up: 7,
    parallel: 1,
    t1_up: 5,
    absent: &["z0-p0-t1-001--p0-t2-001"],
    drained: &[],
    ipv4: false,
};

#[test]
fn the_shares_of_wide_fabrics_are_those_of_frr() {
    if let Some(missing) = missing_frr() {
        closc_skip::skip(missing);
        return;
    }
    let plan = plan(&WIDE.yaml(NAME));
    // The share over the T1 that lacks a cable is 28/238, and 35/238 over each of the others.
    let derived = derived_routes(&plan);
    let far =
        derived["z0-p0-t0-001"].values().find(|ways| ways.len() == 7 && ways["eth501"] != ways["eth502"]);
    let shares: Vec<u64> = far.expect("a route to the other zone").values().copied().collect();
    assert_eq!(shares, [117, 147, 147, 147, 147, 147, 147]);
    agree(&up(&plan), &plan, "one cable of seven times five absent");
}

/// Two zones of two T0s and two T1s, below two T2s.
const ZONES: Frr<'_> =
    Frr { zones: 2, groups: 2, t0_up: 2, parallel: 1, t1_up: 2, absent: &[], drained: &[], ipv4: false };

#[test]
fn three_tiers_converge_as_derived_and_all_answer() {
    if let Some(missing) = missing_frr() {
        closc_skip::skip(missing);
        return;
    }
    let whole = plan(&ZONES.yaml(NAME));
    let fabric = up(&whole);
    agree(&fabric, &whole, "as compiled");
    all_answer(&fabric, &whole);
    let mut absent: Vec<&str> = Vec::new();
    for (device, port, cable) in [
        ("z0-p0-t0-001", "eth501", "z0-p0-t0-001--z0-p0-t1-001"),
        ("z1-p0-t1-002", "eth502", "z1-p0-t1-002--p0-t2-002"),
    ] {
        cut(&fabric, device, port);
        absent.push(cable);
        let without = plan(&Frr { absent: &absent, ..ZONES }.yaml(NAME));
        agree(&fabric, &without, cable);
        all_answer(&fabric, &without);
    }
}
