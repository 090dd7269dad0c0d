//! Where switches choose the path, the load of every cable equals that of a walker. The walker shares no code with
//! verify and reads the kernel routes of each switch and the cable lists.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use closc_artefacts::Memory;
use closc_tests::exceptions;
use closc_tests::shape::{self, Shape, T2};
use closc_verify::{CableLoad, Options, verify};
use ipnet::Ipv6Net;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::common;

/// A port: device and name.
type Port = (String, String);

/// A route: prefix, and ports with weights; empty if it drops.
type Route = (Ipv6Net, Vec<(String, f64)>);

#[derive(Debug, Default)]
struct Network {
    switches: BTreeMap<String, Vec<Route>>,
    /// The other end of the cable at each port between switches, and the tiers of the cable.
    peers: BTreeMap<Port, (Port, String)>,
    /// Ports of NICs, each with its T0 and plane.
    nics: Vec<(String, Port, String)>,
}

impl Network {
    fn read(tree: &Memory) -> Network {
        let mut network = Network::default();
        for (path, bytes) in &tree.files {
            let text = || std::str::from_utf8(bytes).unwrap();
            let parts: Vec<&str> = path.as_str().split('/').collect();
            match parts.as_slice() {
                ["switches", name, "ip.batch"] => {
                    network.switches.insert((*name).to_owned(), text().lines().filter_map(route).collect());
                }
                ["cables", _] => text().lines().skip(1).for_each(|line| network.cable(line)),
                _ => {}
            }
        }
        network
    }

    fn cable(&mut self, line: &str) {
        let f: Vec<&str> = line.split(',').collect();
        let (lower, upper) = ((f[2].to_owned(), f[3].to_owned()), (f[4].to_owned(), f[5].to_owned()));
        if f[1] == "nic-t0" {
            self.nics.push((f[0].to_owned(), upper, lower.0));
        } else {
            self.peers.insert(lower.clone(), (upper.clone(), f[1].to_owned()));
            self.peers.insert(upper, (lower, f[1].to_owned()));
        }
    }

    /// Returns the addresses of the NICs of a plane.
    fn addresses(&self, plane: &str) -> Vec<Ipv6Addr> {
        let of_plane = self.nics.iter().filter(|(of, ..)| of == plane);
        let address = |(_, (t0, port), _): &(String, Port, String)| {
            let own = |(to, ways): &&Route| {
                to.prefix_len() == 128 && matches!(&ways[..], [(out, _)] if out == port)
            };
            self.switches[t0].iter().find(own).map(|(to, _)| to.addr())
        };
        of_plane.filter_map(address).collect()
    }

    /// Sends an amount to an address and adds it to the egress port.
    fn send(&self, switch: &str, to: Ipv6Addr, amount: f64, load: &mut BTreeMap<Port, f64>) {
        let routes = self.switches[switch].iter().filter(|(prefix, _)| prefix.contains(&to));
        let Some((_, ways)) = routes.max_by_key(|(prefix, _)| prefix.prefix_len()) else { return };
        let all: f64 = ways.iter().map(|(_, weight)| weight).sum();
        for (port, weight) in ways {
            let port = (switch.to_owned(), port.clone());
            if let Some(((next, _), _)) = self.peers.get(&port) {
                *load.entry(port).or_default() += amount * weight / all;
                self.send(next, to, amount * weight / all, load);
            }
        }
    }

    fn all_to_all(&self) -> BTreeMap<Port, f64> {
        let mut load = BTreeMap::new();
        let planes: std::collections::BTreeSet<&String> = self.nics.iter().map(|(plane, ..)| plane).collect();
        for plane in planes {
            let addresses = self.addresses(plane);
            let mut senders: BTreeMap<&str, f64> = BTreeMap::new();
            for (_, (t0, _), _) in self.nics.iter().filter(|(of, ..)| of == plane) {
                *senders.entry(t0).or_default() += 1.0;
            }
            for (t0, nics) in senders {
                for to in &addresses {
                    self.send(t0, *to, nics, &mut load);
                }
            }
        }
        load
    }
}

/// Reads `route replace PREFIX via G dev P`, `... nexthop via G dev P weight W ...` or `route replace blackhole
/// PREFIX`.
fn route(line: &str) -> Option<Route> {
    let words: Vec<&str> = line.strip_prefix("route replace ")?.split(' ').collect();
    if words[0] == "blackhole" {
        return Some((words[1].parse().unwrap(), Vec::new()));
    }
    let after = |words: &[&str], key: &str| {
        words.iter().position(|word| *word == key).map(|at| words[at + 1].to_owned())
    };
    let hops = words[1..].split(|word| *word == "nexthop").filter(|hop| !hop.is_empty());
    let way = |hop: &[&str]| {
        (after(hop, "dev").unwrap(), after(hop, "weight").map_or(1.0, |weight| weight.parse().unwrap()))
    };
    Some((words[0].parse().unwrap(), hops.map(way).collect()))
}

/// Returns verify's figures for a fabric, after comparing them with those of the walker.
fn agree(yaml: &str, plan: &closc_plan::Plan) -> Vec<CableLoad> {
    let tree = common::tree(plan);
    let network = Network::read(&tree);
    let load = network.all_to_all();
    let report = verify(&tree, &Options::default()).expect("the tree can be read");
    assert!(report.holds(), "{yaml}\n{}", report.text());
    let stated = report.load.clone().expect("switches choose").cables;
    let tier = |device: &str| ["-t0-", "-t1-", "-t2-"].iter().position(|tier| device.contains(tier));
    for of in &stated {
        let ours = network.peers.iter().filter(|((device, _), ((far, _), kind))| {
            kind == of.cables && (tier(device) < tier(far)) == (of.direction == "up")
        });
        let loads: Vec<f64> = ours.map(|(port, _)| load.get(port).copied().unwrap_or(0.0)).collect();
        let mean = loads.iter().sum::<f64>() / loads.len() as f64;
        let thousandths = |load: f64| load / mean * 1000.0;
        let near = |stated: u64, load: f64| (stated as f64 - thousandths(load)).abs() <= 1.01;
        let (most, least) =
            (loads.iter().copied().fold(0.0, f64::max), loads.iter().copied().fold(f64::MAX, f64::min));
        let same =
            of.used == loads.len() as u64 && near(of.busiest_to_mean, most) && near(of.idlest_to_mean, least);
        let walked = (loads.len(), thousandths(most), thousandths(least));
        assert!(same, "{yaml}\n{of:?}, and walking comes to {walked:?}\n{}", report.text());
    }
    stated
}

fn yaml(zones: u16, exceptions: &str) -> String {
    let shape = Shape {
        planes: 2,
        groups: 4,
        per_group: 4,
        rails: 1,
        t1: 4,
        parallel: 1,
        t2: (zones > 1).then_some(T2 { zones, steps: 4, parallel: 1, rows: 0, node_zones: 1 }),
        exceptions: exceptions.to_owned(),
    };
    format!("routing: ecmp-static\n{}", shape.yaml())
}

#[test]
fn every_cable_of_a_whole_fabric_carries_the_same() {
    for zones in [1, 2] {
        let yaml = yaml(zones, "");
        let stated = agree(&yaml, &shape::try_plan(&yaml).expect("it can be planned"));
        assert_eq!(stated.len(), if zones > 1 { 4 } else { 2 });
        for of in stated {
            assert_eq!((of.busiest_to_mean, of.idlest_to_mean), (1000, 1000), "{of:?}");
        }
    }
}

/// With any absences, the figures equal those of the walker, and absences change the figures.
#[test]
fn figures_are_those_of_a_walker() {
    let mut runner = TestRunner::deterministic();
    let (mut fabrics, mut uneven) = (0, 0);
    while fabrics < 40 {
        let shape = exceptions::shapes_with_exceptions()
            .new_tree(&mut runner)
            .expect("there are such fabrics")
            .current();
        let yaml = format!("routing: ecmp-static\n{}", shape.yaml());
        // The walker does not model drained cables.
        if shape.exceptions.contains("drained:\n") {
            continue;
        }
        let Ok(plan) = shape::try_plan(&yaml) else { continue };
        let stated = agree(&yaml, &plan);
        uneven += usize::from(stated.iter().any(|of| of.busiest_to_mean > 1001));
        fabrics += 1;
    }
    assert!(uneven > 5, "exceptions make loads differ: {uneven} of {fabrics}");
}
