//! `closc push`, `drift` and `diff live` with switches of every operating system, over every transport that reads
//! switches. A script replaces `ssh`. It runs a simulated command line on files (EOS, Cumulus Linux, FRRouting,
//! SONiC). For FRRouting and Linux it can run real commands in a network namespace with kernel ports, addresses and
//! routes, which needs root. gNMI and P4Runtime are servers on loopback.
#![allow(clippy::unnecessary_wraps, reason = "damages of all files have one signature")]

mod damage;
mod factory;
mod fleet;
mod frr;
mod random;
mod rules;
mod servers;
mod site;
mod system;
mod uncarried;

use std::fs;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use fleet::Fleet;
use system::{Kind, Shape, ssh_only_systems, system};

/// Fleets of all systems that are configured by files.
fn fleets() -> Vec<Fleet> {
    ssh_only_systems().filter_map(|system| Fleet::new(system, &system.small())).collect()
}

/// Checks that a Linux switch has the queues of a tree and FRRouting its routes, without closc's own comparison.
fn assert_applied(fleet: &Fleet, tree: &str, name: &str) {
    let Kind::Kernel { has_frr } = fleet.system.kind else { return };
    let file = |file: &str| {
        let path = format!("{tree}/switches/{name}/{file}");
        if fleet.place.path(&path).exists() { fleet.place.read(&path) } else { String::new() }
    };
    let queues = fleet.read(name, "tc");
    for line in file("tc.batch").lines().filter(|line| line.contains(" root handle ")) {
        let port = line.split(' ').nth(3).expect("a port");
        assert!(queues.contains(&format!("\"{port}\"")), "{port}: {queues}");
    }
    let running = fleet.read(name, "frr");
    for line in file("frr.conf").lines().filter(|line| has_frr && line.starts_with("ipv6 route ")) {
        assert!(running.contains(line), "{line}: {running}");
    }
}

#[test]
fn a_push_is_confirmed_read_back_and_drift_is_clean() {
    for fleet in fleets() {
        let said = fleet.ends(2, &["drift", "a"]);
        assert!(said.contains("p0-t0-001"), "{said}");
        let shown = fleet.ends(2, &["push", "a", "--dry-run"]);
        assert!(shown.contains("switches change over SSH"), "{shown}");
        for tree in ["a", "b"] {
            let said = fleet.ends(0, &["push", tree]);
            assert!(said.contains("4 switches up to date") && said.contains("--rollback"), "{said}");
            assert!(fleet.ends(0, &["push", tree]).contains("; 0 updates sent"), "{}", fleet.system.name);
            fleet.ends(0, &["drift", tree]);
            fleet.names.iter().for_each(|name| fleet.assert_site(name));
            fleet.names.iter().for_each(|name| assert_applied(&fleet, tree, name));
        }
        let said = fleet.ends(2, &["diff", "live", "a", "--list"]);
        assert!(said.contains("p0-t0-001"), "{said}");
    }
}

#[test]
fn one_command_takes_a_push_back_on_every_switch() {
    for fleet in fleets() {
        fleet.ends(0, &["push", "a"]);
        let before: Vec<String> = fleet.names.iter().map(|name| fleet.state(name)).collect();
        let said = fleet.ends(0, &["push", "b"]);
        let run =
            said.split("--rollback ").nth(1).and_then(|rest| rest.split('`').next()).expect("it is named");
        fleet.ends(2, &["drift", "a"]);
        let said = fleet.ends(0, &["push", "b", "--rollback", run]);
        assert!(said.contains("4 switches up to date"), "{said}");
        for (name, before) in fleet.names.iter().zip(before) {
            assert_eq!(fleet.state(name), before, "{} {name}", fleet.system.name);
            fleet.assert_site(name);
        }
        fleet.ends(0, &["drift", "a"]);
        // Switches do not have a backup of this push.
        let said = fleet.ends(1, &["push", "b", "--rollback", "1-1"]);
        assert!(said.contains("no switch has a backup of push `1-1`"), "{said}");
        assert!(fleet.ends(64, &["push", "b", "--rollback", "../x"]).contains("expected the name"));
    }
}

#[test]
fn a_saved_plan_is_pushed_and_refused_where_a_switch_moved() {
    for fleet in fleets() {
        fleet.ends(0, &["push", "a"]);
        fleet.ends(2, &["push", "b", "--out", "plan.json"]);
        let random = &mut SplitMix64::seed_from_u64(3);
        let mut pick = |count: usize| usize::try_from(random.next_u64() % count as u64).expect("small");
        random::add_one(&fleet, &fleet.names[0], &mut pick);
        let said = fleet.ends(1, &["push", "plan.json"]);
        assert!(said.contains("the live state has changed"), "{}: {said}", fleet.system.name);
        fleet.ends(0, &["push", "a"]);
        fleet.ends(0, &["push", "plan.json"]);
        fleet.ends(0, &["drift", "b"]);
        // Two trees are compared without switches.
        fleet.place.ends(2, &["diff", "a", "b", "--out", "trees.diff"]);
        fleet.ends(0, &["push", "a"]);
        fleet.ends(0, &["push", "trees.diff"]);
        fleet.ends(0, &["drift", "b"]);
    }
}

#[test]
fn a_switch_that_loses_its_management_address_goes_back_by_itself() {
    for os in ["eos", "nvue"] {
        let Some(fleet) = Fleet::new(system(os), &system(os).small()) else { continue };
        fleet.ends(0, &["push", "a"]);
        let lost = fleet.names[0].clone();
        let before = fleet.state(&lost);
        // The change removes the address at which the switch is reachable.
        let kept = if os == "eos" { "mtu 9214" } else { "\"mtu\": 9214" };
        fleet.put(&format!("fleet/{lost}/management"), kept, 0o644);
        let said = fleet.ends(1, &["push", "b", "--confirm", "1", "--max-failures", "9"]);
        assert!(said.contains(&lost) && said.contains("3 switches up to date"), "{said}");
        assert!(fleet.at(&lost, "unreachable").exists(), "{said}");
        fleet.on(&lost, &["expire"]);
        assert_eq!(fleet.state(&lost), before);
        assert!(!fleet.at(&lost, "unreachable").exists());
    }
}

/// The switch does not accept connections after the change, so the change is neither read back nor confirmed.
#[test]
fn a_change_that_cannot_be_confirmed_goes_back_by_itself() {
    for system in ssh_only_systems().filter(|system| system.kind != Kind::Eos) {
        let Some(fleet) = Fleet::new(system, &system.small()) else { continue };
        let os = system.name;
        let lost = fleet.names[0].clone();
        let path = |file: &str| fleet.at(&lost, file);
        // The first push changes all settings, the second only those with other values.
        for tree in ["a", "b"] {
            let before = fleet.state(&lost);
            fleet.put(&format!("fleet/{lost}/goes-away"), "", 0o644);
            let said = fleet.ends(1, &["push", tree, "--confirm", "1", "--max-failures", "9"]);
            assert!(said.contains(&lost) && said.contains("3 switches up to date"), "{said}");
            assert_ne!(fleet.state(&lost), before, "{os} {tree}: it was changed");
            fleet.on(&lost, &["expire"]);
            assert_eq!(fleet.state(&lost), before, "{os} {tree}");
            assert!(!path("timer").exists() && !path("state/pending").exists(), "{os} {tree}");
            fs::remove_file(path("goes-away")).expect("it was written");
            fleet.ends(0, &["push", tree]);
            fleet.ends(0, &["drift", tree]);
        }
    }
}

/// Pushes a tree that one switch rejects, and checks that its state is restored when the push ends.
fn assert_refused(fleet: &Fleet, name: &str, tree: &str) -> String {
    let before = fleet.state(name);
    let said = fleet.ends(1, &["push", tree, "--max-failures", "9"]);
    assert!(said.contains(name) && said.contains("3 switches up to date"), "{said}");
    assert_eq!(fleet.state(name), before, "{}: {said}", fleet.system.name);
    for file in ["timer", "state/pending"] {
        assert!(!fleet.at(name, file).exists(), "{} has `{file}`: {said}", fleet.system.name);
    }
    said
}

/// Runs `ip`, and reports an error after the change if a switch has the file `ip-fails`.
const IP: &str = "#!/bin/sh\nreal=$(PATH=${PATH#*:}; command -v ip)\n\"$real\" \"$@\" || exit\n\
    case $* in *ip.change) [ ! -e \"$SWITCH/ip-fails\" ] || exit 1 ;; esac\n";

#[test]
fn what_a_switch_refuses_changes_nothing() {
    for fleet in fleets() {
        let name = fleet.names[0].clone();
        let at_once = "the switch rejected the change and was rolled back";
        let trapped = |tree: &str, file: &str, text: &str| {
            fleet.put(&format!("fleet/{name}/{file}"), text, 0o644);
            let said = assert_refused(&fleet, &name, tree);
            fs::remove_file(fleet.at(&name, file)).expect("it was written");
            said
        };
        if let Kind::Kernel { has_frr } = fleet.system.kind {
            fleet.put("bin/ip", IP, 0o755);
            // Settings, ports and addresses have changed by then; with FRRouting, also queues.
            let (file, text) = if has_frr { ("refuse", "ipv6") } else { ("ip-fails", "") };
            assert!(trapped("a", file, text).contains(at_once));
        }
        fleet.ends(0, &["push", "a"]);
        match fleet.system.kind {
            Kind::Eos => drop(trapped("b", "refuse", "9100")),
            Kind::Nvue => {
                trapped("b", "apply-fails", "");
                assert!(trapped("b", "refuse", "9100").contains(at_once));
            }
            Kind::Kernel { .. } => {
                // A port is gone, so its settings are rejected.
                let batch = fleet.place.read(&format!("b/switches/{name}/ip.batch"));
                let ports = batch.lines().filter(|line| line.contains(" mtu "));
                let port = ports.filter_map(|line| line.split(' ').nth(3)).max().expect("it has ports");
                fleet.ip(&name, &format!("link del {port}"));
                assert!(assert_refused(&fleet, &name, "b").contains(at_once));
                fleet.ip(&name, &format!("link add {port} type veth peer name x{port}"));
            }
            Kind::Sonic | Kind::Programmed => {}
        }
        fleet.ends(0, &["push", "b"]);
        fleet.ends(0, &["drift", "b"]);
    }
}

#[test]
fn what_no_tree_has_does_not_stay() {
    let Some(fleet) = Fleet::new(system("eos"), &system("eos").small()) else { return };
    fleet.ends(0, &["push", "a"]);
    let name = &fleet.names[0];
    let before = fleet.read(name, "running");
    let (line, below) = ("ipv6 route fd99::/64 Null0", "\n   ipv6 access-group X in\n   mtu ");
    assert!(!before.contains(line) && before.contains("\n   mtu "), "{before}");
    for more in [format!("{before}{line}\n"), before.replacen("\n   mtu ", below, 1)] {
        fleet.put(&format!("fleet/{name}/running"), &more, 0o644);
        fleet.ends(0, &["push", "a"]);
        assert_eq!(fleet.read(name, "running"), before);
    }
}

/// The saved waves begin with the last plane.
#[test]
fn a_saved_change_is_pushed_in_its_waves() {
    let nvue = system("nvue");
    let Some(fleet) = Fleet::new(nvue, &Shape { planes: 2, ..nvue.small() }) else { return };
    fleet.ends(0, &["push", "a"]);
    fleet.ends(2, &["diff", "live", "b", "--waves", "--out", "b.diff"]);
    let mut saved: Value = serde_json::from_str(&fleet.place.read("b.diff")).expect("JSON");
    let waves = saved["waves"].as_array_mut().expect("it has waves");
    assert_eq!((&waves[0]["plane"], &waves[1]["plane"]), (&json!(0), &json!(1)));
    waves.swap(0, 1);
    fleet.place.write("b.diff", saved.to_string());
    let said = fleet.ends(1, &["push", "b.diff", "--gate", "false"]);
    assert!(said.contains("the gate failed after plane 1"), "{said}");
    fleet.ends(0, &["drift", "b", "--plane", "1"]);
    fleet.ends(0, &["drift", "a", "--plane", "0"]);
}

/// The tree contains the planes, so an inventory does not need them and cannot change them.
#[test]
fn the_tree_gives_the_planes_of_a_push() {
    for name in ["nvue", "sonic"] {
        let system = system(name);
        let Some(fleet) = Fleet::new(system, &Shape { planes: 2, ..system.small() }) else { return };
        let given = fleet.place.read("inventory.yaml");
        let with = |plane: &str| {
            let text = given.replace(", plane: 0", plane).replace(", plane: 1", plane);
            fleet.place.write("inventory.yaml", text);
        };
        for (plane, wrong) in [(", plane: 0", "p1-"), (", plane: 1", "p0-"), (", plane: 5", "p0-")] {
            with(plane);
            let text = fleet.place.read("inventory.yaml");
            let line =
                text.lines().position(|line| line.contains(&format!("devices: {wrong}"))).expect("a rule");
            let said = fleet.ends(1, &["push", "a", "--gate", "false"]);
            let column = text.lines().nth(line).and_then(|text| text.find(plane)).expect("a plane")
                + ", plane: ".len();
            let place = format!("inventory.yaml:{}:{}: `{}`: `{wrong}", line + 1, column + 1, &plane[2..]);
            assert!(said.contains(&place) && said.contains("remove `plane`"), "{place}: {said}");
        }
        with("");
        let said = fleet.ends(1, &["push", "a", "--gate", "false"]);
        assert!(said.contains("the gate failed after plane 0"), "{said}");
        fleet.ends(0, &["drift", "a", "--plane", "0"]);
        fleet.ends(2, &["drift", "a", "--plane", "1"]);
    }
}
