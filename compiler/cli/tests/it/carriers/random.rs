//! Random fabrics of every system. Each is pushed, after which `drift` finds no differences. Then each artefact is
//! damaged on a switch, and `drift` names the damage.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::carriers::{SwitchFile, Transport};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::carriers::damage::{Act, Damage, Pick, Place, Victim, places};
use crate::carriers::fleet::Fleet;
use crate::carriers::site::{SiteChange, has_site, touch};
use crate::carriers::system::{SYSTEMS, System};

/// Environment variable with the number of random fabrics per system.
const FABRICS: &str = "CLOSC_CARRIER_FABRICS";

/// Environment variable with the first fabric number, which seeds the random choices.
const FIRST: &str = "CLOSC_CARRIER_FIRST";

/// A damaged part of an artefact, and the damage.
type Case = (SwitchFile, Transport, Place, Act);

/// The files of a switch in its tree, each with its transport and a place where the switch stores it.
fn all_places(fleet: &Fleet, name: &str) -> Vec<(SwitchFile, Transport, Place)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(fleet.place.path(&format!("a/switches/{name}"))).expect("a folder") {
        let file = entry.expect("it can be read").file_name().into_string().expect("text");
        let file = SwitchFile::of_name(&file).expect("the table of carriers has it");
        let transport = fleet.system.carrier(file).expect("a transport of the system delivers it");
        found.extend(places(file, transport).iter().map(|place| (file, transport, *place)));
    }
    found.sort_unstable();
    found
}

/// Adds a setting to the running configuration of a switch. The difference between the trees does not contain it.
pub(crate) fn add_one(fleet: &Fleet, name: &str, pick: &mut Pick<'_>) {
    let mut all = all_places(fleet, name);
    all.retain(|(file, _, place)| *place == Place::Running && *file != SwitchFile::DevicesBatch);
    loop {
        let (file, transport, place) = all[pick(all.len())];
        let damage = (Victim { fleet, name }).damage(file, transport, place, pick);
        if damage.is_some_and(|damage| damage.act == Act::Added) {
            return;
        }
    }
}

/// Damages every artefact, each on a separate switch if there are enough, and returns the damage by switch. At least
/// one switch remains intact, unless there are too many artefacts.
fn damage_all<'f>(fleet: &'f Fleet, pick: &mut Pick<'_>) -> BTreeMap<&'f str, Vec<(Case, Damage)>> {
    let mut left: Vec<&str> = Vec::new();
    let mut done: BTreeMap<&str, Vec<(Case, Damage)>> = BTreeMap::new();
    let every: BTreeSet<_> = fleet.names.iter().flat_map(|name| all_places(fleet, name)).collect();
    let count = every.len().max(fleet.names.len() - 1);
    for (file, transport, place) in every.iter().copied().cycle().take(count) {
        if left.is_empty() {
            left = fleet.names.iter().map(String::as_str).collect();
        }
        let name = left.swap_remove(pick(left.len()));
        // For EOS and NVUE, the startup configuration is compared only if nothing else differs.
        let is_hidden =
            done.contains_key(name) && [SwitchFile::EosConf, SwitchFile::NvueYaml].contains(&file);
        if is_hidden || !all_places(fleet, name).contains(&(file, transport, place)) {
            continue;
        }
        // A fabric may lack objects of a kind, such as queues.
        if let Some(damage) = (Victim { fleet, name }).damage(file, transport, place, pick) {
            done.entry(name).or_default().push(((file, transport, place, damage.act), damage));
        }
    }
    done
}

/// Returns the lines of a report, by switch.
fn by_switch<'r>(fleet: &Fleet, report: &'r str) -> BTreeMap<&'r str, Vec<&'r str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut open = None;
    for line in report.lines() {
        if fleet.names.iter().any(|name| name == line) {
            open = Some(line);
            found.entry(line).or_default();
        } else if let Some(lines) =
            open.and_then(|name| found.get_mut(name)).filter(|_| line.starts_with(' '))
        {
            lines.push(line);
        } else {
            open = None;
        }
    }
    found
}

/// Tests one fabric. Returns the damage, all of which was named.
fn prove(system: &'static System, number: u64) -> Option<Vec<Case>> {
    let place = SYSTEMS.iter().position(|other| other.name == system.name).expect("it is one of them");
    let random = &mut SplitMix64::seed_from_u64(number * SYSTEMS.len() as u64 + place as u64);
    let mut pick = |count: usize| usize::try_from(random.next_u64() % count as u64).expect("small");
    let shape = system.random(&mut pick);
    let mtu = [9214, 9100][pick(2)];
    let fleet = Fleet::of_trees(system, &shape, &[("a", mtu)])?;
    let about = format!("{number} {} {} {} planes", system.name, shape.routing, shape.planes);
    fleet.ends(0, &["push", "a"]);
    let touched = fleet.names[pick(fleet.names.len())].clone();
    let change = touch(&fleet, &touched, &mut pick);
    assert_eq!(change.is_some(), has_site(&fleet), "{about}");
    fleet.ends(0, &["drift", "a"]);
    let before = fleet.memory();
    let done = damage_all(&fleet, &mut pick);
    let report = fleet.ends(2, &["drift", "a"]);
    let named = by_switch(&fleet, &report);
    assert!(done.keys().eq(named.keys()), "{about}: {done:?}: {report}");
    for (name, damages) in &done {
        for (_, damage) in damages {
            assert!(damage.is_named(&named[name]), "{about}: {name}: {damage:?}: {report}");
        }
    }
    // Reloads are rejected over gNMI, but the repair of some damage needs one, so the state is restored first.
    fleet.set_memory(&before);
    fleet.ends(0, &["push", "a"]);
    // The push has already read the state back; a drift check of every fabric would double the time.
    if number.is_multiple_of(8) {
        fleet.ends(0, &["drift", "a"]);
    }
    // Configuration that only a daemon holds is lost when the daemon stops.
    let is_down = |((_, _, place, act), _): &(Case, Damage)| (*place, *act) == (Place::Running, Act::Emptied);
    let is_lost = change.as_ref().is_some_and(SiteChange::is_running_only)
        && done.get(touched.as_str()).is_some_and(|damages| damages.iter().any(is_down));
    if let Some(change) = change.filter(|_| !is_lost) {
        change.assert_kept(&fleet, &touched);
        fleet.assert_site(&touched);
    }
    let cases: Vec<Case> = done.into_values().flatten().map(|(case, _)| case).collect();
    println!("{about}: {} damages named", cases.len());
    Some(cases)
}

/// A long run damages every file that a transport delivers in every place.
#[test]
fn each_artefact_of_a_random_fabric_is_brought_compared_and_named() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (count, first) = (number(FABRICS).unwrap_or(2), number(FIRST).unwrap_or(0));
    let mut sums: BTreeMap<Case, usize> = BTreeMap::new();
    let (mut n_fabrics, mut is_complete) = (0, SYSTEMS.iter().all(System::is_selected));
    for number in first..first + count {
        for system in SYSTEMS.iter().filter(|system| system.is_selected()) {
            let Some(cases) = prove(system, number) else {
                is_complete = false;
                continue;
            };
            n_fabrics += 1;
            for case in cases {
                *sums.entry(case).or_default() += 1;
            }
        }
    }
    for ((file, transport, place, act), count) in &sums {
        println!("{file} over {transport}, {place:?}, {act:?}: {count}");
    }
    println!("{n_fabrics} fabrics, {} damages, all named", sums.values().sum::<usize>());
    if !is_complete {
        return;
    }
    let damaged: BTreeSet<_> = sums.keys().map(|(file, transport, ..)| (*file, *transport)).collect();
    let reading = [Transport::Ssh, Transport::SonicSsh, Transport::SonicGnmi, Transport::P4Runtime];
    let every = SwitchFile::ALL.iter().flat_map(|file| reading.map(|transport| (*file, transport)));
    let missing: Vec<_> = every
        .filter(|(file, transport)| transport.carries(*file))
        .filter(|case| !damaged.contains(case))
        .collect();
    assert!(count < 2 || missing.is_empty(), "no fabric had these damaged: {missing:?}");
}
