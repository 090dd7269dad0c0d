//! Inputs of emulators and inventories: every device and cable once, by stable names.

use std::collections::{BTreeMap, BTreeSet};

use closc_exports::containerlab::{
    CONTAINERS, Container, Device, LINUX, Lab, interface_names, lane_map, port_config,
};
use closc_exports::{File, resources};
use closc_plan::Plan;

/// Two planes of SONiC switches, with an absent NIC, T1 and cable.
const SONIC: &str = "\
fabric: uneven
planes: 2
hosts: { groups: 4, per_group: 4, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: spectrum4-sn5600-256x100g, os: sonic, up: 2 }
  t1: { platform: spectrum4-sn5600-256x100g, os: sonic }
exceptions:
  absent: [su001-n001/nic0, p0-t1-002, p1-t0-002--p1-t1-001]
";

fn plan(text: &str) -> Plan {
    closc_tests::shape::plan(text)
}

fn text(file: &File<'_>) -> String {
    let mut out = Vec::new();
    file.write(&mut out).expect("memory takes everything");
    String::from_utf8(out).expect("text")
}

fn devices(plan: &Plan) -> Vec<Device> {
    let sonic = ["config_db.json".to_owned()];
    let switches = plan.switches().map(|switch| {
        let name = plan.switch_name(switch);
        let container = Container::of(&name, &sonic).expect("there is one");
        let numbered = interface_names(&plan.device(switch).ports);
        Device {
            name,
            group: switch.tier.keyword(),
            container,
            image: None,
            files: sonic.to_vec(),
            interface_names: numbered,
        }
    });
    let nodes = plan.nodes().map(|node| Device {
        name: plan.node_name(node),
        group: "node",
        container: &LINUX,
        image: Some("mine:1".to_owned()),
        files: vec!["ip.batch".to_owned()],
        interface_names: BTreeMap::new(),
    });
    let mut all: Vec<Device> = switches.chain(nodes).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

#[test]
fn a_lab_has_every_cable_once_and_numbers_the_interfaces_of_sonic() {
    let plan = plan(SONIC);
    let lab = Lab::new(&plan, devices(&plan)).expect("names are short");
    let topology = text(&lab.file());
    let counts = plan.fabric().counts();
    let links: Vec<&str> =
        topology.lines().filter_map(|line| line.split_once("endpoints: ").map(|(_, rest)| rest)).collect();
    assert_eq!(links.len() as u64, counts.host_links + counts.fabric_links);
    let ends: Vec<&str> = links
        .iter()
        .flat_map(|link| link.split('"').filter(|part| part.contains(':') && !part.contains("mtu")))
        .collect();
    assert_eq!(ends.len(), 2 * links.len());
    assert_eq!(ends.iter().collect::<BTreeSet<_>>().len(), ends.len(), "an interface has one cable");
    // NIC 1 of the first group is absent, so the first T0 numbers from the second NIC on; uplinks follow.
    assert!(topology.contains("[\"su001-n002:nic0p0\", \"p0-t0-001:eth1\"], mtu: 9216"), "{topology}");
    assert!(topology.contains("[\"p0-t0-001:eth4\", \"p0-t1-001:eth1\"]"), "{topology}");
    assert!(!topology.contains("p0-t1-002"), "{topology}");
    let bind = "      kind: sonic-vs\n      image: \"docker-sonic-vs:latest\"\n      group: t0\n      binds:\n        \
                - \"configs/p0-t0-001/config_db.json:/var/sonic/config_db.json:ro\"\n";
    assert!(topology.contains(bind), "{topology}");
    let node = "      kind: linux\n      image: \"mine:1\"\n      group: node\n      binds:\n        \
                - \"configs/su001-n002/ip.batch:/etc/closc/ip.batch:ro\"\n      exec:\n        \
                - \"ip -batch /etc/closc/ip.batch\"\n";
    assert!(topology.contains(node), "{topology}");
}

#[test]
fn lanes_and_ports_are_those_that_have_cables() {
    let plan = plan(SONIC);
    let first = plan.switches().next().expect("there is one");
    let ports = plan.device(first).ports;
    let (map, config) = (lane_map(&ports), port_config(&ports));
    let lanes = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (map, config) = (lanes(&map), lanes(&config));
    assert_eq!((map.len(), config.len()), (4, 5), "{map:?} {config:?}");
    for (line, port) in map.iter().zip(&config[1..]) {
        let lanes = line.split_once(':').expect("a number and lanes").1;
        assert_eq!(port.split(' ').nth(1), Some(lanes), "{line} {port}");
    }
    assert!(map[0].starts_with("eth1:") && map[3].starts_with("eth4:"));
}

#[test]
fn containers_are_known_by_files() {
    let of = |files: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        Container::of("x", &files).map(|container| container.name).map_err(|refused| refused.to_string())
    };
    assert_eq!(of(&["frr.conf", "config_db.json"]), Ok("sonic-vs"));
    assert_eq!(of(&["daemons", "frr.conf", "sysctl.conf"]), Ok("frr"));
    assert_eq!(of(&["sysctl.conf", "ip.batch"]), Ok("linux"));
    assert!(of(&["entries.txtpb"]).is_err_and(|why| why.contains("load the files of `x`: entries.txtpb")));
    assert!(CONTAINERS.iter().all(|container| !container.name.is_empty()));
}

#[test]
fn a_resource_has_an_address_of_its_own_and_depends_on_what_is_there() {
    let plan = plan(SONIC);
    let list: serde_json::Value = serde_json::from_str(&text(&resources::list(&plan))).expect("JSON");
    assert_eq!(list["schema"], "closc-resources/1");
    let items = list["resources"].as_array().expect("a list");
    let counts = plan.fabric().counts();
    let cables = counts.host_links + counts.fabric_links;
    assert_eq!(items.len() as u64, 1 + counts.t0 + counts.t1 + counts.nodes + counts.nics + cables);
    let addresses: BTreeSet<&str> = items.iter().filter_map(|item| item["address"].as_str()).collect();
    assert_eq!(addresses.len(), items.len());
    for item in items {
        let above = item["depends_on"].as_array().expect("a list");
        assert!(above.iter().all(|other| addresses.contains(other.as_str().expect("an address"))), "{item}");
    }
    // Growth adds resources and changes only the numbers of the fabric.
    let grown = self::plan(&SONIC.replace("groups: 4", "groups: 5"));
    let grown: serde_json::Value = serde_json::from_str(&text(&resources::list(&grown))).expect("JSON");
    let grown: BTreeSet<String> =
        grown["resources"].as_array().expect("a list").iter().map(ToString::to_string).collect();
    assert!(items[1..].iter().all(|item| grown.contains(&item.to_string())));
}
