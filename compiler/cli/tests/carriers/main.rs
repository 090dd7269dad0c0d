//! `closc push`, `drift`, `watch` and `diff live` of switches whose configuration is files: a client that takes the place of
//! `ssh` runs the command line of a switch over files (EOS, Cumulus Linux, FRRouting), or in a network namespace with the
//! kernel's own ports, addresses and routes (FRRouting, Linux), which takes root.

#[path = "../common/mod.rs"]
mod common;
mod damage;
mod fleet;
mod frr;

use std::fs;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use damage::{damage, damage_of, kinds, repair};
use fleet::{Fleet, Kind, Shape, profile, small};

/// The variable that has the number of random fabrics.
const FABRICS: &str = "CLOSC_CARRIER_FABRICS";

/// Every system.
fn fleets() -> Vec<Fleet> {
    Kind::ALL.into_iter().filter_map(|(os, kind)| Fleet::new(os, &small(kind))).collect()
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
            assert!(fleet.ends(0, &["push", tree]).contains("; 0 updates sent"), "{}", fleet.os);
            fleet.ends(0, &["drift", tree]);
            fleet.names.iter().for_each(|name| fleet.assert_site(name));
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
            assert_eq!(fleet.state(name), before, "{} {name}", fleet.os);
            fleet.assert_site(name);
        }
        fleet.ends(0, &["drift", "a"]);
        // A push that changed nothing here leaves nothing to undo.
        assert!(fleet.ends(0, &["push", "b", "--rollback", "1-1"]).contains("; 0 updates sent"));
        assert!(fleet.ends(64, &["push", "b", "--rollback", "../x"]).contains("expected the name"));
    }
}

#[test]
fn a_saved_plan_is_pushed_and_refused_where_a_switch_moved() {
    for fleet in fleets() {
        fleet.ends(0, &["push", "a"]);
        fleet.ends(2, &["push", "b", "--out", "plan.json"]);
        let random = &mut SplitMix64::seed_from_u64(3);
        let name = fleet.names[0].clone();
        let undo = damage(&fleet, &name, "b", random).expect("there is something to damage");
        let said = fleet.ends(1, &["push", "plan.json"]);
        assert!(said.contains("the live state has moved"), "{}: {said}", fleet.os);
        repair(&fleet, &name, undo);
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
fn each_file_that_is_brought_is_compared() {
    let random = &mut SplitMix64::seed_from_u64(5);
    for (os, kind) in Kind::ALL {
        let routing =
            if matches!(kind, Kind::Kernel { has_frr: true }) { "bgp-unnumbered" } else { "ecmp-static" };
        let Some(fleet) = Fleet::new(os, &Shape { routing, ..small(kind) }) else { continue };
        fleet.ends(0, &["push", "a"]);
        let name = fleet.names[0].clone();
        for damaged in kinds(&fleet) {
            println!("{os}: {damaged}");
            let undo =
                damage_of(&fleet, &name, ("a", damaged), random).expect("there is something to damage");
            let report = fleet.ends(2, &["drift", "a"]);
            let file = damaged.rsplit('/').next().expect("a name");
            assert!(report.contains(&name) && report.contains(file), "{os} {damaged}: {report}");
            repair(&fleet, &name, undo);
        }
        fleet.ends(0, &["push", "a"]);
        fleet.ends(0, &["drift", "a"]);
    }
}

/// A random fabric for a system.
fn random_shape(kind: Kind, pick: &mut impl FnMut(u8) -> u8) -> Shape {
    let routings: &[&str] = match kind {
        Kind::Eos | Kind::Nvue => &["ecmp-static", "bgp-unnumbered"],
        Kind::Kernel { has_frr: true } => &["ecmp-static", "bgp-unnumbered", "srv6-static"],
        Kind::Kernel { has_frr: false } => &["ecmp-static", "srv6-static"],
    };
    let routing = routings[usize::from(pick(u8::try_from(routings.len()).expect("few")))];
    Shape {
        groups: 2 + pick(2),
        per_group: 1 + pick(4),
        planes: 1 + pick(2),
        qos: if pick(4) == 0 { "none" } else { profile(kind) },
        routing,
    }
}

/// Random fabrics of every system: each is pushed, and one random damage of one random switch is named, of that switch alone.
/// `CLOSC_CARRIER_FABRICS=300` is the complete run.
#[test]
fn drift_names_a_random_damage_of_a_random_fabric() {
    let count = std::env::var(FABRICS).ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let random = &mut SplitMix64::seed_from_u64(11);
    let mut damages = 0;
    for fabric in 0..count {
        for (os, kind) in Kind::ALL {
            let mut pick = |most: u8| u8::try_from(random.next_u64() % u64::from(most)).expect("it is small");
            let shape = random_shape(kind, &mut pick);
            let Some(fleet) = Fleet::of_trees(os, &shape, &[("a", 9214)]) else { continue };
            fleet.ends(0, &["push", "a"]);
            fleet.ends(0, &["drift", "a"]);
            let name = fleet.names[usize::from(pick(u8::try_from(fleet.names.len()).expect("few")))].clone();
            let kinds = kinds(&fleet);
            // Some fabrics have nothing of a kind, such as queues: another kind is damaged.
            let (damaged, undo) = loop {
                let kind =
                    kinds[usize::try_from(random.next_u64() % kinds.len() as u64).expect("it is small")];
                if let Some(undo) = damage_of(&fleet, &name, ("a", kind), random) {
                    break (kind, undo);
                }
            };
            println!(
                "{fabric} {os} {} {} planes, {name}: {damaged} ({})",
                shape.routing, shape.planes, undo[0].0
            );
            damages += 1;
            let report = fleet.ends(2, &["drift", "a"]);
            let file = damaged.rsplit('/').next().expect("a name");
            let named: Vec<&String> =
                fleet.names.iter().filter(|name| report.lines().any(|line| line == name.as_str())).collect();
            assert_eq!(named, [&name], "{os} {damaged}: {report}");
            assert!(report.contains(file), "{os} {name} {damaged}: {report}");
        }
    }
    println!("{damages} damages named");
}

#[test]
fn a_switch_that_loses_its_management_address_goes_back_by_itself() {
    for os in ["eos", "nvue"] {
        let Some(fleet) = Fleet::new(os, &small(Kind::of(os))) else { continue };
        fleet.ends(0, &["push", "a"]);
        let lost = fleet.names[0].clone();
        let before = fleet.state(&lost);
        // The address by which the switch is reached is one that the change takes away.
        let kept = if os == "eos" { "mtu 9214" } else { "\"mtu\":9214" };
        let kept = if before.contains(kept) { kept } else { "\"mtu\": 9214" };
        fleet.put(&format!("fleet/{lost}/management"), kept, 0o644);
        let said = fleet.ends(1, &["push", "b", "--confirm", "1", "--max-failures", "9"]);
        assert!(said.contains(&lost) && said.contains("3 switches up to date"), "{said}");
        assert!(fleet.at(&lost, "unreachable").exists(), "{said}");
        fleet.on(&lost, &["expire"]);
        assert_eq!(fleet.state(&lost), before);
        assert!(!fleet.at(&lost, "unreachable").exists());
    }
}

#[test]
fn what_a_switch_refuses_changes_nothing() {
    for fleet in fleets() {
        fleet.ends(0, &["push", "a"]);
        let name = fleet.names[0].clone();
        let before = fleet.state(&name);
        match fleet.kind {
            Kind::Eos => fleet.put(&format!("fleet/{name}/refuse"), "9100", 0o644),
            Kind::Nvue => fleet.put(&format!("fleet/{name}/apply-fails"), "", 0o644),
            // The kernel of Linux takes what is rendered.
            Kind::Kernel { .. } => continue,
        }
        let said = fleet.ends(1, &["push", "b", "--max-failures", "9"]);
        assert!(said.contains(&name) && said.contains("3 switches up to date"), "{said}");
        assert_eq!(fleet.state(&name), before, "{}", fleet.os);
        assert!(!fleet.at(&name, "timer").exists() && !fleet.at(&name, "state/pending").exists());
        drop(fs::remove_file(fleet.at(&name, "refuse")));
        drop(fs::remove_file(fleet.at(&name, "apply-fails")));
        fleet.ends(0, &["push", "b"]);
    }
}
