//! A push names each file that it does not deliver, with an alternative. Tested for all systems with every
//! combination of transports.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::Arc;

use closc_artefacts::carriers::{SwitchFile, Transport};
use closc_deploy::{CarrierOptions, Inventory, SonicOptions, Tree};

use crate::carriers::fleet::Fleet;
use crate::carriers::system::{Kind, SYSTEMS, Shape, System, system};
use crate::common::Place;

/// Transports with the inventory rules that enable them.
const RULES: [(Transport, &str); 4] = [
    (Transport::Ssh, "ssh:\n- { devices: '*', address: '{name}' }\n"),
    (Transport::SonicSsh, "sonic:\n- { devices: '*', transport: sonic-ssh, address: '{name}' }\n"),
    (Transport::SonicGnmi, "sonic:\n- { devices: '*', transport: sonic-gnmi, address: '{name}' }\n"),
    (
        Transport::P4Runtime,
        "p4runtime:\n- { devices: '*', device: { endpoint: '{name}:9559', device_id: 1 } }\n\
         defaults: { device_config: chip.bin }\n",
    ),
];

/// Returns the files that a push over some transports does not deliver, each with the alternative.
fn undelivered_files(place: &Place, rules: &[(Transport, &str)]) -> Result<Vec<(String, String)>, String> {
    let folder = place.path("a");
    let files = Arc::new(move |path: &str| fs::read(folder.join(path)));
    let tree = Arc::new(Tree::open(files).expect("a tree"));
    let text: String = rules.iter().map(|(_, rule)| *rule).collect();
    let inventory =
        if text.is_empty() { Inventory::default() } else { Inventory::parse(&text).expect("rules") };
    let beside = |_: &str| -> io::Result<Vec<u8>> { Ok(b"what only the chip reads".to_vec()) };
    let all = |_: &str| true;
    let fleet =
        closc_deploy::Fleet::new(&inventory, &beside, &tree, all).map_err(|error| error.to_string())?;
    let fleet = fleet
        .with_sonic(&inventory, &beside, &tree, SonicOptions::default(), all)
        .expect("one rule fits all");
    let fleet =
        fleet.with_carried(&inventory, &beside, &tree, CarrierOptions::default(), all).expect("the same");
    let fleet =
        fleet.with_left_alone(&inventory, &tree, |os| format!("`closc push` reaches `{os}` by a rule"), all);
    let missed = fleet.unsupported_files().into_iter().map(|missed| (missed.file, missed.instead));
    let left = fleet
        .skipped_switches
        .iter()
        .flat_map(|left| left.files.iter().map(|file| (file.clone(), left.instead.clone())));
    Ok(missed.chain(left).collect())
}

/// The files of all switches of tree `a`.
fn files(place: &Place) -> BTreeSet<SwitchFile> {
    let switches = fs::read_dir(place.path("a/switches")).expect("a folder");
    let files =
        switches.flat_map(|switch| fs::read_dir(switch.expect("it can be read").path()).expect("a folder"));
    let names = files.map(|file| file.expect("it can be read").file_name().into_string().expect("text"));
    names.map(|name| SwitchFile::of_name(&name).expect("the table of carriers has it")).collect()
}

/// Every valid combination of rules. SONiC can have only one transport at a time.
fn choices() -> Vec<Vec<(Transport, &'static str)>> {
    (0_u32..1 << RULES.len())
        .map(|set| {
            RULES
                .into_iter()
                .enumerate()
                .filter(|(bit, _)| set >> bit & 1 == 1)
                .map(|(_, rule)| rule)
                .collect()
        })
        .filter(|rules: &Vec<(Transport, &str)>| {
            rules.iter().filter(|(_, rule)| rule.starts_with("sonic")).count() < 2
        })
        .collect()
}

#[test]
fn each_file_without_a_carrier_is_named_with_what_brings_it() {
    let mut tried = BTreeSet::new();
    for system in &SYSTEMS {
        for routing in ["srv6-static", "ecmp-static", "bgp-unnumbered"] {
            let is_routed =
                system.routings.contains(&routing) || system.kind == Kind::Sonic && system.os == "sonic";
            if !is_routed || !tried.insert((system.os, system.name == "tofino", routing)) {
                continue;
            }
            let place = Place::new();
            place.write("a.yaml", system.fabric(&Shape { routing, ..system.small() }, 9214));
            place.ends(0, &["compile", "--quiet", "a.yaml", "--out", "a"]);
            for rules in choices() {
                prove(system, &place, &rules);
            }
        }
    }
}

fn prove(system: &System, place: &Place, rules: &[(Transport, &str)]) {
    let about =
        format!("{} {:?}", system.name, rules.iter().map(|(transport, _)| transport).collect::<Vec<_>>());
    let has = |transport: Transport| rules.iter().any(|(own, _)| *own == transport);
    let named = match undelivered_files(place, rules) {
        Ok(named) => named,
        Err(error) => {
            let is_programmed = system.has(Transport::P4Runtime) && !has(Transport::P4Runtime);
            return assert!(is_programmed && error.contains("`p0-t0-001`"), "{about}: {error}");
        }
    };
    // A rule for another system has no effect.
    let is_reached = |transport: &Transport| match transport {
        Transport::Ssh => matches!(system.kind, Kind::Eos | Kind::Nvue | Kind::Kernel { .. }),
        Transport::SonicSsh | Transport::SonicGnmi => system.kind == Kind::Sonic,
        Transport::P4Runtime => system.has(Transport::P4Runtime),
        Transport::Patches | Transport::Ztp | Transport::Ansible => false,
    };
    let reached: Vec<Transport> = rules.iter().map(|(transport, _)| *transport).filter(is_reached).collect();
    for file in files(place) {
        let found = named.iter().find(|(name, _)| name == file.name());
        let is_carried = reached.iter().any(|transport| transport.carries(file));
        assert_eq!(found.is_none(), is_carried, "{about}: {file}: {named:?}");
        if let Some((_, instead)) = found {
            assert!(
                instead.contains("`closc ") || instead.contains("a rule under"),
                "{about}: {file}: {instead}"
            );
        }
    }
}

#[test]
fn a_push_that_leaves_a_file_behind_fails_and_names_it() {
    let cases = [
        ("sonic-gnmi", "bgp-unnumbered", "frr.conf", Transport::SonicGnmi),
        ("pins-gnmi", "ecmp-static", "config_db.json", Transport::P4Runtime),
    ];
    for (name, routing, file, transport) in cases {
        let Some(fleet) = Fleet::new(system(name), &Shape { routing, ..system(name).small() }) else {
            return;
        };
        let head = if transport == Transport::P4Runtime { "p4runtime" } else { "sonic" };
        fleet.place.write("inventory.yaml", format!("{head}:\n{}", fleet.rules(transport)));
        let line = format!(
            "`{file}` of 4 switches (first: `p0-t0-001`) is neither pushed nor compared: `closc push` over"
        );
        for command in ["push", "drift"] {
            let said = fleet.ends(1, &[command, "a"]);
            assert!(said.contains(&line), "{name} {command}: {said}");
        }
        let said = fleet.ends(1, &["push", "a", "--dry-run"]);
        assert!(said.contains(&line), "{name}: {said}");
        // All compared files agree.
        let said = fleet.ends(1, &["diff", "live", "a"]);
        assert!(said.contains(&line) && said.contains("nothing else differs"), "{name}: {said}");
    }
}

#[test]
fn a_watch_names_the_files_that_it_does_not_compare() {
    let sonic = system("sonic-gnmi");
    let Some(fleet) = Fleet::new(sonic, &Shape { routing: "bgp-unnumbered", ..sonic.small() }) else {
        return;
    };
    let mut child = fleet
        .command(&["watch", "a", "--inventory", "inventory.yaml", "--format", "json"])
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let lines = BufReader::new(child.stderr.take().expect("it is ours")).lines();
    let started = lines.map(|line| line.expect("text")).find(|line| line.contains("\"watching\""));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let started = started.expect("a watch begins");
    assert!(started.contains("`frr.conf`") || started.contains("\"frr.conf\""), "{started}");
}
