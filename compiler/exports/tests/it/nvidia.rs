//! Topologies for tools of NVIDIA: positions, limits and names that k8s-launch-kit reads.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Family;
use closc_exports::air::{Options, Simulation};
use closc_exports::l8k::{self, LaunchKit};
use closc_plan::Plan;
use serde_json::Value;

/// Two planes, three units of two rails and four nodes.
const RAILS: &str = "\
fabric: rails
planes: 2
routing: bgp-unnumbered
hosts: { groups: 6, per_group: 4, nics_per_node: 2, rails: 2, nic: { speed: 400G, lanes: 4 } }
tiers:
  t0: { platform: spectrum4-sn5600-256x200g, os: nvue, up: 2 }
  t1: { platform: spectrum4-sn5600-256x200g, os: nvue }
addresses: { hosts: 10.0.0.0/8 }
warnings: { W0901: allow }
";

/// Four zones, of which a node is in two, and T2s.
const ZONES: &str = "\
fabric: zones
planes: 1
zones: 4
routing: bgp-unnumbered
hosts: { groups: 2, per_group: 2, nics_per_node: 4, rails: 4, zones_per_node: 2, nic: { speed: 800G, lanes: 8 } }
tiers:
  t0: { platform: spectrum4-sn5600, os: nvue, up: 2 }
  t1: { platform: spectrum4-sn5600, os: nvue, up: 2 }
  t2: { platform: spectrum4-sn5600, os: nvue, ports_per_zone: 2 }
addresses: { hosts: 10.0.0.0/8 }
warnings: { W0901: allow }
";

fn plan(text: &str) -> Plan {
    closc_tests::shape::plan(text)
}

fn text(file: &closc_exports::File<'_>) -> String {
    let mut out = Vec::new();
    file.write(&mut out).expect("memory takes everything");
    String::from_utf8(out).expect("text")
}

fn topology(plan: &Plan) -> Value {
    let kit = LaunchKit::new(plan, Family::V4).unwrap_or_else(|refused| panic!("{refused}"));
    serde_json::from_str(&text(&kit.file())).expect("JSON")
}

fn refusal(text: &str, family: Family) -> String {
    LaunchKit::new(&plan(text), family).err().map(|refused| refused.to_string()).unwrap_or_default()
}

fn options(plain: bool) -> Options {
    Options { plain, nic_model: "connectx8".to_owned(), images: BTreeMap::new() }
}

/// Returns the manifest, and the names in Air by the names in the fabric file.
fn air(plan: &Plan, plain: bool) -> (Value, BTreeMap<String, String>) {
    let simulation = Simulation::new(plan, Family::V4, options(plain));
    let simulation = simulation.unwrap_or_else(|refused| panic!("{refused}"));
    let files: Vec<String> = simulation.files().iter().map(text).collect();
    let pair = |row: &str| row.split_once(',').map(|(own, name)| (own.to_owned(), name.to_owned()));
    let names = files[1].lines().skip(1).filter_map(pair).collect();
    (serde_json::from_str(&files[0]).expect("JSON"), names)
}

fn air_refusal(text: &str, options: Options) -> String {
    let plan = plan(text);
    Simulation::new(&plan, Family::V4, options).err().map(|refused| refused.to_string()).unwrap_or_default()
}

/// A cable of a node: node, rail, plane, and pod and unit of both ends.
type HostCable = (String, u64, u64, [u64; 2], [u64; 2]);

fn host_cables(topology: &Value) -> Vec<HostCable> {
    let number = |end: &Value, key: &str| end["attributes"][key].as_u64().expect(key);
    let links = topology["links"].as_array().expect("links").iter();
    let hosts = links.filter(|link| link[1]["attributes"]["role"] == "host");
    hosts
        .map(|link| {
            let (leaf, host) = (&link[0], &link[1]);
            let rail = number(host, "rail");
            let served = leaf["attributes"]["rail_group"].as_array().expect("rails");
            assert!(served.contains(&rail.into()), "{link}");
            let place = |end: &Value| [number(end, "pod"), number(end, "su")];
            let node = host["node"].as_str().expect("a name").to_owned();
            (node, rail, number(leaf, "plane"), place(host), place(leaf))
        })
        .collect()
}

#[test]
fn each_nic_port_is_a_cable_of_its_rail_and_plane() {
    let plan = plan(RAILS);
    let topology = topology(&plan);
    let cables = host_cables(&topology);
    let counts = plan.fabric().counts();
    assert_eq!(cables.len() as u64, counts.host_links);
    let links = topology["links"].as_array().expect("links").len() as u64;
    assert_eq!(links, counts.host_links + counts.fabric_links);
    let ports: BTreeSet<_> = cables.iter().map(|(node, rail, plane, ..)| (node, rail, plane)).collect();
    assert_eq!(ports.len(), 12 * 2 * 2);
    assert!(cables.iter().all(|(.., host, leaf)| host == leaf));
    // Nodes are numbered by their first cables: these are in the order of the names.
    let order: Vec<&String> = cables.iter().map(|(node, ..)| node).collect();
    assert!(order.is_sorted());
    let sixth = cables.iter().find(|(node, ..)| node == "su002-n002").expect("there");
    assert_eq!(sixth.3, [0, 1]);
    let roles = |role: &str| {
        let nodes = topology["nodes"].as_array().expect("nodes").iter();
        nodes.filter(|node| node["role"] == role).count() as u64
    };
    assert_eq!([roles("leaf"), roles("spine"), roles("host")], [counts.t0, counts.t1, counts.nodes]);
}

#[test]
fn rails_of_one_t0_stay_apart() {
    // Four NICs on two rails: a T0 serves two NICs of a node.
    let text = RAILS.replace("nics_per_node: 2", "nics_per_node: 4");
    let topology = topology(&plan(&text));
    let cables = host_cables(&topology);
    let rails: BTreeSet<u64> = cables.iter().map(|(_, rail, ..)| *rail).collect();
    assert_eq!(rails, BTreeSet::from([0, 1, 2, 3]));
    let first = topology["links"][0][0]["attributes"]["rail_group"].clone();
    assert_eq!(first, serde_json::json!([0, 2]));
    let said = air_refusal(&text, options(false));
    assert!(
        said.contains("one NIC of a node per T0, but there are several: 4 NICs of a node on 2 rails"),
        "{said}"
    );
    assert!(said.contains("`closc export l8k`"), "{said}");
    assert_eq!(air_refusal(&text, options(true)), "");
}

#[test]
fn zones_that_share_nodes_are_one_pod() {
    let plan = plan(ZONES);
    assert!(l8k::has_pods(&plan));
    let cables = host_cables(&topology(&plan));
    assert!(cables.iter().all(|(.., host, leaf)| host == leaf));
    let pods: BTreeSet<u64> = cables.iter().map(|(.., host, _)| host[0]).collect();
    assert_eq!(pods, BTreeSet::from([0, 1]));
    let (manifest, names) = air(&plan, false);
    assert_eq!(names["z2-su001-n002"], "pod02-su01-h02");
    // The second zone of a pod has its rails 2 and 3.
    assert_eq!(names["z3-p0-t0-001"], "leaf-p1-pod02-su001-r3");
    assert_eq!(
        manifest["content"]["links"].as_array().expect("links").len(),
        4 * 2 * 2 + 4 * 2 * 2 + 4 * 2 * 2
    );
}

#[test]
fn limits_name_their_field_and_its_source() {
    let rails = RAILS.replace("nics_per_node: 2, rails: 2", "nics_per_node: 9, rails: 9");
    let rails = rails.replace("groups: 6", "groups: 9");
    let said = refusal(&rails, Family::V4);
    assert!(said.contains("at most 8 rails (3 bits of an IPv4 address, addressing.go)"), "{said}");
    assert!(said.contains("there are 9 (NICs 0 to 8 of a node)"), "{said}");
    assert_eq!(refusal(&rails, Family::V6), "");
    let apart = RAILS.replace("up: 2", "up: { count: 2, first_cage: 63 }");
    let nodes = |count: u16| apart.replace("per_group: 4", &format!("per_group: {count}"));
    let said = refusal(&nodes(129), Family::V4);
    assert!(said.contains("at most 128 nodes per unit (7 bits") && said.contains("are 129 ("), "{said}");
    assert_eq!(refusal(&nodes(128), Family::V4), "");
    let units = |count: u16| RAILS.replace("groups: 6", &format!("groups: {}", 2 * count));
    let said = refusal(&units(65), Family::V4);
    assert!(said.contains("at most 64 units (6 bits") && said.contains("65 (units 1 to 65)"), "{said}");
    assert_eq!(refusal(&units(64), Family::V4), "");
    assert_eq!(refusal(&units(65), Family::V6), "");
    let many = ZONES
        .replace("spectrum4-sn5600,", "spectrum4-sn5600-256x200g,")
        .replace("speed: 800G, lanes: 8", "speed: 200G, lanes: 2")
        .replace("10.0.0.0/8 }", "10.0.0.0/8, widths: { zone: 7 } }");
    let pods = |count: u16| many.replace("zones: 4", &format!("zones: {count}"));
    let said = refusal(&pods(66), Family::V4);
    assert!(said.contains("at most 32 zones (5 bits"), "{said}");
    assert!(said.contains("33 (66 zones / 2 per node)"), "{said}");
    assert_eq!(refusal(&pods(64), Family::V4), "");
}

#[test]
fn planes_are_one_two_or_four_from_the_first() {
    let planes = |count: u8| {
        let speed = u32::from(count) * 100;
        RAILS
            .replace("planes: 2", &format!("planes: {count}"))
            .replace("speed: 400G, lanes: 4", &format!("speed: {speed}G, lanes: {count}"))
            .replace("256x200g", "256x100g")
    };
    for count in [1, 2, 4] {
        assert_eq!(refusal(&planes(count), Family::V4), "");
    }
    for count in [3, 8] {
        let said = refusal(&planes(count), Family::V6);
        let expected = format!("(`numberOfPlanes`, configuration.md), but there are {count}");
        assert!(said.contains(&expected), "{said}");
    }
    let absent = |list: &str| format!("{}exceptions: {{ absent: [{list}] }}\n", planes(4));
    assert_eq!(refusal(&absent("plane 2, plane 3"), Family::V4), "");
    let said = refusal(&absent("plane 0, plane 1"), Family::V4);
    assert!(said.contains("planes without gaps from plane 0 on, but plane 0 is absent"), "{said}");
    let (_, names) = air(&plan(&absent("plane 2, plane 3")), false);
    assert!(names.values().any(|name| name == "leaf-p2-su003-r2"), "{names:?}");
    assert!(!names.values().any(|name| name.starts_with("leaf-p3")), "{names:?}");
}

#[test]
fn absent_elements_are_counted_and_renumber_nothing_in_air() {
    let with = |list: &str| plan(&format!("{RAILS}exceptions: {{ absent: [{list}] }}\n"));
    let node = with("su001-n002/nic0, su001-n002/nic1");
    assert_eq!(l8k::uncabled_ports(&node, 3), (0, Vec::new()));
    assert_eq!(l8k::renumbered_node(&node).as_deref(), Some("su001-n003"));
    let (_, names) = air(&node, false);
    assert_eq!(names["su001-n003"], "su01-h03");
    // The first node has no cable on the first rail. It is still the first.
    let nic = with("su001-n001/nic0, su002-n001/nic1.p1");
    let ports = ["su001-n001/nic0.p0", "su001-n001/nic0.p1", "su002-n001/nic1.p1"];
    assert_eq!(l8k::uncabled_ports(&nic, 3), (3, ports.map(str::to_owned).to_vec()));
    assert_eq!(l8k::uncabled_ports(&nic, 1), (3, vec![ports[0].to_owned()]));
    assert_eq!(l8k::renumbered_node(&nic), None);
    assert_eq!(host_cables(&topology(&nic))[0].0, "su001-n001");
    let drained = plan(&format!("{RAILS}exceptions: {{ drained: [plane 1, su001-n001/nic0.p0] }}\n"));
    assert_eq!(host_cables(&topology(&drained)), host_cables(&topology(&plan(RAILS))));
}

#[test]
fn devices_have_the_names_that_the_kit_reads() {
    let plan = plan(RAILS);
    let (manifest, names) = air(&plan, false);
    assert_eq!(names["su003-n004"], "su03-h04");
    assert_eq!(names["p1-t0-006"], "leaf-p2-su003-r2");
    assert_eq!(names["p1-t1-002"], "p1-t1-002");
    let content = &manifest["content"];
    let node = &content["nodes"]["su01-h01"];
    assert_eq!([&node["model"], &node["emulation_type"]], ["host", "HOST"]);
    assert_eq!(node["network_pci"]["rail2"]["number_of_ports"], 2);
    assert_eq!(node["network_pci"].as_object().expect("NICs").len(), 2);
    let links = content["links"].as_array().expect("links");
    let counts = plan.fabric().counts();
    assert_eq!(links.len() as u64, counts.host_links + counts.fabric_links);
    let last = links.iter().rfind(|link| link[0]["network_pci"].is_string()).expect("a cable");
    let expected = serde_json::json!([
        { "node": "su03-h04", "interface": "rail2p2", "network_pci": "rail2" },
        { "node": "leaf-p2-su003-r2", "interface": last[1]["interface"] },
    ]);
    assert_eq!(*last, expected);
    let known: BTreeSet<&String> = content["nodes"].as_object().expect("nodes").keys().collect();
    assert_eq!(known.len() as u64, counts.t0 + counts.t1 + counts.nodes);
    let ends = links.iter().flat_map(|link| link.as_array().expect("ends"));
    let ends: Vec<(&str, &str)> = ends
        .map(|end| (end["node"].as_str().expect("a node"), end["interface"].as_str().expect("a port")))
        .collect();
    assert!(ends.iter().all(|(node, _)| known.contains(&(*node).to_owned())));
    assert_eq!(ends.iter().collect::<BTreeSet<_>>().len(), ends.len(), "an interface has one cable");
}

#[test]
fn readable_names_are_kept() {
    // With one rail, patterns can follow the contract.
    let one = RAILS.replace("nics_per_node: 2, rails: 2", "nics_per_node: 1");
    let named = |t0: &str, node: &str| format!("{one}naming: {{ t0: \"{t0}\", node: \"{node}\" }}\n");
    let own = plan(&named("leaf-p{plane+1}-su{index:03}-r1", "gpu-su{unit:02}-rack-h{node:02}"));
    let (_, names) = air(&own, false);
    assert!(names.iter().all(|(own, name)| own == name), "{names:?}");
    // Planes from 0, or a second number behind `su`, would be read as another position.
    let other = plan(&named("leaf-p{plane}-su{index:03}-r1", "su9-su{unit:02}-h{node:02}"));
    let (_, names) = air(&other, false);
    assert_eq!(names["leaf-p0-su001-r1"], "leaf-p1-su001-r1");
    assert_eq!(names["su9-su01-h01"], "su01-h01");
    let taken = named("t0-p{plane}-{index:03}", "n{unit}-{node}");
    let taken = taken.replace("naming: {", "naming: { t1: \"leaf-p{plane+1}-su{index:03}-r1\",");
    let said = air_refusal(&taken, options(false));
    assert!(said.contains("`leaf-p1-su001-r1` is not a valid name for NVIDIA Air"), "{said}");
    assert_eq!(air_refusal(&taken, options(true)), "");
}

#[test]
fn plain_simulations_have_the_fabrics_names_and_any_size() {
    let eight = RAILS
        .replace("planes: 2", "planes: 8")
        .replace("speed: 400G, lanes: 4", "speed: 800G, lanes: 8")
        .replace("256x200g", "256x100g");
    assert_ne!(air_refusal(&eight, options(false)), "");
    let (manifest, names) = air(&plan(&eight), true);
    assert!(names.iter().all(|(own, name)| own == name));
    let node = &manifest["content"]["nodes"]["su001-n001"];
    assert_eq!(
        *node,
        serde_json::json!({ "os": "generic/ubuntu2404", "cpu": 2, "memory": 2048, "storage": 10 })
    );
    let first = &manifest["content"]["links"][0];
    assert_eq!(first[0], serde_json::json!({ "node": "su001-n001", "interface": "nic0p0" }));
    assert_eq!(manifest["content"]["nodes"]["p7-t1-002"]["os"], "cumulus-vx-5.16.1");
}

#[test]
fn images_are_known_or_named() {
    let system = |os: &str| RAILS.replace("os: nvue", &format!("os: {os}"));
    let (manifest, _) = air(&plan(&system("sonic")), false);
    assert_eq!(manifest["content"]["nodes"]["leaf-p1-su001-r1"]["os"], "sonic-vs-202305");
    // The interfaces of SONiC's image are numbered.
    assert_eq!(manifest["content"]["links"][0][1]["interface"], "eth1");
    let eos = RAILS.replace("spectrum4-sn5600-256x200g, os: nvue", "th5-256x200g, os: eos");
    let eos = plan(&format!("{eos}qos: none\n"));
    let refused = Simulation::new(&eos, Family::V4, options(false)).err().expect("refused").to_string();
    assert!(refused.contains("no known image for `eos`, which p0-t0-001 runs"), "{refused}");
    let images = BTreeMap::from([("eos".to_owned(), "veos-4.35".to_owned())]);
    let simulation = Simulation::new(&eos, Family::V4, Options { images, ..options(false) });
    let simulation = simulation.unwrap_or_else(|refused| panic!("{refused}"));
    assert!(text(&simulation.files()[0]).contains("\"os\":\"veos-4.35\""));
}
