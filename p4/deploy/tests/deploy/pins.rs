//! A fabric of `os: pins`, whose switches are embedded ones: pushed with its own pipeline, with a P4Info of other numbers, and
//! with the public programs of PINS where they are. Every flow is walked by packets, and the second push sends nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;
use std::sync::Arc;

use closc_deploy::{Artefacts, Fleet, Inventory, PushReport, Tree, drift, open_gate, push, silent};
use closc_entries::Pipeline;
use closc_plan::Plan;
use closc_runtime::text;
use closc_tests::shape::Shape;
use closc_topology::{Link, Nic, NicPort};

use crate::bind::numbered_anew;
use crate::embedded::Site;
use crate::support::{Files, options, reader};

/// Flows between each two NICs in each plane.
const FLOWS: u16 = 16;

/// Two planes; one of two cables between a T0 and a T1 is absent, so weights differ.
fn planned() -> Plan {
    let shape = Shape {
        planes: 2,
        groups: 3,
        per_group: 2,
        rails: 1,
        t1: 2,
        parallel: 2,
        t2: None,
        exceptions: "routing: ecmp-static\nexceptions: { absent: [p0-t0-002--p0-t1-001#1] }\n".to_owned(),
    };
    let yaml = shape.yaml().replace("platform: linux, os: linux", "platform: th5-512x100g, os: pins");
    closc_tests::shape::plan(&yaml.replace("virtual", "dac"))
}

/// Ethernet, IPv6 and UDP.
fn frame(to_mac: [u8; 6], source: Ipv6Addr, destination: Ipv6Addr, source_port: u16) -> Vec<u8> {
    let mut frame = to_mac.to_vec();
    frame.extend([2, 0, 0, 0, 0, 2, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, 64]);
    frame.extend(source.octets());
    frame.extend(destination.octets());
    for field in [source_port, 4791, 8, 0] {
        frame.extend(field.to_be_bytes());
    }
    frame
}

/// Walks flows between all NICs in all planes; returns how many there were.
fn walk(site: &mut Site<'_>) -> usize {
    let plan = site.plan;
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let mut walked = 0;
    for (from, to) in nics.iter().flat_map(|from| nics.iter().map(move |to| (*from, *to))) {
        for plane in plan.topology().plane_ids().filter(|_| from != to) {
            let link = |nic: Nic| Link::Host(NicPort { nic, plane });
            let (enters, _) = site.nic(link(from), from);
            let (leaves, mac) = site.nic(link(to), to);
            let own = plan.device(from.t0(plane)).system.mac.0;
            for flow in 0..FLOWS {
                let (source, target) = (plan.addresses().nic(from), plan.addresses().nic(to));
                let packet = frame(own, source, target, flow.wrapping_mul(40_503));
                site.fabric.inject(enters.node, enters.port, packet);
                let delivered = site.fabric.run();
                let [delivery] = delivered.as_slice() else { panic!("{from:?} {to:?}: {delivered:?}") };
                assert_eq!((delivery.node, delivery.port), (leaves.node, leaves.port), "{from:?} {to:?}");
                assert_eq!(delivery.frame[..6], mac.0, "the MAC address of the NIC");
                let switches = 64 - delivery.frame[21];
                let same = from.t0(plane) == to.t0(plane);
                assert_eq!(switches, if same { 1 } else { 3 }, "hops");
                walked += 1;
            }
        }
    }
    walked
}

fn fleet(site: &Site<'_>, inventory: &Inventory, beside: &Files) -> Fleet {
    let tree = Arc::new(Tree::open(reader(site.lab.files.clone())).expect("a tree"));
    Fleet::new(inventory, &*reader(beside.clone()), &tree, |_| true).expect("they go together")
}

async fn pushed(fleet: &Fleet) -> PushReport {
    push(fleet, &options(), silent(), open_gate()).await
}

/// Pushes with a program of a site's own, where there is one, and looks at everything.
async fn prove(beside: &Files) {
    let plan = planned();
    let mut site = Site::start(&plan).await;
    let mut inventory = site.lab.inventory.clone();
    if !beside.is_empty() {
        for device in inventory.devices.values_mut() {
            let (p4info, device_config) = ("own.p4info.txtpb".to_owned(), "own.json".to_owned());
            device.artefacts = Some(Artefacts { p4info, device_config });
        }
    }
    let fleet = fleet(&site, &inventory, beside);
    let roles: BTreeSet<&str> = fleet.members.iter().map(|m| m.target.controller.role.name()).collect();
    assert_eq!(roles, BTreeSet::from(["sdn_controller"]));
    let report = pushed(&fleet).await;
    assert!(
        report.is_good(),
        "{:?}",
        report.failed().map(|(_, fault)| fault.to_string()).collect::<Vec<_>>()
    );
    let walked = walk(&mut site);
    assert_eq!(walked, 6 * 5 * 2 * usize::from(FLOWS));
    let again = pushed(&fleet).await;
    assert!(again.is_good() && again.updates().total() == 0, "{:?}", again.updates());
    let found = drift(&fleet, &options(), silent()).await;
    assert!(found.is_clean(), "{}", found.show());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fabric_is_pushed_with_its_own_pipeline_and_all_flows_arrive() {
    prove(&Files::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_p4info_with_other_numbers_is_bound_by_name() {
    let p4info = numbered_anew(Pipeline::sai().info().message().clone(), &[]);
    let program = Pipeline::sai().bmv2().as_bytes().to_vec();
    prove(&Files::from([
        ("own.p4info.txtpb".to_owned(), text::write(&p4info).into_bytes()),
        ("own.json".to_owned(), program),
    ]))
    .await;
}

/// Returns the public programs of PINS with a hash of source and port, as hardware hashes by itself: `CLOSC_SAI` names the
/// folder of what p4c made of them.
fn public() -> Vec<Files> {
    let Some(folder) = std::env::var_os("CLOSC_SAI") else {
        closc_skip::skip("CLOSC_SAI names no folder of compiled sonic-pins programs");
        return Vec::new();
    };
    let files = std::fs::read_dir(folder).expect("the folder can be read");
    let programs = files.map(|file| file.expect("so its files").path());
    let programs = programs.filter(|file| file.extension().is_some_and(|end| end == "json"));
    let read = |program: std::path::PathBuf| {
        let p4info = std::fs::read(program.with_extension("p4info.txtpb")).expect("a P4Info beside it");
        let json = std::fs::read(&program).expect("it can be read");
        let mut json: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
        for pipeline in json["pipelines"].as_array_mut().expect("there are some") {
            for profile in pipeline["action_profiles"].as_array_mut().expect("a list") {
                let field =
                    |name: &str, part: &str| serde_json::json!({ "type": "field", "value": [name, part] });
                profile["selector"] = serde_json::json!({
                    "algo": "crc32",
                    "input": [field("ipv6", "src_addr"), field("udp", "src_port")],
                });
            }
        }
        let json = serde_json::to_vec(&json).expect("it stays JSON");
        Files::from([("own.p4info.txtpb".to_owned(), p4info), ("own.json".to_owned(), json)])
    };
    let found: Vec<Files> = programs.map(read).collect();
    assert!(!found.is_empty(), "the folder has no program");
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fabric_is_pushed_to_the_public_programs() {
    for program in public() {
        prove(&program).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_have_the_weights_of_the_plan() {
    use closc_plan::Target;
    use closc_runtime::proto::v1::{entity::Entity, table_action::Type};
    let plan = planned();
    let site = Site::start(&plan).await;
    let fleet = fleet(&site, &site.lab.inventory, &Files::new());
    for member in &fleet.members {
        let switch = plan.topology().naming.parse_switch(&member.target.name).expect("of the fabric");
        let intent = plan.device(switch);
        let mut wanted: BTreeMap<Vec<u16>, usize> = BTreeMap::new();
        for route in &intent.routes {
            if let Target::Ports(hops) = &route.target
                && hops.len() > 1
            {
                let mut weights: Vec<u16> = hops.iter().map(|hop| hop.weight).collect();
                weights.sort_unstable();
                wanted.insert(weights, 1);
            }
        }
        let desired = (member.wanted)().expect("the tree has it");
        let mut found: BTreeMap<Vec<u16>, usize> = BTreeMap::new();
        for entity in desired.state.entities() {
            if let Some(Entity::TableEntry(entry)) = &entity.entity
                && let Some(Type::ActionProfileActionSet(set)) =
                    entry.action.as_ref().and_then(|action| action.r#type.as_ref())
            {
                let mut weights: Vec<u16> = set
                    .action_profile_actions
                    .iter()
                    .map(|one| u16::try_from(one.weight).expect("a small one"))
                    .collect();
                weights.sort_unstable();
                found.insert(weights, 1);
            }
        }
        assert_eq!(found, wanted, "{}", member.target.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_that_promises_room_for_one_route_gets_none() {
    let plan = planned();
    let site = Site::start(&plan).await;
    let mut p4info = Pipeline::sai().info().message().clone();
    for table in &mut p4info.tables {
        if table.preamble.as_ref().is_some_and(|preamble| preamble.alias == "ipv6_table") {
            table.size = 1;
        }
    }
    let beside = Files::from([
        ("own.p4info.txtpb".to_owned(), text::write(&p4info).into_bytes()),
        ("own.json".to_owned(), Pipeline::sai().bmv2().as_bytes().to_vec()),
    ]);
    let mut inventory = site.lab.inventory.clone();
    for device in inventory.devices.values_mut() {
        let (p4info, device_config) = ("own.p4info.txtpb".to_owned(), "own.json".to_owned());
        device.artefacts = Some(Artefacts { p4info, device_config });
    }
    let report = pushed(&self::fleet(&site, &inventory, &beside)).await;
    let faults: Vec<String> = report.failed().map(|(_, fault)| fault.to_string()).collect();
    assert!(!faults.is_empty() && report.updates().total() == 0, "{faults:?}");
    assert!(
        faults[0].contains("entries for `ingress.routing_lookup.ipv6_table`, which holds 1"),
        "{}",
        faults[0]
    );
}
