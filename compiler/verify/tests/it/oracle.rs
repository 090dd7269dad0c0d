//! Walks three tiers with a reader that shares no code with verify. It uses JSON path tables as described in
//! `docs/hosts.md`, and follows the kernel routes of each switch, cable by cable.
//!
//! Every entropy value of every NIC to every other NIC is walked, and every probe. The load of each cable is counted
//! and compared with verify's figures.

#![allow(clippy::many_single_char_names, reason = "the letters of the page for hosts")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use closc_artefacts::Memory;
use closc_plan::PathTable;
use closc_render::path_table;
use closc_tests::shape::{Shape, T2};
use closc_verify::{CableLoad, Options, Violation, verify};
use serde_json::Value;

use crate::common;

/// A port: device and name.
type Port = (String, String);

/// Traffic from one NIC to another, in units.
const WHOLE: u64 = 720_720;

#[derive(Debug, Default)]
struct Switch {
    local_usids: BTreeSet<u16>,
    routes: BTreeMap<u16, String>,
}

struct Network {
    switches: BTreeMap<String, Switch>,
    /// The other end of the cable at each port, and the tier of the cable.
    peers: BTreeMap<Port, (Port, String)>,
    tables: Vec<Value>,
}

fn number(value: &Value, path: &[&str]) -> u64 {
    path.iter()
        .fold(value, |value, key| &value[*key])
        .as_u64()
        .unwrap_or_else(|| panic!("{path:?} in {value}"))
}

fn usid(prefix: &str) -> u16 {
    let address: Ipv6Addr = prefix.strip_suffix("/48").expect("a /48").parse().unwrap();
    address.segments()[2]
}

impl Network {
    fn read(tree: &Memory) -> Network {
        let mut network = Network { switches: BTreeMap::new(), peers: BTreeMap::new(), tables: Vec::new() };
        for (path, bytes) in &tree.files {
            let text = || std::str::from_utf8(bytes).unwrap();
            let parts: Vec<&str> = path.as_str().split('/').collect();
            match parts.as_slice() {
                ["switches", name, "ip.batch"] => {
                    network.switches.insert((*name).to_owned(), switch(text()));
                }
                ["cables", _] => network.cables(text()),
                ["path-tables", _] if path.extension() == Some("json") => {
                    network.tables.push(serde_json::from_slice(bytes).unwrap());
                }
                _ => {}
            }
        }
        network
    }

    fn cables(&mut self, text: &str) {
        for line in text.lines().skip(1) {
            let f: Vec<&str> = line.split(',').collect();
            let (lower, upper) = ((f[2].to_owned(), f[3].to_owned()), (f[4].to_owned(), f[5].to_owned()));
            self.peers.insert(lower.clone(), (upper.clone(), f[1].to_owned()));
            self.peers.insert(upper, (lower, f[1].to_owned()));
        }
    }

    /// Follows a packet from a NIC port. Returns the egress ports of switches, and the final port.
    fn walk(&self, from: &Port, destination: Ipv6Addr) -> Option<(Vec<Port>, Port)> {
        let mut list = u128::from(destination);
        let mut left = Vec::new();
        let mut at = self.peers.get(from)?.0.clone();
        while let Some(switch) = self.switches.get(&at.0) {
            let top = |list: u128| (list >> 80) as u16;
            assert!(switch.local_usids.contains(&top(list)), "{destination} came to {}", at.0);
            // The block is kept, and the uSIDs move up by one.
            list = list >> 96 << 96 | (list << 16 & ((1 << 96) - 1));
            let out = (at.0.clone(), switch.routes.get(&top(list))?.clone());
            at = self.peers.get(&out)?.0.clone();
            left.push(out);
        }
        Some((left, at))
    }
}

fn switch(text: &str) -> Switch {
    let mut switch = Switch::default();
    for line in text.lines().filter(|line| line.starts_with("route ")) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["route", "replace", prefix, "encap", "seg6local", "action", "End", ..] => {
                switch.local_usids.insert(usid(prefix));
            }
            ["route", "replace", prefix, "via", _, "dev", port] => {
                switch.routes.insert(usid(prefix), (*port).to_owned());
            }
            ["route", "replace", "blackhole", _] => {}
            other => panic!("{other:?} is not a route that is known here"),
        }
    }
    switch
}

/// A path table, evaluated as described for hosts.
struct Table<'a>(&'a Value);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PathChoice {
    plane: u64,
    u: u64,
    m: u64,
}

impl Table<'_> {
    fn values(&self, plane: u64, d: u64) -> Vec<PathChoice> {
        let e = &self.0["entropy"];
        let (a, b) = (number(e, &["active_per_plane"]), number(e, &["backup_per_plane"]));
        let (uplinks, t1_uplinks) = (number(e, &["t0_uplinks"]), number(e, &["t1_uplinks"]));
        let order = &self.0["planes"][plane as usize]["uplink_order"];
        let position = |n: u64| {
            let u = order[(n % uplinks) as usize].as_u64().unwrap();
            PathChoice { plane, u, m: (number(e, &["t1_start"]) + n / uplinks + u) % t1_uplinks }
        };
        (d * a..d * a + a + b).map(position).collect()
    }

    fn address(&self, template: &str, segments: usize, pick: PathChoice, d: u64, is_probe: bool) -> Ipv6Addr {
        let s = |key| number(self.0, &["segments", key]);
        let (j, c) = (pick.u / s("parallel_t0_t1"), pick.u % s("parallel_t0_t1"));
        let (step, e) = (pick.m / s("parallel_t1_t2"), pick.m % s("parallel_t1_t2"));
        let t1 = j * s("usids_per_t1");
        let mut add = match segments {
            2 => vec![0, d],
            4 => vec![0, t1 + c, c, d],
            _ => {
                let row = self.0["segments"]["t2_rows"].as_u64().map_or(j, |rows| j % rows);
                vec![0, t1 + c, step * s("t2_step") + row * s("t2_row") + e, t1 + e, c, d]
            }
        };
        let in_block = self.0["segments"]["plan"] == "plane-in-block";
        for add in &mut add {
            *add += if in_block { 0 } else { pick.plane << (s("zone_bits") + s("index_bits")) };
        }
        let mut words = template.parse::<Ipv6Addr>().unwrap().segments();
        assert!(is_probe || words[2 + segments..].iter().all(|word| *word == 0));
        for (at, add) in add.into_iter().enumerate() {
            words[2 + at] += u16::try_from(add).unwrap();
        }
        words[1] += if in_block { u16::try_from(pick.plane).unwrap() } else { 0 };
        Ipv6Addr::from(words)
    }

    fn is_denied(&self, pick: PathChoice, source: u64, to: (u64, u64, u64), segments: usize) -> bool {
        self.0["denied"].as_array().unwrap().iter().any(|denied| {
            let is = |key: &str, value: u64| denied[key].as_u64().is_none_or(|named| named == value);
            let within = |key: &str, value: u64, length: usize| {
                denied[key].as_array().is_none_or(|range| {
                    let end = |at: usize| range[at].as_u64().unwrap();
                    segments >= length && (end(0)..=end(1)).contains(&value)
                })
            };
            is("plane", pick.plane)
                && is("source_downlink", source + 1)
                && within("t0_uplinks", pick.u, 4)
                && within("t1_uplinks", pick.m, 6)
                && is("zone", to.0)
                && is("group", to.1)
                && is("downlink", to.2)
        })
    }
}

fn nics(table: &Value) -> Vec<(String, u64)> {
    let nics = table["nics"].as_array().unwrap().iter();
    nics.map(|nic| (nic["name"].as_str().unwrap().to_owned(), number(nic, &["downlink"]) - 1)).collect()
}

/// Returns the port of a NIC in a plane.
fn port(nic: &str, plane: u64) -> Port {
    let (node, nic) = nic.split_once('/').unwrap();
    (node.to_owned(), format!("{nic}p{plane}"))
}

/// Sends from every NIC to every other with every active entropy value. Returns the load of each switch port.
fn all_to_all(network: &Network) -> BTreeMap<Port, u64> {
    let mut load: BTreeMap<Port, u64> = BTreeMap::new();
    for from in &network.tables {
        let table = Table(from);
        let planes = from["planes"].as_array().unwrap().len() as u64;
        for (entry, to) in from["destinations"].as_array().unwrap().iter().zip(&network.tables) {
            let segments = match entry["kind"].as_str().unwrap() {
                "local" => 2,
                "zone" => 4,
                _ => 6,
            };
            let place = (number(to, &["zone"]), number(to, &["group"]));
            for ((sender, source), (receiver, d)) in
                nics(from).iter().flat_map(|a| nics(to).into_iter().map(move |b| (a, b)))
            {
                for plane in (0..planes).filter(|_| *sender != receiver) {
                    let values = table.values(plane, *source).into_iter();
                    let fine = |pick: &PathChoice| {
                        !table.is_denied(*pick, *source, (place.0, place.1, d + 1), segments)
                    };
                    let active = number(from, &["entropy", "active_per_plane"]) as usize;
                    let values: Vec<PathChoice> = values.filter(fine).take(active).collect();
                    for pick in &values {
                        let template = entry["template"].as_str().unwrap();
                        let address = table.address(template, segments, *pick, d, false);
                        let (left, end) = network.walk(&port(sender, plane), address).expect("it arrives");
                        assert_eq!(end, port(&receiver, plane), "{sender} to {receiver} by {address}");
                        assert_eq!(left.len(), segments - 1);
                        for out in left {
                            *load.entry(out).or_default() += WHOLE / values.len() as u64;
                        }
                    }
                }
            }
        }
    }
    load
}

/// Returns the number of cables in use of one kind and direction, and their highest and lowest load in
/// thousandths of the mean.
fn figures(
    network: &Network,
    load: &BTreeMap<Port, u64>,
    kind: &str,
    up: bool,
    out_of: &[&str],
) -> (u64, u64, u64) {
    let tier = |device: &str| ["-t0-", "-t1-", "-t2-"].iter().position(|tier| device.contains(tier));
    let cables = network.peers.iter().filter(|(_, (_, of))| of == kind);
    let ours = cables.filter(|(port, (far, _))| (tier(&port.0) < tier(&far.0)) == up);
    let used = ours
        .filter(|(port, (far, _))| !out_of.contains(&port.0.as_str()) && !out_of.contains(&far.0.as_str()));
    let loads: Vec<u64> = used.map(|(port, _)| load.get(port).copied().unwrap_or(0)).collect();
    let (count, sum) = (loads.len() as u64, loads.iter().sum::<u64>());
    let most = loads.iter().max().unwrap() * count * 1000;
    (count, most.div_ceil(sum), loads.iter().min().unwrap() * count * 1000 / sum)
}

fn agree(shape: &Shape, out_of: &[&str]) -> Vec<CableLoad> {
    let tree = common::tree(&shape.plan());
    let network = Network::read(&tree);
    let load = all_to_all(&network);
    let report = verify(&tree, &Options::default()).expect("the tree can be read");
    assert!(report.holds(), "{}", report.text());
    let stated = report.load.clone().expect("hosts write paths").cables;
    assert_eq!(stated.len(), 4);
    for of in &stated {
        let (used, most, least) = figures(&network, &load, of.cables, of.direction == "up", out_of);
        // verify divides traffic into smaller units.
        let near = |a: u64, b: u64| a.abs_diff(b) <= 1;
        let same = of.used == used && near(of.busiest_to_mean, most) && near(of.idlest_to_mean, least);
        assert!(same, "{of:?}, and walking comes to {used} cables, {most} and {least}\n{}", report.text());
    }
    stated
}

fn shape(steps: u16, parallel: (u16, u16), rows: bool, more: &str) -> Shape {
    Shape {
        planes: 2,
        groups: 4,
        per_group: 4,
        rails: 1,
        t1: 4,
        parallel: parallel.0,
        t2: Some(T2 { zones: 2, steps, parallel: parallel.1, rows: if rows { 8 } else { 0 }, node_zones: 1 }),
        exceptions: more.to_owned(),
    }
}

#[test]
fn every_cable_of_a_whole_fabric_carries_the_same() {
    let values = "entropy: { active: 4, backup: 4 }\n";
    for (steps, parallel, rows) in
        [(4, (1, 1), false), (4, (1, 1), true), (2, (1, 2), true), (2, (2, 1), false)]
    {
        for of in agree(&shape(steps, parallel, rows, values), &[]) {
            assert!(of.busiest_to_mean <= 1050, "{steps} steps, {parallel:?} parallel, rows: {rows}: {of:?}");
            assert!(of.idlest_to_mean >= 950, "{steps} steps, {parallel:?} parallel, rows: {rows}: {of:?}");
        }
    }
}

/// All groups start at the same T1 uplink, so every T1 uses only one of its four uplinks.
#[test]
fn sets_that_start_alike_are_a_violation() {
    let values = "entropy: { active: 8, backup: 0 }\n";
    let plan = Shape { groups: 8, per_group: 1, ..shape(4, (1, 1), false, values) }.plan();
    let mut tree = common::tree(&plan);
    for (zone, group) in plan.groups() {
        let table = PathTable { t1_start: 0, ..plan.path_table(zone, group) };
        tree.files.extend(path_table::render(&table).into_iter().map(|file| (file.path, file.bytes)));
    }
    common::sign(&mut tree, "shape", "srv6-static");
    let report = verify(&tree, &Options::default()).expect("the tree can be read");
    // The routes of nodes still follow the original tables, which is also found.
    let expected = |violation: &Violation| ["V0904", "V1303"].contains(&violation.rule.code);
    assert!(report.violations.iter().all(expected), "{}", report.text());
    assert!(
        report
            .text()
            .contains("the busiest uplink of T1 1 is used 8 times, and its uplinks 2.00 times on average")
    );
    assert!(report.text().contains("T1-T2 up 4.000 (idlest 0.000)"), "{}", report.text());
}

#[test]
fn what_is_left_is_shared_as_verify_says() {
    let absent = "exceptions: { absent: [z0-p0-t1-001--p0-t2-001, p1-t2-002, z1-su002-n001] }\n";
    agree(&shape(3, (1, 1), false, absent), &[]);
    let drained = "exceptions: { drained: [z0-p0-t1-002, z1-p1-t0-001] }\n";
    agree(&shape(4, (2, 1), true, drained), &["z0-p0-t1-002", "z1-p1-t0-001"]);
}

#[test]
fn every_probe_returns_over_the_cables_it_is_for() {
    for (parallel, rows) in [((1, 1), false), ((2, 2), true)] {
        let network = Network::read(&common::tree(&shape(2, parallel, rows, "").plan()));
        let mut top: BTreeSet<Port> = BTreeSet::new();
        for table in &network.tables {
            let entropy = |key| number(table, &["entropy", key]);
            let planes = table["planes"].as_array().unwrap().len() as u64;
            let probes: Vec<&str> =
                table["probes"].as_array().unwrap().iter().map(|p| p["template"].as_str().unwrap()).collect();
            let picks = (0..planes).flat_map(|plane| {
                let pairs =
                    (0..entropy("t0_uplinks")).flat_map(|u| (0..entropy("t1_uplinks")).map(move |m| (u, m)));
                pairs.map(move |(u, m)| PathChoice { plane, u, m })
            });
            for (pick, (nic, d)) in picks.flat_map(|pick| nics(table).into_iter().map(move |nic| (pick, nic)))
            {
                for (template, segments) in probes.iter().zip([2, 4, 6]) {
                    let address = Table(table).address(template, segments, pick, d, true);
                    let own = port(&nic, pick.plane);
                    let (left, end) = network.walk(&own, address).expect("it returns");
                    assert_eq!((end, left.len()), (own, segments - 1), "{nic} by {address}");
                    if segments == 6 {
                        // The downward path equals the upward path: the T2 sends the probe back over the same cable.
                        assert_eq!(network.peers[&left[1]].0, left[2], "{address}");
                        assert_eq!(network.peers[&left[0]].0, left[3], "{address}");
                        top.insert(left[1].clone());
                    }
                }
            }
        }
        let all = network.peers.iter().filter(|(port, (_, kind))| kind == "t1-t2" && port.0.contains("-t1-"));
        assert_eq!(top.len(), all.count(), "every T1-T2 cable has its probe");
    }
}
