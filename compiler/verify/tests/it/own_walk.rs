//! Compares the verdict of verify with an independent packet walk, before and after damage to a route. The random
//! fabrics have zones of different sizes, and absent and drained elements.
//!
//! In: the cable lists and `ip.batch` files of a tree. Out: the deliveries that arrive, packet by packet. Neither the
//! planner nor the verifier's readers are used. The manifest is read only for the number of NICs.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use camino::Utf8PathBuf;
use closc_artefacts::{Memory, Routing};
use closc_tests::exceptions::shapes_with_exceptions;
use closc_tests::shape::{try_plan, with_ipv4};
use closc_verify::{Options, Report, verify};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::common;

/// A port: device and name.
type Port = (String, String);

/// The ports to which a route forwards; none if it drops packets.
type NextHops = Vec<String>;

/// Maximum number of switches that a packet passes: up and down three tiers.
const HOPS_MAX: u8 = 5;

/// Switches and cables of a tree.
#[derive(Default)]
struct Network {
    /// Routes of each switch: the prefix as 128 bits, its length among these bits, and the next hops.
    routes: BTreeMap<String, Vec<(u128, u32, NextHops)>>,
    /// The other end of the cable at each port.
    far: BTreeMap<Port, Port>,
    /// Ports of NICs by plane.
    nic_ports: BTreeSet<(u8, Port)>,
}

/// Deliveries of all NICs, as verify defines them: a delivery arrives if it arrives for every choice of the switches.
#[derive(Debug, Default, PartialEq, Eq)]
struct Deliveries {
    arrive: u128,
    doubtful: u128,
    ways: u128,
}

/// Returns an address as 128 bits, and the number of leading bits that its address family does not use.
fn bits(address: &str) -> (u128, u32) {
    match address.parse().expect("an address") {
        IpAddr::V4(own) => (u32::from(own).into(), 96),
        IpAddr::V6(own) => (own.into(), 0),
    }
}

fn prefix(text: &str) -> (u128, u32) {
    let (address, length) = text.split_once('/').map_or((text, None), |(a, l)| (a, Some(l)));
    let (own, before) = bits(address);
    let length: u32 = length.map_or(128 - before, |length| length.parse().expect("a length"));
    (own, before + length)
}

/// Returns whether an address is in a prefix.
fn contains((own, length): (u128, u32), address: u128) -> bool {
    length == 0 || (own ^ address) >> (128 - length) == 0
}

/// Returns the NIC of a port such as `nic2p3`.
fn nic((device, port): &Port) -> (String, String) {
    let (nic, _) = port.split_once('p').expect("a port of a NIC");
    (device.clone(), nic.to_owned())
}

impl Network {
    fn read(tree: &Memory) -> Network {
        let mut network = Network::default();
        for (path, bytes) in &tree.files {
            let text = || std::str::from_utf8(bytes).expect("text");
            let parts: Vec<&str> = path.as_str().split('/').collect();
            match parts.as_slice() {
                ["switches", name, "ip.batch"] => {
                    network.routes.insert((*name).to_owned(), text().lines().filter_map(route).collect());
                }
                ["cables", _] => network.add_cables(text()),
                _ => {}
            }
        }
        network
    }

    fn add_cables(&mut self, text: &str) {
        for line in text.lines().skip(1) {
            let f: Vec<&str> = line.split(',').collect();
            let (lower, upper) = ((f[2].to_owned(), f[3].to_owned()), (f[4].to_owned(), f[5].to_owned()));
            if f[1] == "nic-t0" {
                self.nic_ports.insert((f[0].parse().expect("a plane"), lower.clone()));
            }
            self.far.insert(lower.clone(), upper.clone());
            self.far.insert(upper, lower);
        }
    }

    /// Returns the address of each NIC, from the host route of its T0 that leads to the NIC's cable.
    fn addresses(&self) -> BTreeMap<(String, String), u128> {
        let mut found = BTreeMap::new();
        for (_, port) in &self.nic_ports {
            let (t0, down) = &self.far[port];
            let routes = self.routes.get(t0).into_iter().flatten();
            for (own, _, _) in routes.filter(|(_, length, hops)| *length == 128 && hops.contains(down)) {
                found.insert(nic(port), *own);
            }
        }
        found
    }

    /// Counts the choices of the switches that deliver a packet, and the choices that lose it.
    fn walk(&self, at: &Port, address: u128, target: &(String, String), hops: u8) -> [u128; 2] {
        let Some(routes) = self.routes.get(&at.0) else {
            return if nic(at) == *target { [1, 0] } else { [0, 1] };
        };
        let fitting = routes.iter().filter(|(own, length, _)| contains((*own, *length), address));
        let Some((_, _, next)) = fitting.max_by_key(|(_, length, _)| *length) else { return [0, 1] };
        if next.is_empty() || hops == 0 {
            return [0, 1];
        }
        let mut sum = [0, 0];
        for port in next {
            let found = match self.far.get(&(at.0.clone(), port.clone())) {
                Some(far) => self.walk(far, address, target, hops - 1),
                None => [0, 1],
            };
            sum = [sum[0] + found[0], sum[1] + found[1]];
        }
        sum
    }

    /// Sends a packet from each port of each NIC to each other NIC.
    fn deliveries(&self, addresses: &BTreeMap<(String, String), u128>) -> Deliveries {
        let mut found = Deliveries::default();
        for (_, port) in &self.nic_ports {
            for (target, address) in addresses.iter().filter(|(target, _)| **target != nic(port)) {
                let [arrive, lost] = self.walk(&self.far[port], *address, target, HOPS_MAX);
                found.ways += arrive;
                found.arrive += u128::from(arrive > 0 && lost == 0);
                found.doubtful += u128::from(arrive > 0 && lost > 0);
            }
        }
        found
    }
}

/// Reads a route of the main table; `None` for other lines.
fn route(line: &str) -> Option<(u128, u32, NextHops)> {
    let words: Vec<&str> = line.split(' ').collect();
    let rest = words.strip_prefix(&["route", "replace"])?;
    if let ["blackhole", own] = rest {
        let (own, length) = prefix(own);
        return Some((own, length, Vec::new()));
    }
    let (own, length) = prefix(rest[0]);
    let devices = rest.windows(2).filter(|pair| pair[0] == "dev").map(|pair| pair[1].to_owned());
    Some((own, length, devices.collect()))
}

/// Returns the fabric of a shape with a smaller zone, which keeps only the first T0 groups and NICs.
fn uneven(yaml: &str, [groups, nics]: [u16; 2], zone: u16) -> String {
    let groups = format!("  groups_by_zone: {{ {zone}: {groups} }}\n");
    let nics = format!("  per_group_by_zone: {{ {zone}: {nics} }}\n");
    yaml.replace("hosts:\n", &format!("hosts:\n{groups}{nics}"))
}

/// Returns the file and line number, from 0, of each switch route over ports.
fn routes(tree: &Memory) -> Vec<(Utf8PathBuf, usize)> {
    let mut found = Vec::new();
    for (path, bytes) in &tree.files {
        if path.starts_with("switches") && path.file_name() == Some("ip.batch") {
            let lines = std::str::from_utf8(bytes).expect("text").lines().enumerate();
            let routes =
                lines.filter(|(_, line)| line.starts_with("route replace") && line.contains(" dev "));
            found.extend(routes.map(|(number, _)| (path.clone(), number)));
        }
    }
    found
}

/// Removes a route, or only its first next hop if it has several and `part` is set.
fn damage(tree: &mut Memory, (path, number): &(Utf8PathBuf, usize), part: bool) {
    let text = String::from_utf8(tree.files[path].clone()).expect("text");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = &lines[*number];
    match line.match_indices(" nexthop ").nth(1) {
        Some((second, _)) if part => {
            let first = line.find(" nexthop ").expect("there are two");
            lines[*number] = format!("{}{}", &line[..first], &line[second..]);
        }
        _ => drop(lines.remove(*number)),
    }
    tree.files.insert(path.clone(), (lines.join("\n") + "\n").into_bytes());
}

fn judged(tree: &Memory) -> Report {
    verify(tree, &Options { digests: false, ..Options::default() }).expect("the tree can be read")
}

fn counted(report: &Report) -> Deliveries {
    let counts = report.delivery.expect("switches choose paths");
    Deliveries { arrive: counts.arrive, doubtful: counts.doubtful, ways: counts.ways }
}

/// Counts cases with a smaller zone, and cases in which damage loses a delivery.
#[derive(Debug, Default)]
struct Seen {
    smaller: Cell<u32>,
    lost: Cell<u32>,
}

fn add(count: &Cell<u32>, is_one: bool) {
    count.set(count.get() + u32::from(is_one));
}

#[test]
fn the_own_walker_counts_what_verify_counts() {
    let sizes = ([1..3u16, 1..3u16], 0..2u16);
    let cases = (shapes_with_exceptions(), sizes, any::<bool>(), any::<Index>(), any::<bool>());
    let seen = Seen::default();
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() });
    let result = runner.run(&cases, |(shape, sizes, ipv4, at, part)| {
        let yaml = shape.yaml_with_routing(Routing::EcmpStatic);
        let yaml = if ipv4 { with_ipv4(&yaml) } else { yaml };
        compare(&yaml, sizes, (at, part), &seen)
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(seen.smaller.get() > 0 && seen.lost.get() > 8, "{seen:?}");
}

/// Compares the results of the walker and verify, before and after damage.
fn compare(
    yaml: &str,
    (sizes, zone): ([u16; 2], u16),
    (at, part): (Index, bool),
    seen: &Seen,
) -> Result<(), TestCaseError> {
    // Sizes that no zone of the shape has are ignored.
    let smaller = try_plan(&uneven(yaml, sizes, zone));
    add(&seen.smaller, smaller.is_ok());
    let plan = smaller.or_else(|_| try_plan(yaml)).expect("a valid shape");
    let mut tree = common::tree(&plan);
    let network = Network::read(&tree);
    let addresses = network.addresses();
    let manifest: Value =
        serde_json::from_slice(&tree.files[camino::Utf8Path::new("manifest.json")]).expect("JSON");
    let nics = network.nic_ports.iter().map(|(_, port)| nic(port)).collect::<BTreeSet<_>>();
    prop_assert!(nics.len() as u64 <= manifest["counts"]["nics"].as_u64().expect("a number"));
    prop_assert_eq!(addresses.len(), nics.len());
    let report = judged(&tree);
    prop_assert!(report.holds(), "{}\n{}", yaml, report.text());
    let walked = network.deliveries(&addresses);
    prop_assert_eq!(&walked, &counted(&report), "{}", yaml);
    let routes = routes(&tree);
    if routes.is_empty() {
        return Ok(());
    }
    damage(&mut tree, at.get(&routes), part);
    let damaged = Network::read(&tree).deliveries(&addresses);
    add(&seen.lost, damaged.arrive < walked.arrive);
    let report = judged(&tree);
    prop_assert_eq!(&damaged, &counted(&report), "{}", yaml);
    // verify finds lost packets. It also finds a lost choice, even if every packet still arrives.
    prop_assert!(damaged == walked || !report.holds(), "{}", yaml);
    Ok(())
}
