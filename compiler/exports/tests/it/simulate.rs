//! Inputs of simulators: every cable that carries traffic, and refusals if a format has one number for
//! different values.

use std::collections::{BTreeMap, BTreeSet};

use closc_exports::File;
use closc_exports::simulate::{Flow, Pattern, Traffic, astra, htsim, infragraph, ns3, planes};
use closc_plan::Plan;
use closc_topology::PlaneId;

/// Two tiers, 4 groups of 4 NICs, twice as much below as above.
const WHOLE: &str = "\
fabric: whole
planes: 2
hosts: { groups: 4, per_group: 4, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: linux, os: linux, up: 2 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 2m, medium: virtual }
  t0-t1: { length: 20m, medium: virtual }
";

/// The same with a NIC, a T1 and a cable absent, a T0 drained, and a longer cable.
const UNEVEN: &str = "\
exceptions:
  absent: [su001-n001/nic0, p0-t1-002, p0-t0-002--p0-t1-001]
  drained: [p1-t0-004]
  cables:
    su002-n001/nic0.p0: { length: 3m, medium: virtual }
";

fn plan(exceptions: &str) -> Plan {
    closc_tests::shape::plan(&format!("{WHOLE}{exceptions}"))
}

fn text(file: &File<'_>) -> String {
    let mut out = Vec::new();
    file.write(&mut out).expect("memory takes everything");
    String::from_utf8(out).expect("text")
}

fn texts(files: &[File<'_>]) -> BTreeMap<String, String> {
    files.iter().map(|file| (file.path.clone(), text(file))).collect()
}

fn ring(bytes: u64) -> Traffic {
    Traffic { pattern: Pattern::Ring { bytes }, planes: 2 }
}

#[test]
fn a_graph_of_numbers_has_every_cable_that_carries_traffic() {
    for exceptions in ["", UNEVEN] {
        let plan = plan(exceptions);
        for plane in [PlaneId(0), PlaneId(1)] {
            let simulation =
                ns3::Simulation::new(&plan, plane, &ring(4000), ns3::Reader::HPCC).expect("small");
            let files = texts(&simulation.files("ns3"));
            let topology = &files[&format!("ns3/plane-{plane}/topology.txt")];
            let mut lines = topology.lines();
            let head: Vec<usize> = numbers(lines.next().expect("a first line"));
            let switches: Vec<usize> = numbers(lines.next().expect("a second line"));
            let (nodes, links) = (head[0], head[2]);
            assert_eq!((switches.len(), lines.clone().count()), (head[1], links));
            let hosts = nodes - switches.len();
            assert_eq!(switches, (hosts..nodes).collect::<Vec<_>>());
            let fabric = plan.fabric();
            let carrying = fabric.host_links(plane).chain(fabric.switch_links(plane));
            assert_eq!(links, carrying.filter(|link| !fabric.is_drained(*link)).count());
            let mut seen = BTreeSet::new();
            for line in lines {
                let words: Vec<&str> = line.split(' ').collect();
                let ends: Vec<usize> = numbers(&words[..2].join(" "));
                assert!(ends[0] < nodes && (hosts..nodes).contains(&ends[1]) && seen.insert(ends), "{line}");
                assert_eq!((words[2], words[4]), ("100Gbps", "0"));
            }
            let csv = &files[&format!("ns3/plane-{plane}/nodes.csv")];
            assert_eq!(csv.lines().count(), nodes + 1);
            flows_pass_cables_that_are_there(&files, plane, &seen, hosts);
        }
    }
}

fn flows_pass_cables_that_are_there(
    files: &BTreeMap<String, String>,
    plane: PlaneId,
    cables: &BTreeSet<Vec<usize>>,
    hosts: usize,
) {
    let flows = &files[&format!("ns3/plane-{plane}/flow.txt")];
    assert_eq!(flows.lines().next(), Some(hosts.to_string().as_str()));
    assert!(flows.lines().skip(1).all(|flow| flow.contains(" 4791 2000 0")), "{flows}");
    let paths = &files[&format!("ns3/plane-{plane}/paths.txt")];
    assert_eq!(paths.lines().count(), hosts);
    let is_cable = |a: usize, b: usize| cables.contains(&vec![a, b]) || cables.contains(&vec![b, a]);
    let mut found = 0;
    for line in paths.lines().filter(|line| !line.contains(" - ")) {
        let nodes: Vec<usize> = numbers(line.splitn(4, ' ').nth(3).expect("nodes"));
        assert!(nodes.windows(2).all(|pair| is_cable(pair[0], pair[1])), "{line}");
        found += 1;
    }
    assert!(found > hosts / 2, "{paths}");
}

fn numbers(text: &str) -> Vec<usize> {
    text.split(' ').map(|word| word.parse().expect("a number")).collect()
}

#[test]
fn htsim_is_given_counts_that_add_up_and_nothing_of_what_has_holes() {
    let whole = plan("");
    let simulation = htsim::Simulation::new(&whole, PlaneId(1), &ring(4000)).expect("whole");
    let files = texts(&simulation.files("htsim"));
    let topo = &files["htsim/plane-1/plane.topo"];
    for part in [
        "Nodes 16\nTiers 2\nPodsize 16\n",
        "Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\nDownlink_Latency_ns 511\n\
         Switch_Latency_ns 700\nOversubscribed 2\n",
        "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 102\n",
    ] {
        assert!(topo.contains(part), "{part}\n{topo}");
    }
    let matrix = &files["htsim/plane-1/flows.cm"];
    assert!(matrix.starts_with("Nodes 16\nConnections 16\n0->1 id 1 start 0 size 2000\n"), "{matrix}");
    let uneven = plan(UNEVEN);
    let refused = htsim::Simulation::new(&uneven, PlaneId(0), &ring(1)).err().expect("there are holes");
    let said = refused.to_string();
    assert!(said.contains("1 NICs are absent, and 1 switches and 1 cables absent or drained"), "{said}");
    let large = htsim::Simulation::new(&whole, PlaneId(0), &ring(1 << 40)).err().expect("an int has 31 bits");
    assert!(large.to_string().contains("supports at most 2147483647 bytes in a flow"), "{large}");
}

#[test]
fn htsim_refuses_what_is_no_fat_tree_of_counts() {
    let cases = [
        ("up: 2", "up: 3", "a T0 has 4 x 100G below and 3 x 100G above"),
        ("up: 2", "up: 8", "a T0 has 4 x 100G below and 8 x 100G above"),
    ];
    for (old, new, why) in cases {
        let plan = closc_tests::shape::plan(&WHOLE.replace(old, new));
        let refused = htsim::Simulation::new(&plan, PlaneId(0), &ring(1)).err();
        let said = refused.map(|refused| refused.to_string()).unwrap_or_default();
        assert!(said.contains(why), "{new}: {said}");
    }
    let cable = "exceptions: { cables: { su002-n001/nic0.p0: { length: 3m, medium: virtual } } }\n";
    let refused = htsim::Simulation::new(&plan(cable), PlaneId(0), &ring(1)).err().expect("two lengths");
    assert!(refused.to_string().contains("`su002-n001/nic0.p0` is 3m of 100G"), "{refused}");
    assert!(htsim::Simulation::new(&plan(cable), PlaneId(1), &ring(1)).is_ok());
}

#[test]
fn ns3_refuses_what_its_readers_cannot_count() {
    let parallel = WHOLE.replace("up: 2 }", "up: 4, parallel: 2 }");
    let plan = closc_tests::shape::plan(&parallel);
    let refused =
        ns3::Simulation::new(&plan, PlaneId(0), &ring(1), ns3::Reader::HPCC).err().expect("two cables");
    assert!(refused.to_string().contains("a T0 and T1 are connected by 2"), "{refused}");
    let whole = self::plan("");
    let few = ns3::Reader { name: "few", ports: 5 };
    let refused = ns3::Simulation::new(&whole, PlaneId(0), &ring(1), few).err().expect("a T0 has 6 ports");
    assert!(
        refused.to_string().contains("supports at most 5 ports of a switch, but there are 6 (at `p0-t0-"),
        "{refused}"
    );
}

#[test]
fn flows_of_demands_leave_out_who_has_no_cable_in_the_plane() {
    let plan = plan("exceptions: { absent: [su002-n001/nic0.p0] }\n");
    let nics: Vec<_> = plan.fabric().nics().collect();
    let flow = |from: usize, to: usize| Flow { from: nics[from], to: nics[to], bytes: 10 };
    let traffic = Traffic { pattern: Pattern::Flows(vec![flow(0, 4), flow(1, 2)]), planes: 2 };
    let count = |plane| {
        let simulation = ns3::Simulation::new(&plan, plane, &traffic, ns3::Reader::HPCC).expect("small");
        texts(&simulation.files("x"))[&format!("x/plane-{plane}/flow.txt")].lines().count() - 1
    };
    assert_eq!((count(PlaneId(0)), count(PlaneId(1))), (1, 2));
}

#[test]
fn the_dimensions_of_astra_sim_multiply_to_the_nics() {
    let plan = plan("");
    let all: Vec<PlaneId> = plan.planes().collect();
    let network = text(&astra::network(&plan, &all, "a").expect("whole"));
    assert!(network.contains("npus_count: [ 4, 4 ]\n"), "{network}");
    // 200 Gb/s are 25 x 10^9 B/s, or 23.283064 times 2^30 B/s; above the T0, half of that remains.
    assert!(network.contains("bandwidth: [ 23.283064, 11.641532 ]"), "{network}");
    // 500 + 700 + 2 x 11 ns, plus two more switches and two cables of 102 ns.
    assert!(network.contains("latency: [ 611.0, 1413.0 ]"), "{network}");
    assert!(astra::network(&self::plan(UNEVEN), &all, "a").is_err());
}

#[test]
fn drained_planes_are_in_no_simulation() {
    let plan = plan("exceptions: { drained: [plane 1] }\n");
    assert_eq!(planes(&plan, &[]).expect("one is left"), [PlaneId(0)]);
    assert!(planes(&plan, &[PlaneId(1)]).is_err());
}

#[test]
fn infragraph_has_an_edge_for_each_cable_between_ports_that_its_devices_have() {
    for exceptions in ["", UNEVEN] {
        let plan = plan(exceptions);
        let all: Vec<PlaneId> = plan.planes().collect();
        let graph = infragraph::Graph::new(&plan, all).expect("plain names");
        let value: serde_json::Value = serde_json::from_str(&text(&graph.file())).expect("JSON");
        let items = |name: &str| value[name].as_array().expect("a list").clone();
        let word = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
        let ports: BTreeMap<String, u64> = items("devices")
            .iter()
            .map(|device| {
                let port = device["components"].as_array().expect("a list");
                let port = port.iter().find(|component| component["name"] == "port").expect("it has ports");
                (word(&device["name"]), port["count"].as_u64().expect("a number"))
            })
            .collect();
        let of: BTreeMap<String, u64> = items("instances")
            .iter()
            .map(|instance| (word(&instance["name"]), ports[&word(&instance["device"])]))
            .collect();
        let links: BTreeSet<String> = items("links").iter().map(|link| word(&link["name"])).collect();
        let mut used = BTreeSet::new();
        for edge in items("edges") {
            assert!(links.contains(&word(&edge["link"])));
            for end in [&edge["ep1"], &edge["ep2"]] {
                let (name, port) = (word(&end["instance"]), word(&end["component"]));
                let number = port.strip_prefix("port[").and_then(|rest| rest.strip_suffix(']'));
                let number: u64 = number.expect("a port").parse().expect("a number");
                assert!(number < of[name.strip_suffix("[0]").expect("the first")], "{edge}");
                assert!(used.insert((name, number)), "a port has one cable: {edge}");
            }
        }
        let fabric = plan.fabric();
        let carrying = fabric.links().filter(|link| !fabric.is_drained(*link)).count();
        assert_eq!(used.len(), 2 * carrying);
    }
}
