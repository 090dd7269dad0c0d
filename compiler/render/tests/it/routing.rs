//! Rendered routing in network namespaces, with the kernel's routes and with FRR's daemons on every switch. BGP
//! converges, uses every T1, and carries no transit through T0s when cables fail. BGP reduces the weight if one of two
//! parallel cables is lost. Static groups deliver over every plane, with weights, around absent elements.

use std::thread;
use std::time::{Duration, Instant};

use closc_plan::Plan;
use closc_tests::namespaces::{Fabric, missing_frr, missing_requirement};
use closc_tests::shape::plan;
use closc_topology::{Switch, TierId};
use serde_json::Value;

use crate::common;

const POD: &str = include_str!("../../../../topologies/lab/bgp-unnumbered.yaml");

/// Timeout. On an idle machine, sessions come up within seconds.
const PATIENCE: Duration = Duration::from_mins(3);

/// Waits until a condition holds.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}: not after {PATIENCE:?}");
        thread::sleep(Duration::from_millis(250));
    }
}

/// Sends echo requests until one is answered.
fn answers(fabric: &Fabric, (device, from): (&str, &str), to: &str) {
    eventually(&format!("{from} of {device} to {to}"), || fabric.ping(device, from, to));
}

/// Next hops of the kernel's route to a destination, with their weights; none without a route.
fn next_hops(fabric: &Fabric, device: &str, to: &str) -> Vec<(String, u64)> {
    let text = fabric.ip(device, &["-j", "-6", "route", "show", to]);
    let routes: Value = serde_json::from_str(&text).expect("ip writes JSON");
    let Some(route) = routes.get(0) else { return Vec::new() };
    let name = |hop: &Value| hop["dev"].as_str().map(str::to_owned);
    match route["nexthops"].as_array() {
        Some(hops) => hops.iter().filter_map(|hop| Some((name(hop)?, hop["weight"].as_u64()?))).collect(),
        None => name(route).map(|dev| (dev, 1)).into_iter().collect(),
    }
}

/// A T0: its name and loopback, and the name and NIC address of its node.
struct Leaf {
    name: String,
    loopback: String,
    node: String,
    nic: String,
}

fn leaves(plan: &Plan) -> Vec<Leaf> {
    let leaf = |(switch, node): (Switch, closc_topology::Node)| {
        let (device, host) = (plan.device(switch), plan.host(node));
        Leaf {
            name: device.name.to_string(),
            loopback: device.system.loopback.to_string(),
            node: host.name.to_string(),
            nic: host.nics[0].address.to_string(),
        }
    };
    let leaves = plan.switches().filter(|switch| switch.tier == TierId::T0);
    leaves.zip(plan.nodes()).map(leaf).collect()
}

fn pairs(leaves: &[Leaf]) -> impl Iterator<Item = (&Leaf, &Leaf)> {
    let others = |from| leaves.iter().map(move |to: &Leaf| (from, to));
    leaves.iter().flat_map(others).filter(|(from, to): &(&Leaf, &Leaf)| from.name != to.name)
}

/// The /64 of a NIC's group.
fn group(nic: &str) -> String {
    nic.replace("::1", "::/64")
}

fn converges(fabric: &Fabric, leaves: &[Leaf], width: usize) {
    for (from, to) in pairs(leaves) {
        for destination in [to.loopback.clone(), group(&to.nic)] {
            eventually(&format!("{} to {destination}", from.name), || {
                next_hops(fabric, &from.name, &destination).len() == width
            });
        }
    }
}

#[test]
fn a_pod_converges_and_its_leaves_carry_no_transit() {
    if let Some(missing) = missing_frr() {
        closc_skip::skip(missing);
        return;
    }
    let plan = plan(POD);
    let leaves = leaves(&plan);
    let start = Instant::now();
    let fabric = Fabric::up(&plan, &common::files(&plan));
    converges(&fabric, &leaves, 2);
    println!("4 leaves and 2 spines converged in {:.1} s", start.elapsed().as_secs_f64());
    for (from, to) in pairs(&leaves) {
        answers(&fabric, (&from.name, &from.loopback), &to.loopback);
        answers(&fabric, (&from.node, &from.nic), &to.nic);
    }
    println!("12 pairs of loopbacks and 12 pairs of NICs answered, kernel ECMP width 2");
    for leaf in &leaves {
        eventually(&format!("BFD of {}", leaf.name), || {
            let text = fabric.show(&leaf.name, "show bfd peers json");
            let peers: Value = serde_json::from_str(&text).expect("FRR writes JSON");
            let up = |peer: &&Value| peer["status"] == "up";
            peers.as_array().is_some_and(|peers| peers.iter().filter(up).count() == 2)
        });
        for port in ["eth501", "eth502"] {
            let command = format!("show bgp ipv6 unicast neighbors {port} advertised-routes json");
            let announced: Value = serde_json::from_str(&fabric.show(&leaf.name, &command)).expect("JSON");
            let routes = announced["advertisedRoutes"].as_object().expect("routes by prefix");
            let mut prefixes: Vec<&String> = routes.keys().collect();
            prefixes.sort();
            assert_eq!(prefixes, [&group(&leaf.nic), &format!("{}/128", leaf.loopback)], "{}", leaf.name);
        }
    }
    // The first T0 keeps only its cable to the first T1, and the last T0 only that to the second. So they could only
    // connect through another T0.
    let (first, last) = (&leaves[0], &leaves[3]);
    fabric.ip("p0-t1-002", &["link", "set", "dev", "eth1", "down"]);
    fabric.ip("p0-t1-001", &["link", "set", "dev", "eth4", "down"]);
    eventually("the way between the cut leaves is withdrawn", || {
        next_hops(&fabric, &first.name, &group(&last.nic)).is_empty()
            && next_hops(&fabric, &last.name, &group(&first.nic)).is_empty()
    });
    for (from, to) in pairs(&leaves) {
        let is_cut = [(&first.name, &last.name), (&last.name, &first.name)].contains(&(&from.name, &to.name));
        if !is_cut {
            eventually(&format!("{} still reaches {}", from.name, to.name), || {
                !next_hops(&fabric, &from.name, &to.loopback).is_empty()
            });
            answers(&fabric, (&from.node, &from.nic), &to.nic);
        }
    }
    assert!(!fabric.ping(&first.node, &first.nic, &last.nic), "transit through a leaf");
    println!("two cables cut: 10 pairs still answer, the cut pair does not: no transit through leaves");
    fabric.ip("p0-t1-002", &["link", "set", "dev", "eth1", "up"]);
    fabric.ip("p0-t1-001", &["link", "set", "dev", "eth4", "up"]);
    converges(&fabric, &leaves, 2);
}

#[test]
fn the_loss_of_a_parallel_cable_is_weighed() {
    if let Some(missing) = missing_frr() {
        closc_skip::skip(missing);
        return;
    }
    let yaml = POD.replace("up: 2 }", "up: 4, parallel: 2 }").replace("groups: 4", "groups: 2");
    let plan = plan(&yaml.replace("fabric: bgp-unnumbered", "fabric: bgp-parallel"));
    let leaves = leaves(&plan);
    let fabric = Fabric::up(&plan, &common::files(&plan));
    converges(&fabric, &leaves, 4);
    // The second cable between the first T1 and the second T0.
    fabric.ip("p0-t1-001", &["link", "set", "dev", "eth4", "down"]);
    let way = || next_hops(&fabric, &leaves[0].name, &group(&leaves[1].nic));
    let share = |ways: &[(String, u64)], ports: [&str; 2]| {
        let all: u64 = ways.iter().map(|(_, weight)| weight).sum();
        let own: u64 = ways.iter().filter(|(dev, _)| ports.contains(&dev.as_str())).map(|(_, w)| w).sum();
        own as f64 / all.max(1) as f64
    };
    eventually("the first spine gets a third", || {
        let ways = way();
        ways.len() == 4 && (share(&ways, ["eth501", "eth502"]) - 1.0 / 3.0).abs() < 0.02
    });
    println!("one of two cables behind a spine is gone; next hops and weights now: {:?}", way());
}

/// Two planes, two cables to each spine, and gaps: a cable, a NIC port, a complete T0.
const STATIC: &str = "
fabric: static
planes: 2
routing: ecmp-static
hosts: { groups: 3, per_group: 2, nics_per_node: 2, nic: { speed: 200G, lanes: 2 }, os: linux }
tiers:
  t0: { platform: linux, os: linux, up: 4, parallel: 2 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
exceptions: { absent: [ p0-t0-002--p0-t1-001, su003-n001/nic1.p1, p1-t0-002 ] }
";

#[test]
fn static_groups_deliver_around_what_is_absent() {
    if let Some(missing) = missing_requirement() {
        closc_skip::skip(missing);
        return;
    }
    let plan = plan(STATIC);
    let fabric = Fabric::up(&plan, &common::files(&plan));
    let way = next_hops(&fabric, "p0-t0-001", "fd00:c105:1:2::/64");
    let weights: Vec<u64> = way.iter().map(|(_, weight)| *weight).collect();
    assert_eq!(weights, [1, 1, 2, 2], "{way:?}");
    assert_eq!(next_hops(&fabric, "p0-t0-001", "fd00:c105:1::/52").len(), 4);
    let mut answered = 0;
    let nodes: Vec<_> = plan.nodes().map(|node| plan.host(node)).collect();
    for (from, to) in nodes.iter().flat_map(|from| nodes.iter().map(move |to| (from, to))) {
        for (own, far) in from.nics.iter().flat_map(|own| to.nics.iter().map(move |far| (own, far))) {
            if own.address == far.address {
                continue;
            }
            let (own, far) = (own.address.to_string(), far.address.to_string());
            answers(&fabric, (&from.name, &own), &far);
            answered += 1;
        }
    }
    assert_eq!(answered, 6 * 5);
    println!("{answered} pairs of NICs answered; 5/6 of the capacity is weighed {weights:?}");
}
