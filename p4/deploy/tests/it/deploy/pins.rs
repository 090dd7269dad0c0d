//! A fabric of `os: pins` with embedded switches. It is pushed with its own pipeline, with a P4Info with other ids, and
//! with the public programs of PINS, if available. Packets take the paths of all flows, and the second push sends
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;
use std::sync::Arc;

use closc_deploy::{
    Artefacts, DeviceDrift, Fleet, Inventory, Plan as PushPlan, PushReport, SwitchConnections, Tree, drift,
    open_gate, plan, push, push_plan, silent,
};
use closc_entries::Pipeline;
use closc_plan::Plan;
use closc_runtime::client::Pipeline as Program;
use closc_runtime::proto::v1;
use closc_runtime::proto::v1::set_forwarding_pipeline_config_request::Action;
use closc_runtime::testing::{FakeTarget, Script};
use closc_runtime::{EntityKey, text};
use closc_tests::shape::Shape;
use closc_topology::{Link, Nic, NicPort};

use crate::deploy::bind::renumber_ids;
use crate::deploy::embedded::Site;
use crate::support::{Files, Lab, T0, fault, options, reader, tree_of};

/// Flows between two NICs in each plane.
const FLOWS: u16 = 16;

/// Two planes; one of two cables between a T0 and a T1 is absent, so weights differ.
pub(crate) fn fabric_plan() -> Plan {
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
pub(crate) fn frame(to_mac: [u8; 6], source: Ipv6Addr, destination: Ipv6Addr, source_port: u16) -> Vec<u8> {
    let mut frame = to_mac.to_vec();
    frame.extend([2, 0, 0, 0, 0, 2, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, 64]);
    frame.extend(source.octets());
    frame.extend(destination.octets());
    for field in [source_port, 4791, 8, 0] {
        frame.extend(field.to_be_bytes());
    }
    frame
}

/// Sends packets of all flows between all NICs in all planes; returns the number of flows.
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
                let packet = frame(own, source.to_ipv6(), target.to_ipv6(), flow.wrapping_mul(40_503));
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
    fleet_of(&site.lab.files, inventory, beside)
}

/// The switches of an inventory with their entries in a tree.
pub(crate) fn fleet_of(files: &Files, inventory: &Inventory, beside: &Files) -> Fleet {
    let tree = Arc::new(Tree::open(reader(files.clone())).expect("a tree"));
    Fleet::new(inventory, &*reader(beside.clone()), &tree, |_| true).expect("they go together")
}

pub(crate) async fn push_fleet(fleet: &Fleet) -> PushReport {
    push(fleet, &crate::deploy::bmv2::patient(), silent(), open_gate()).await
}

/// Pushes, with a site's own program if given, and checks everything.
async fn prove(beside: &Files) {
    let plan = fabric_plan();
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
    let report = push_fleet(&fleet).await;
    assert!(
        report.is_good(),
        "{:?}",
        report.failures().map(|(_, fault)| fault.to_string()).collect::<Vec<_>>()
    );
    let walked = walk(&mut site);
    assert_eq!(walked, 6 * 5 * 2 * usize::from(FLOWS));
    let again = push_fleet(&fleet).await;
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
    let p4info = renumber_ids(Pipeline::sai().info().message().clone(), &[]);
    let program = Pipeline::sai().bmv2().expect("it has one").as_bytes().to_vec();
    prove(&Files::from([
        ("own.p4info.txtpb".to_owned(), text::write(&p4info).into_bytes()),
        ("own.json".to_owned(), program),
    ]))
    .await;
}

/// Returns the public programs of PINS with a hash of source and port, like that of hardware: `CLOSC_SAI` is the folder
/// with p4c's output for them.
pub(crate) fn public() -> Vec<Files> {
    let Some(folder) = std::env::var_os("CLOSC_SAI") else {
        closc_skip::skip("CLOSC_SAI is not set; expected a folder of compiled sonic-pins programs");
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

/// A program with 9-bit ports has no port 512: the push names that port.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_without_the_port_is_named() {
    let yaml = "fabric: high\nplanes: 1\nrouting: ecmp-static\n\
                hosts: { groups: 8, per_group: 1, nic: { speed: 100G, lanes: 1 } }\n\
                tiers:\n  t0: { platform: th5-512x100g, os: pins, up: { count: 8, first_cage: 63 } }\n  \
                t1: { platform: th5-512x100g, os: pins, down: { count: 8, first_cage: 63 } }\n\
                cables: { nic-t0: { length: 2m, medium: dac }, t0-t1: { length: 2m, medium: dac } }\n";
    let plan = closc_tests::shape::plan(yaml);
    let site = Site::start(&plan).await;
    let narrow = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
    let beside = Files::from([
        narrow("own.p4info.txtpb", Pipeline::sai().p4info()),
        narrow("own.json", Pipeline::sai().bmv2().expect("it has one")),
    ]);
    let mut inventory = site.lab.inventory.clone();
    for device in inventory.devices.values_mut() {
        let (p4info, device_config) = ("own.p4info.txtpb".to_owned(), "own.json".to_owned());
        device.artefacts = Some(Artefacts { p4info, device_config });
    }
    let report = push_fleet(&fleet(&site, &inventory, &beside)).await;
    let said = fault(&report, T0);
    assert!(said.contains("`512`") && said.contains("511"), "{said}");
    // The program in the tree accepts it.
    let report = push_fleet(&fleet(&site, &site.lab.inventory, &Files::new())).await;
    assert!(
        report.is_good(),
        "{:?}",
        report.failures().map(|(_, fault)| fault.to_string()).collect::<Vec<_>>()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_have_the_weights_of_the_plan() {
    use closc_plan::Target;
    use closc_runtime::proto::v1::{entity::Entity, table_action::Type};
    let plan = fabric_plan();
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
        let desired = (member.target_state)().expect("the tree has it");
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
    let plan = fabric_plan();
    let site = Site::start(&plan).await;
    let mut p4info = Pipeline::sai().info().message().clone();
    for table in &mut p4info.tables {
        if table.preamble.as_ref().is_some_and(|preamble| preamble.alias == "ipv6_table") {
            table.size = 1;
        }
    }
    let beside = Files::from([
        ("own.p4info.txtpb".to_owned(), text::write(&p4info).into_bytes()),
        ("own.json".to_owned(), Pipeline::sai().bmv2().expect("it has one").as_bytes().to_vec()),
    ]);
    let mut inventory = site.lab.inventory.clone();
    for device in inventory.devices.values_mut() {
        let (p4info, device_config) = ("own.p4info.txtpb".to_owned(), "own.json".to_owned());
        device.artefacts = Some(Artefacts { p4info, device_config });
    }
    let report = push_fleet(&self::fleet(&site, &inventory, &beside)).await;
    let faults: Vec<String> = report.failures().map(|(_, fault)| fault.to_string()).collect();
    assert!(!faults.is_empty() && report.updates().total() == 0, "{faults:?}");
    assert!(
        faults[0].contains("entries for `ingress.routing_lookup.ipv6_table`, which holds 1"),
        "{}",
        faults[0]
    );
}

/// Hardware: its first pipeline is set with empty tables, and every later one is reconciled.
fn hardware() -> Script {
    Script { commits_once: true, ..Script::default() }
}

/// A fabric of switches that accept only what hardware accepts, with the state of another controller. That state is a
/// program with the same tables in other sizes, and an unwanted route.
async fn foreign_lab(sai: &Program) -> Lab {
    let lab = Lab::start(tree_of(&fabric_plan(), |_| {})).await;
    let mut other = sai.info().message().clone();
    other.tables.iter_mut().for_each(|table| table.size += 1);
    let other = Program::from_message(other, b"another one".to_vec().into()).expect("it holds together");
    let route = sai.info().entry("ipv6_table").expect("a table").exact("vrf_id", "");
    let route = route.lpm("ipv6_dst", std::net::Ipv6Addr::from_bits(0xfd << 120), 8).action("drop", &[]);
    for target in lab.targets.values() {
        target.restart_with(&other);
        target.set_script(hardware());
        target.plant([route.clone().build().expect("right").into()]);
    }
    lab
}

fn sai() -> Program {
    let program = Pipeline::all_of(&fabric_plan())[0];
    Program::new(program.info().clone(), program.bmv2().expect("it has one").as_bytes().to_vec().into())
}

fn target_entities(lab: &Lab, name: &str) -> Vec<v1::Entity> {
    let text = String::from_utf8(lab.files[&format!("switches/{name}/pins.txtpb")].clone()).expect("text");
    let updates = text::read_entries(&text).expect("text format");
    let mut entities: Vec<v1::Entity> = updates.into_iter().filter_map(|update| update.entity).collect();
    entities.sort_by_key(EntityKey::of);
    entities
}

async fn make_plan(lab: &Lab) -> PushPlan {
    let made = plan(&lab.fleet(), &options(), silent()).await.expect("every switch answers");
    PushPlan::from_json(&made.to_json()).expect("it was just written")
}

async fn apply_plan(lab: &Lab, plan: &PushPlan) -> PushReport {
    push_plan(&SwitchConnections::of(&lab.fleet()), plan, &options(), silent(), open_gate())
        .await
        .expect("all have addresses")
}

#[tokio::test]
async fn a_saved_plan_reconciles_hardware_that_runs_another_program() {
    let lab = foreign_lab(&sai()).await;
    let saved = make_plan(&lab).await;
    assert!(saved.show().contains("set pipeline sai"), "{}", saved.show());
    let found = drift(&lab.fleet(), &options(), silent()).await;
    assert!(found.devices.values().all(|drift| matches!(drift, DeviceDrift::Pipeline { .. })), "{found:?}");
    let report = apply_plan(&lab, &saved).await;
    assert!(report.is_good(), "{report:#?}");
    for (name, target) in &lab.targets {
        assert_eq!(target.entities(), target_entities(&lab, name), "{name}: the stray route is gone");
        assert_eq!(target.n_pipelines(), 2, "asked to commit, then to reconcile");
    }
    // A running program is not set again: by the same plan, a new one, or a push of the tree.
    let report = apply_plan(&lab, &saved).await;
    assert!(report.is_good() && report.updates().total() == 0, "{report:#?}");
    let again = make_plan(&lab).await;
    assert!(again.is_empty(), "{}", again.show());
    assert!(
        push_fleet(&lab.fleet()).await.is_good()
            && drift(&lab.fleet(), &options(), silent()).await.is_clean()
    );
    assert!(lab.targets.values().all(|target| target.n_pipelines() == 2));
}

#[tokio::test]
async fn a_push_that_broke_off_between_program_and_entries_goes_on() {
    use closc_runtime::testing::WriteFault;
    let lab = foreign_lab(&sai()).await;
    let saved = make_plan(&lab).await;
    for target in lab.targets.values() {
        target.set_script(hardware().write_fault(0, WriteFault::Disconnect { after_updates: 3 }));
    }
    let report = apply_plan(&lab, &saved).await;
    assert!(report.is_good(), "{report:#?}");
    for (name, target) in &lab.targets {
        assert_eq!((target.entities(), target.n_pipelines()), (target_entities(&lab, name), 2), "{name}");
    }
}

#[tokio::test]
async fn the_program_of_an_image_is_not_set_again() {
    let lab = Lab::start(tree_of(&fabric_plan(), |_| {})).await;
    for target in lab.targets.values() {
        target.restart_with(&sai());
        target.recookie(7);
        target.set_script(hardware());
    }
    let saved = make_plan(&lab).await;
    assert!(!saved.show().contains("set pipeline"), "{}", saved.show());
    let report = apply_plan(&lab, &saved).await;
    assert!(report.is_good(), "{report:#?}");
    assert!(lab.targets.values().all(|target: &FakeTarget| target.n_pipelines() == 0));
    assert!(drift(&lab.fleet(), &options(), silent()).await.is_clean());
}

#[tokio::test]
async fn hardware_that_takes_no_other_program_says_why() {
    let lab = foreign_lab(&sai()).await;
    let saved = make_plan(&lab).await;
    for target in lab.targets.values() {
        target.set_script(hardware().without_action(Action::ReconcileAndCommit));
    }
    for report in [apply_plan(&lab, &saved).await, push_fleet(&lab.fleet()).await] {
        let said = fault(&report, T0);
        assert!(said.contains("setting the pipeline") && said.contains("not known here"), "{said}");
    }
    assert!(lab.targets.values().all(|target| target.n_updates() == 0));
}

/// Returns the table of an entry.
fn table_of(entity: &v1::Entity) -> Option<u32> {
    match &entity.entity {
        Some(v1::entity::Entity::TableEntry(entry)) => Some(entry.table_id),
        _ => None,
    }
}

#[tokio::test]
async fn what_hardware_did_not_try_is_tried_and_what_it_refuses_is_named() {
    let lab = Lab::start(tree_of(&fabric_plan(), |_| {})).await;
    let wanted = target_entities(&lab, T0);
    let mut tables: BTreeMap<u32, usize> = BTreeMap::new();
    for table in wanted.iter().filter_map(table_of) {
        *tables.entry(table).or_default() += 1;
    }
    let (table, count) = tables.into_iter().max_by_key(|(_, count)| *count).expect("it has entries");
    let bad = wanted.iter().find(|entity| table_of(entity) == Some(table)).expect("it has one").clone();
    lab.target().set_script(Script { refuse_entities: vec![bad], aborts_rest: true, ..hardware() });
    let report = push_fleet(&lab.fleet()).await;
    let said = fault(&report, T0);
    assert!(said.contains("1 refused") && said.contains("not this one"), "{said}");
    assert!(!said.contains("ABORTED") && !said.contains("not tried"), "{said}");
    let held = lab.target().entities().iter().filter(|entity| table_of(entity) == Some(table)).count();
    assert_eq!(held, count - 1);
}
