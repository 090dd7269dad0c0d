//! Invalid trees and inventories are rejected before anything is sent.

use std::sync::Arc;

use closc_deploy::{Device, Fleet, FleetError, Inventory, Tree};

use crate::support::{Files, T0, add_manifest, plane_of, reader, small_tree};

const ENTRIES: &str = "switches/p0-t0-001/entries.txtpb";

fn tree(files: &Files) -> Arc<Tree> {
    Arc::new(Tree::open(reader(files.clone())).expect("the manifest is right"))
}

fn inventory(names: &[&str]) -> Inventory {
    let device =
        |(number, name): (usize, &&str)| ((*name).to_owned(), Device::at("127.0.0.1:9", number as u64));
    let mut inventory = Inventory::default();
    inventory.devices.extend(names.iter().enumerate().map(device));
    inventory
}

fn fleet(files: &Files, inventory: &Inventory) -> Result<Fleet, FleetError> {
    Fleet::new(inventory, &*reader(Files::new()), &tree(files), |_| true)
}

/// Returns why the entries of the first T0 are rejected.
fn rejection(files: &Files) -> String {
    let fleet = fleet(files, &inventory(&[T0, "p0-t1-001"])).expect("the pipelines are right");
    let member = fleet.members.iter().find(|member| member.target.name == T0).expect("there");
    (member.target_state)().expect_err("it cannot be used").to_string()
}

fn edit_entries(edit: impl Fn(String) -> String) -> Files {
    let mut files = small_tree(1, 1, 1);
    let text = String::from_utf8(files[ENTRIES].clone()).expect("text");
    files.insert(ENTRIES.to_owned(), edit(text).into_bytes());
    add_manifest(&mut files);
    files
}

#[test]
fn what_was_compiled_is_taken() {
    let files = small_tree(1, 1, 1);
    let fleet = fleet(&files, &inventory(&[T0, "p0-t1-001"])).expect("right");
    assert_eq!(fleet.fabric, "shape");
    for member in &fleet.members {
        assert!(!(member.target_state)().expect("right").state.is_empty());
    }
}

#[test]
fn a_file_that_is_not_of_the_manifest() {
    let mut files = small_tree(1, 1, 1);
    let entries = files.get_mut(ENTRIES).expect("there");
    let listed = entries.len();
    entries.extend_from_slice(b"# a note\n");
    let expected = format!("`switches/p0-t0-001/entries.txtpb`: is larger than {listed} bytes");
    assert_eq!(rejection(&files), expected);
}

#[test]
fn entries_that_are_no_text() {
    let message = rejection(&edit_entries(|text| text.replacen("type: INSERT", "type: INSURT", 1)));
    assert!(message.starts_with("`switches/p0-t0-001/entries.txtpb`:"), "{message}");
    assert!(message.contains("INSURT"), "{message}");
}

#[test]
fn entries_that_do_not_fit_the_p4info() {
    let message = rejection(&edit_entries(|text| text.replacen("field_id: 1\n", "field_id: 77\n", 1)));
    assert!(message.starts_with("`switches/p0-t0-001/entries.txtpb`: `+ ingress.port_role"), "{message}");
}

#[test]
fn entries_twice() {
    // An identical entry counts once; a different one with the same key is an error.
    let first = |text: &str| text.split("\n\n").nth(1).expect("an update").to_owned();
    let twice = edit_entries(|text| format!("{text}\n{}\n", first(&text)));
    let fleet = fleet(&twice, &inventory(&[T0, "p0-t1-001"])).expect("right");
    assert!((fleet.members[0].target_state)().is_ok());
    let nic = crate::support::info().action("ingress.nic_port").expect("an action").preamble.id;
    let fabric = crate::support::info().action("ingress.fabric_port").expect("an action").preamble.id;
    let other = |text: &str| first(text).replace(&nic.to_string(), &fabric.to_string());
    let message = rejection(&edit_entries(|text| format!("{text}\n{}\n", other(&text))));
    assert!(message.contains("a duplicate entity: ingress.port_role  ingress_port=1"), "{message}");
}

#[test]
fn updates_that_are_no_state() {
    let counter = crate::support::info().counter("ingress.drops").expect("a counter").preamble.id;
    let update = format!(
        "updates {{ type: MODIFY entity {{ counter_entry {{ counter_id: {counter} index {{ index: 1 }} data {{ \
         packet_count: 0 }} }} }} }}"
    );
    let message = rejection(&edit_entries(|text| format!("{text}\n{update}\n")));
    assert!(message.ends_with("the data plane changes it, so it is not part of a state"), "{message}");
    let message = rejection(&edit_entries(|text| text.replacen("type: INSERT", "type: DELETE", 1)));
    assert!(message.ends_with("a state contains no deletions"), "{message}");
}

#[test]
fn a_tree_without_its_pipeline() {
    let mut files = small_tree(1, 1, 1);
    files.remove("p4/fabric.p4info.txtpb");
    let error = fleet(&files, &inventory(&[T0, "p0-t1-001"])).err().expect("it is missing");
    assert_eq!(error.to_string(), "`p4/fabric.p4info.txtpb`: no such file");
    files.remove("manifest.json");
    let error = Tree::open(reader(files)).err().expect("it is missing");
    assert_eq!(error.to_string(), "`manifest.json` is missing: this is not an artefact tree");
}

#[test]
fn inventory_and_tree_must_agree() {
    let files = small_tree(1, 1, 1);
    let error = |names: &[&str]| fleet(&files, &inventory(names)).err().expect("refused").to_string();
    assert_eq!(error(&[T0]), "the inventory lacks a switch of the tree: `p0-t1-001`");
    assert_eq!(
        error(&[T0, "p0-t1-001", "p9-t0-001"]),
        "the tree has no entries for a switch of the inventory: `p9-t0-001`"
    );
    let mut configured = files.clone();
    for (name, file) in [("p2-t0-001", "config_db.json"), ("p3-t0-001", "eos.conf")] {
        configured.insert(format!("switches/{name}/{file}"), b"{}".to_vec());
    }
    add_manifest(&mut configured);
    for (name, rules) in [("p2-t0-001", "sonic"), ("p3-t0-001", "ssh")] {
        let error = fleet(&configured, &inventory(&[T0, "p0-t1-001", name])).err().expect("refused");
        let wanted = format!("`{name}`; `devices` is for P4Runtime, so write a rule under `{rules}` instead");
        assert!(error.to_string().ends_with(&wanted), "{error}");
    }
    let mut same = inventory(&[T0, "p0-t1-001"]);
    same.devices.get_mut("p0-t1-001").expect("there").device_id = 0;
    let error = fleet(&files, &same).err().expect("one device twice");
    assert_eq!(error.to_string(), "`p0-t0-001` and `p0-t1-001` are both device 0 at 127.0.0.1:9");
    let mut nowhere = inventory(&[T0, "p0-t1-001"]);
    nowhere.devices.get_mut(T0).expect("there").endpoint = "127.0.0.1".to_owned();
    let error = fleet(&files, &nowhere).err().expect("no port").to_string();
    assert!(error.starts_with("inventory: `p0-t0-001`: "), "{error}");
}

/// Hardware loads the output of its own compiler for the same program.
#[test]
fn hardware_has_artefacts_of_its_own() {
    let files = small_tree(1, 1, 1);
    let mut inventory = inventory(&[T0, "p0-t1-001"]);
    inventory.devices.get_mut(T0).expect("there").artefacts = Some(closc_deploy::Artefacts {
        p4info: "hw/fabric.p4info.txtpb".to_owned(),
        device_config: "hw/fabric.bin".to_owned(),
    });
    let beside = Files::from([
        ("hw/fabric.p4info.txtpb".to_owned(), files["p4/fabric.p4info.txtpb"].clone()),
        ("hw/fabric.bin".to_owned(), vec![0xde, 0xad]),
    ]);
    let fleet = Fleet::new(&inventory, &*reader(beside), &tree(&files), |_| true).expect("right");
    let config = |name: &str| {
        let member = fleet.members.iter().find(|member| member.target.name == name).expect("there");
        (member.target_state)().expect("right").program.pipeline().device_config().clone()
    };
    assert_eq!(&config(T0)[..], [0xde, 0xad]);
    assert_eq!(config("p0-t1-001").as_ref(), files["p4/fabric.bmv2.json"].as_slice());
    let error = Fleet::new(&inventory, &*reader(Files::new()), &tree(&files), |_| true).err();
    assert_eq!(error.expect("missing").to_string(), "`hw/fabric.p4info.txtpb`: no such file");
}

/// An inventory may name a file that is not a P4Info: its contents are not shown.
#[test]
fn foreign_artefacts_are_not_quoted() {
    let files = small_tree(1, 1, 1);
    let mut inventory = inventory(&[T0]);
    inventory.devices.get_mut(T0).expect("there").artefacts = Some(closc_deploy::Artefacts {
        p4info: "of-others".to_owned(),
        device_config: "of-others".to_owned(),
    });
    for secret in
        ["token-of-the-runner\n", "root:x:0:0\n", "tables { token: 1 }", "tables { preamble { id: token } }"]
    {
        let beside = Files::from([("of-others".to_owned(), secret.as_bytes().to_vec())]);
        let refused = Fleet::new(&inventory, &*reader(beside), &tree(&files), |name| name == T0).err();
        let said = refused.expect("it is not a P4Info").to_string();
        assert!(
            said.starts_with("`of-others`:1:") && said.ends_with("it is not a P4Info in protobuf text"),
            "{said}"
        );
    }
}

#[test]
fn a_plane_that_contradicts_the_tree_has_a_place() {
    let mut files = small_tree(2, 1, 1);
    for plane in 0..2 {
        let row = format!("{plane},t0-t1,p{plane}-t0-001,e1,p{plane}-t1-001,e1,1m,virtual,up\n");
        let list = format!("{}{row}", closc_artefacts::cables::HEADER);
        files.insert(format!("cables/plane-{plane}.csv"), list.into_bytes());
    }
    add_manifest(&mut files);
    let planes = |text: &str| {
        let inventory = Inventory::parse(text).expect("it parses").at("site/i.yaml");
        let fleet = fleet(&files, &inventory).map_err(|error| error.to_string())?;
        let mut planes: Vec<(String, u8)> =
            fleet.planes().into_iter().map(|(name, plane)| (name.to_owned(), plane)).collect();
        planes.sort();
        Ok::<_, String>(planes)
    };
    let wanted =
        ["p0-t0-001", "p0-t1-001", "p1-t0-001", "p1-t1-001"].map(|name| (name.to_owned(), plane_of(name)));
    let wanted: Vec<(String, u8)> =
        wanted.into_iter().filter_map(|(name, plane)| Some((name, plane?))).collect();
    let rules = |of_0: &str, of_1: &str| {
        let rule = |plane: u8, more: &str| {
            format!(
                "- {{ devices: 'p{plane}-*', device: {{ endpoint: '{{name}}:9', device_id: 1{more} }} }}\n"
            )
        };
        format!("p4runtime:\n{}{}", rule(0, of_0), rule(1, of_1))
    };
    for agreeing in [rules("", ""), rules(", plane: 0", ", plane: 1")] {
        assert_eq!(planes(&agreeing), Ok(wanted.clone()));
    }
    let said = planes(&rules(", plane: 0", ", plane: 0")).expect_err("it contradicts the tree");
    let column = "- { devices: 'p1-*', device: { endpoint: '{name}:9', device_id: 1, plane: ".len() + 1;
    assert_eq!(
        said,
        format!(
            "inventory: site/i.yaml:3:{column}: `plane: 0`: `p1-t0-001` is in plane 1; remove `plane`, which comes from the compiled \
             tree"
        )
    );
    let own = "{\"devices\": {\n\"p0-t0-001\": {\"endpoint\": \"h:1\", \"device_id\": 1, \"plane\": 7}},\n\
               \"p4runtime\": [{\"devices\": \"*\", \"device\": {\"endpoint\": \"{name}:9\", \"device_id\": 1}}]}";
    let said = planes(own).expect_err("it contradicts the tree");
    assert!(said.starts_with("inventory: site/i.yaml:2:59: `plane: 7`: `p0-t0-001` is in plane 0"), "{said}");
}
