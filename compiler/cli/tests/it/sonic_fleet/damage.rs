//! Random fabrics of SONiC switches, with all routing modes. Every file of a switch in the tree is delivered, and
//! `drift` names damage to each of them. `CLOSC_SONIC_FABRICS` sets the number of fabrics.

use std::collections::BTreeSet;
use std::fs;

use closc_artefacts::carriers::{SwitchFile, Transport};
use closc_sonic::SITE_FIRST;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;

use super::Fleet;

/// Environment variable with the number of fabrics.
const FABRICS: &str = "CLOSC_SONIC_FABRICS";

/// Lines of a `frr.conf` without effect.
const SILENT: [&str; 8] = ["!", "frr version", "hostname", "service ", "log ", "exit", "end", "Building"];

fn pick<T: Copy>(random: &mut SplitMix64, among: &[T]) -> T {
    among[(random.next_u64() % among.len() as u64) as usize]
}

/// A small fabric. The first three cover all routing modes.
fn fabric(number: u64, random: &mut SplitMix64) -> String {
    let routing = ["bgp-unnumbered", "srv6-static", "ecmp-static"][(number % 3) as usize];
    let (planes, groups) = (pick(random, &[1, 1, 2]), pick(random, &[1, 2]));
    let (hosts, up) = (pick(random, &[1, 2]), pick(random, &[1, 2]));
    let drained = if random.next_u64().is_multiple_of(2) && up > 1 { "p0-t0-001--p0-t1-001" } else { "" };
    let speed = 40 * planes;
    format!(
        "fabric: f{number}\nplanes: {planes}\nrouting: {routing}\n\
         hosts: {{ groups: {groups}, per_group: {hosts}, nic: {{ speed: {speed}G, lanes: {planes} }} }}\ntiers:\n  \
         t0: {{ platform: sonic-vs, os: sonic, up: {up} }}\n  t1: {{ platform: sonic-vs, os: sonic }}\n\
         addresses: {{ management: 10.64.0.0/14 }}\ncables:\n  nic-t0: {{ length: 1m, medium: virtual }}\n  \
         t0-t1: {{ length: 1m, medium: virtual }}\nexceptions: {{ drained: [{drained}] }}\n"
    )
}

/// Place of the damage.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// In CONFIG_DB.
    ConfigDb,
    /// In the installed `frr.conf`.
    Installed,
    /// In the running configuration of FRR.
    Running,
}

impl Place {
    const ALL: [Place; 3] = [Place::ConfigDb, Place::Installed, Place::Running];

    fn file(self) -> SwitchFile {
        match self {
            Place::ConfigDb => SwitchFile::ConfigDb,
            Place::Installed | Place::Running => SwitchFile::FrrConf,
        }
    }
}

/// Changes a value of CONFIG_DB that closc owns, and returns its place.
fn change_value(fleet: &Fleet, name: &str, random: &mut SplitMix64) -> String {
    let tree: Value =
        serde_json::from_str(&fleet.place.read(&format!("a/switches/{name}/config_db.json"))).expect("JSON");
    let mut places = Vec::new();
    for (table, entries) in tree.as_object().expect("tables") {
        for (key, fields) in entries.as_object().expect("entries") {
            // The address is needed to reach the switch.
            let own = fields.as_object().expect("fields").keys().filter(|field| {
                table != "MGMT_INTERFACE"
                    && !SITE_FIRST.iter().any(|(of, first, _)| of == table && first == field)
            });
            places.extend(own.map(|field| (table.clone(), key.clone(), field.clone())));
        }
    }
    let (table, key, field) = &places[(random.next_u64() % places.len() as u64) as usize];
    let file = fleet.at(name, "db.json");
    let mut held: Value =
        serde_json::from_str(&fs::read_to_string(&file).expect("it is there")).expect("JSON");
    let value = &mut held[table][key][field];
    match value {
        Value::String(text) => text.push('9'),
        Value::Array(list) => list.push("9".into()),
        other => panic!("{table}|{key}.{field}: {other}"),
    }
    fs::write(file, held.to_string()).expect("it is ours");
    format!("{table}|{key}")
}

/// Changes an effective line of a file, and returns its last word.
fn change_line(fleet: &Fleet, name: &str, file: &str, random: &mut SplitMix64) -> String {
    let path = fleet.at(name, file);
    let text = fs::read_to_string(&path).expect("it is there");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let of_us = |line: &String| {
        let line = line.trim();
        let is_sonics = line.contains("RM_SET_SRC6") || line.starts_with("set src");
        !line.is_empty() && !is_sonics && !SILENT.iter().any(|silent| line.starts_with(silent))
    };
    let own: Vec<usize> =
        lines.iter().enumerate().filter(|(_, line)| of_us(line)).map(|(place, _)| place).collect();
    let place = pick(random, &own);
    lines[place].push('9');
    fs::write(path, lines.join("\n") + "\n").expect("it is ours");
    // FRR splits a line about a neighbour into several statements.
    lines[place].split_whitespace().last().expect("it has words").to_owned()
}

/// Damages one place on every switch that has the file, and checks that `drift` names each switch and the damage.
fn damage(fleet: &Fleet, place: Place, random: &mut SplitMix64) -> usize {
    let mut damaged = Vec::new();
    for name in &fleet.names {
        if !fleet.place.path(&format!("a/switches/{name}/{}", place.file())).exists() {
            continue;
        }
        let what = match place {
            Place::ConfigDb => change_value(fleet, name, random),
            Place::Installed => change_line(fleet, name, "frr/frr.conf", random),
            Place::Running => change_line(fleet, name, "frr/running", random),
        };
        damaged.push((name, what));
    }
    if damaged.is_empty() {
        return 0;
    }
    let (code, said) = fleet.drift("a");
    assert_eq!(code, Some(2), "{place:?}: {said}");
    for (name, what) in &damaged {
        let named = &said["devices"][name.as_str()];
        let differences = named["differences"].to_string();
        let is_named = match place {
            Place::ConfigDb => differences.contains(what.as_str()),
            Place::Installed => {
                differences.contains("frr.conf (installed file)") && differences.contains(what.as_str())
            }
            Place::Running => {
                differences.contains("frr.conf (running)") && differences.contains(what.as_str())
            }
        };
        assert!(is_named, "{name}: {place:?}: {what}: {named}");
    }
    let (code, said) = fleet.push("a", &[]);
    assert_eq!(code, Some(0), "{place:?} {damaged:?}: {said}");
    damaged.len()
}

#[test]
fn every_file_of_a_switch_is_delivered_and_damage_to_any_is_named() {
    let n_fabrics = std::env::var(FABRICS).ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let random = &mut SplitMix64::seed_from_u64(36);
    let (mut n_damaged, mut kinds) = (0, BTreeSet::new());
    for number in 0..n_fabrics {
        let Some(fleet) = Fleet::of(&[("a", fabric(number, random))]) else { return };
        for name in &fleet.names {
            fleet.reset_switch("a", name);
            for file in fs::read_dir(fleet.place.path(&format!("a/switches/{name}"))).expect("a folder") {
                let file = file.expect("it can be read").file_name().into_string().expect("text");
                kinds.insert(SwitchFile::of_name(&file).expect("the table of carriers has it"));
            }
        }
        let (code, said) = fleet.push("a", &[]);
        assert_eq!(code, Some(0), "{number}: {said}");
        let (code, said) = fleet.drift("a");
        assert_eq!(code, Some(0), "{number}: {said}");
        for place in Place::ALL {
            n_damaged += damage(&fleet, place, random);
        }
        let (code, said) = fleet.drift("a");
        assert_eq!(code, Some(0), "{number}: {said}");
    }
    assert!(n_fabrics < 3 || kinds.iter().all(|file| Transport::SonicSsh.carries(*file)), "{kinds:?}");
    let placed: BTreeSet<SwitchFile> = Place::ALL.into_iter().map(Place::file).collect();
    assert!(kinds.is_subset(&placed), "damage to each kind of file is tried: {kinds:?}");
    println!("{n_fabrics} fabrics, {n_damaged} damages, all named");
}

#[test]
fn a_drain_changes_routing_and_is_counted() {
    let text = |drained: &str| {
        format!(
            "fabric: drained\nplanes: 1\nrouting: bgp-unnumbered\nhosts: {{ groups: 2, per_group: 1, nic: {{ speed: 40G }} }}\n\
             tiers:\n  t0: {{ platform: sonic-vs, os: sonic, up: 2 }}\n  t1: {{ platform: sonic-vs, os: sonic }}\n\
             addresses: {{ management: 10.64.0.0/14 }}\ncables:\n  nic-t0: {{ length: 1m, medium: virtual }}\n  \
             t0-t1: {{ length: 1m, medium: virtual }}\nexceptions: {{ drained: [{drained}] }}\n"
        )
    };
    let Some(fleet) = Fleet::of(&[("a", text("")), ("b", text("p0-t1-001"))]) else { return };
    fleet.names.iter().for_each(|name| fleet.reset_switch("a", name));
    let (code, said) = fleet.push("a", &[]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = fleet.drift("b");
    assert_eq!(code, Some(2), "{said}");
    let (code, said) = fleet.push("b", &["--dry-run"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no session is reset") && !said.contains("0 SONiC switches change"), "{said}");
    let (code, said) = fleet.push("b", &[]);
    assert!(code == Some(0) && !said.contains("; 0 updates sent"), "{said}");
    for name in &fleet.names {
        let log = fs::read_to_string(fleet.at(name, "log")).expect("it is there");
        let since = log.rsplit_once("config reload").map_or(log.as_str(), |(_, since)| since);
        assert!(!since.contains("systemctl restart bgp"), "{name}: {since}");
    }
    // `diff --patches` also lists the change of `frr.conf`.
    let said = fleet.place.ends(2, &["diff", "a.yaml", "b.yaml", "--patches", "p"]);
    assert!(!said.contains("`frr.conf` of 0 changes"), "{said}");
    let index: Value = serde_json::from_str(&fleet.place.read("p/patches.json")).expect("JSON");
    let groups = index["groups"].as_array().expect("a list");
    let routed: Vec<&Value> = groups.iter().filter(|group| !group["routing"].is_null()).collect();
    assert!(!routed.is_empty(), "{index}");
    for group in routed {
        assert_eq!(
            (&group["method"], &group["routing"]["method"]),
            (&"none".into(), &"commands".into()),
            "{group}"
        );
        let (name, file) = (group["switches"][0].as_str().expect("text"), &group["routing"]["file"]);
        let file = fleet.place.read(&format!("p/{}", file.as_str().expect("text")));
        assert_eq!(file, fleet.place.read(&format!("b/switches/{name}/frr.conf")));
        let commands = group["routing"]["commands"].as_str().expect("text");
        assert!(fleet.place.read(&format!("p/{commands}")).contains("router bgp"), "{group}");
    }
    let (code, said) = fleet.drift("b");
    assert_eq!(code, Some(0), "{said}");
}
