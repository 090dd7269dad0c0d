//! Generated damage: each field of each table and each kind of line is removed, emptied, duplicated, changed or
//! replaced with that of another device. This is done on one device and on all.
//!
//! Damage to any setting that forwards, marks, pauses or drops must be found. Exceptions are listed with the reason why
//! they are harmless (`harmless.rs`). Every kind of file that a tree can have is damaged (`kinds.rs`). A normal run
//! uses a sample. `CLOSC_ALL_DAMAGE=1` uses all cases, checks for unused reasons, and compares the table in
//! docs/kill-rates.md, which `CLOSC_BLESS=1` writes. `CLOSC_DAMAGE_SEED` selects another sample.
//! `CLOSC_DAMAGE=nccl.conf,tc.batch` uses all damage to files or tables with one of these texts in their names, or with
//! a seed a sample of it. In both cases, `CLOSC_BLESS=1` writes only the lines of these files and tables.
//! `CLOSC_MISPLACED=1` prints the reports that do not name a damaged line.

mod case;
mod harmless;
mod kinds;
mod lines;
mod nvue;
mod placement;
mod rates;
mod shapes;
mod steps;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::panic;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use closc_verify::verify;

use crate::base::{self, Base, Trees};
use case::{Case, ChangeKind, sign};
use placement::{Placement, placement};
use rates::Rates;

/// Sampling interval for the cases of a section. For small changes of numbers, it is four times as large.
const SAMPLE: usize = 24;

/// Minimum number of cases per section.
const LEAST: usize = 3;

/// Returns all cases of damage.
fn cases(trees: &Trees) -> Vec<Case> {
    let mut cases = Vec::new();
    for base in [Base::Sonic, Base::Lossless, Base::BgpLossless, Base::Fixed] {
        steps::config(trees.tree(base), base, &mut cases);
    }
    for base in [Base::Sonic, Base::Lossless, Base::ChosenSonic, Base::BgpSonic] {
        for devices in [["p0-t0-001", "p0-t0-002"], ["p0-t1-001", "p0-t1-002"]] {
            tables::config(trees.tree(base), base, devices, &mut cases);
        }
    }
    isolation_cases(trees, &mut cases);
    for (base, devices, names) in TEXTS {
        for [own, donor] in *devices {
            for name in *names {
                let files = [own, donor].map(|device| format!("{device}/{name}"));
                let section = section(own, name);
                lines::text(trees.tree(*base), *base, files, &section, &mut cases);
            }
        }
    }
    nvue_cases(trees, &mut cases);
    for (base, file) in ENTRIES {
        for device in ["p0-t0-001", "p0-t1-001"] {
            lines::entries(trees.tree(base), base, &format!("switches/{device}/{file}"), &mut cases);
        }
    }
    for (base, pipeline) in [(Base::P4, "fabric"), (Base::Pins, "sai"), (Base::Tofino, "fabric_tna")] {
        for (kind, section) in [("p4info.txtpb", "P4Info"), ("bmv2.json", "P4 programs")] {
            let file = format!("p4/{pipeline}.{kind}");
            if trees.tree(base).files.contains_key(camino::Utf8Path::new(&file)) {
                lines::places(trees.tree(base), base, (&file, 20), section, &mut cases);
            }
        }
    }
    node_cases(trees, &mut cases);
    for (base, name) in [
        (Base::Sonic, "SONiC"),
        (Base::Lossless, "SONiC"),
        (Base::Fixed, "SONiC"),
        (Base::Bgp, "FRRouting"),
        (Base::P4, "P4"),
    ] {
        let section = format!("manifest.json ({name})");
        tables::leaves(trees.tree(base), base, "manifest.json", &section, &mut cases);
    }
    for base in [Base::Sonic, Base::Zones] {
        let stem = if base == Base::Zones { "path-tables/z0-group-0001" } else { "path-tables/group-0001" };
        tables::leaves(trees.tree(base), base, &format!("{stem}.json"), "path tables (JSON)", &mut cases);
        lines::bytes(trees.tree(base), base, &format!("{stem}.bin"), "path tables (binary)", &mut cases);
    }
    for base in [Base::Sonic, Base::Lossless, Base::Zones, Base::Declared, Base::Bgp] {
        let files = ["cables/plane-0.csv".to_owned(), "cables/plane-0.csv".to_owned()];
        lines::text(trees.tree(base), base, files, "cable lists", &mut cases);
    }
    cases
}

/// Damage to the list of isolated ports, on a switch with isolated ports and on one without. All other tables are
/// covered by [`Base::Sonic`].
fn isolation_cases(trees: &Trees, cases: &mut Vec<Case>) {
    let mut all = Vec::new();
    for devices in [["p0-t0-001", "p0-t0-002"], ["p0-t1-001", "p0-t1-002"]] {
        tables::config(trees.tree(Base::Isolated), Base::Isolated, devices, &mut all);
    }
    cases.extend(all.into_iter().filter(|case| case.section.contains(" ACL_")));
}

/// Damage to JSON files of nodes.
fn node_cases(trees: &Trees, cases: &mut Vec<Case>) {
    for base in [Base::Fixed, Base::Tools, Base::ChosenTools] {
        for name in ["delay.json", "backup-ports.json"] {
            let file = format!("hosts/su001-n001/{name}");
            if trees.tree(base).files.contains_key(camino::Utf8Path::new(&file)) {
                tables::leaves(trees.tree(base), base, &file, &format!("{name} of nodes"), cases);
            }
        }
    }
}

/// Damage to `nvue.yaml` of each tier: segments, then routes and PFC, then BGP.
fn nvue_cases(trees: &Trees, cases: &mut Vec<Case>) {
    let mut seen = BTreeSet::new();
    for (base, devices) in
        [(Base::Nvue, PODS), (Base::ChosenNvue, PODS), (Base::BgpNvue, ZONES), (Base::AdaptiveNvue, PODS)]
    {
        for (tier, pair) in devices.iter().enumerate() {
            nvue::file(trees.tree(base), base, (tier, *pair), (&mut seen, cases));
        }
    }
}

/// Entries of P4 targets that are damaged.
const ENTRIES: [(Base, &str); 6] = [
    (Base::P4, "entries.txtpb"),
    (Base::ChosenP4, "entries.txtpb"),
    (Base::Pins, "pins.txtpb"),
    (Base::ChosenPins, "pins.txtpb"),
    (Base::Tofino, "tna.txtpb"),
    (Base::ChosenTofino, "tna.txtpb"),
];

/// Returns the section under which damage to a file is counted. Ports of systemd-networkd count together.
fn section(folder: &str, name: &str) -> String {
    let name = match name.strip_prefix("networkd/") {
        Some(unit) => format!("networkd {}", self::unit(unit)),
        None if name.starts_with("closc/") => "nicN.env".to_owned(),
        None => name.to_owned(),
    };
    if folder.starts_with("hosts/") { format!("{name} of nodes") } else { name }
}

/// Returns the kind of a file for systemd-networkd or udev.
fn unit(name: &str) -> &'static str {
    match name.rsplit_once('-').and_then(|(_, unit)| unit.split_once('.')) {
        Some(("lo", "network")) => "lo.network",
        Some((_, "link")) => "port.link",
        Some((_, "rules")) => "rdma.rules",
        _ => "port.network",
    }
}

/// Text files to damage: the fabric, a device and another one of its tier, and file names.
type Texts = &'static [(Base, &'static [[&'static str; 2]], &'static [&'static str])];

const PODS: &[[&str; 2]] =
    &[["switches/p0-t0-001", "switches/p0-t0-002"], ["switches/p0-t1-001", "switches/p0-t1-002"]];
const ZONES: &[[&str; 2]] = &[
    ["switches/z0-p0-t0-001", "switches/z0-p0-t0-002"],
    ["switches/z0-p0-t1-001", "switches/z0-p0-t1-002"],
    ["switches/p0-t2-001", "switches/p0-t2-002"],
];
const NODES: &[[&str; 2]] = &[["hosts/su001-n001", "hosts/su001-n002"]];

/// Files for systemd-networkd that nodes have with every routing mode.
const UNITS: &[&str] =
    &["networkd/50-closc-nic0p0.network", "networkd/50-closc-nic0p0.link", "networkd/60-closc-rdma.rules"];

const TEXTS: Texts = &[
    (Base::Frr, PODS, &["frr.conf", "daemons", "ip.batch", "tc.batch", "devices.batch", "sysctl.conf"]),
    (Base::ChosenFrr, PODS, &["frr.conf"]),
    (Base::Bgp, ZONES, &["frr.conf", "daemons", "ip.batch", "sysctl.conf"]),
    (Base::BgpGap, ZONES, &["frr.conf"]),
    (Base::BgpSonic, PODS, &["frr.conf"]),
    (Base::Linux, PODS, &["ip.batch", "tc.batch", "devices.batch", "sysctl.conf"]),
    (Base::ChosenLinux, PODS, &["ip.batch", "sysctl.conf"]),
    (Base::ChosenZones, ZONES, &["ip.batch"]),
    (Base::ChosenEos, PODS, &["eos.conf"]),
    (Base::BgpEos, PODS, &["eos.conf"]),
    (Base::FlowletEos, PODS, &["eos.conf"]),
    (Base::AdaptiveNvue, NODES, &["nccl.conf"]),
    (Base::Linux, NODES, &["ip.batch", "devices.batch", "sysctl.conf", "routes.batch"]),
    (Base::ChosenLinux, NODES, &["ip.batch", "sysctl.conf"]),
    (Base::Fixed, NODES, &["nic-qos.sh", "nccl.conf", "vccl.conf"]),
    (Base::Tools, NODES, &["nic-qos.sh", "nccl.conf", "vccl.conf", "netplan.yaml", "sysctl.conf"]),
    (Base::Tools, NODES, &["nccl-topology.xml"]),
    (Base::Tools, NODES, UNITS),
    (Base::Tools, NODES, &["closc/nic0.env"]),
    (Base::Tools, NODES, &["networkd/50-closc-lo.network"]),
    (Base::ChosenTools, NODES, &["netplan.yaml", "nccl-topology.xml"]),
    (Base::ChosenTools, NODES, UNITS),
];

/// Cases of a section, each with a random number.
type SampledCases = Vec<([u8; 32], usize)>;

/// Selects a sample: the cases with the smallest random numbers in each section.
fn sample(cases: &mut Vec<Case>, seed: u64) {
    let drawn = |case: &Case| *blake3::hash(format!("{seed} {}", case.name()).as_bytes()).as_bytes();
    let mut sections: BTreeMap<(String, bool), SampledCases> = BTreeMap::new();
    for (at, case) in cases.iter().enumerate() {
        let moved = matches!(case.change_kind, ChangeKind::Moved | ChangeKind::MovedEverywhere);
        sections.entry((case.section.clone(), moved)).or_default().push((drawn(case), at));
    }
    let mut kept = BTreeSet::new();
    for ((_, moved), mut section) in sections {
        section.sort_unstable();
        let share = section.len() / if moved { SAMPLE * 4 } else { SAMPLE };
        kept.extend(section.into_iter().take(share.max(LEAST)).map(|(_, at)| at));
    }
    let mut at = 0;
    cases.retain(|_| {
        at += 1;
        kept.contains(&(at - 1))
    });
}

/// Verifies the damaged tree. The outer result is `None` if the damage changes no file. The inner result is
/// the placement of the violations; `None` if the damage is not found.
#[expect(clippy::option_option, reason = "not detected, detected without a place, or with one")]
fn detect(trees: &Trees, case: &Case) -> Option<Option<Placement>> {
    let own = trees.tree(case.base);
    let mut tree = own.clone();
    (case.damage)(&mut tree);
    if tree.files == own.files {
        return None;
    }
    sign(&mut tree);
    // A panic of a reader counts as missed.
    let judged = panic::catch_unwind(|| verify(&tree, base::options()));
    Some(match judged {
        Err(_) => None,
        Ok(Err(_)) => Some(Placement::Nowhere),
        Ok(Ok(report)) => (!report.holds()).then(|| {
            let placed = placement(own, &tree, &report);
            if placed != Placement::Exact && env::var_os("CLOSC_MISPLACED").is_some() {
                eprintln!("{placed:?}: {}\n{}", case.name(), report.text());
            }
            placed
        }),
    })
}

#[test]
fn what_forwards_marks_pauses_or_drops_is_found() {
    let all = env::var_os("CLOSC_ALL_DAMAGE").is_some();
    let drawn: Option<u64> = env::var("CLOSC_DAMAGE_SEED").ok().and_then(|seed| seed.parse().ok());
    let trees = Trees::new();
    let mut cases = cases(&trees);
    let wanted = env::var("CLOSC_DAMAGE").ok();
    if let Some(parts) = &wanted {
        cases.retain(|case| parts.split(',').any(|part| case.section.contains(part)));
    }
    let whole = all || wanted.is_some() && drawn.is_none();
    if !whole {
        sample(&mut cases, drawn.unwrap_or(1));
    }
    let least = if wanted.is_some() { 1 } else { 300 };
    assert!(cases.len() >= least, "{} ways of damage", cases.len());
    eprintln!("{} ways of damage", cases.len());
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases_at(&next, cases.len()) {
                    let outcome = detect(&trees, &cases[case]);
                    if outcome == Some(None) && harmless::reason(&cases[case]).is_none() {
                        eprintln!("missed: {}", cases[case].name());
                    }
                    outcomes.lock().expect("no thread panics with it").push((case, outcome));
                }
            });
        }
    });
    let mut rates = Rates::default();
    for (case, outcome) in outcomes.into_inner().expect("no thread panics with it") {
        if let Some(found) = outcome {
            rates.count(&cases[case], found);
        }
    }
    rates.judge(whole, wanted.is_some(), drawn);
}

#[test]
fn files_that_are_written_again_hold() {
    let trees = Trees::of(&[Base::Nvue, Base::ChosenNvue, Base::BgpNvue, Base::AdaptiveNvue]);
    for base in [Base::Nvue, Base::ChosenNvue, Base::BgpNvue, Base::AdaptiveNvue] {
        let mut tree = trees.tree(base).clone();
        assert!(nvue::rewrite(&mut tree) > 3, "{base:?}");
        sign(&mut tree);
        let report = verify(&tree, base::options()).expect("the tree can be read");
        assert!(report.holds(), "{base:?}\n{}", report.text());
    }
}

fn cases_at(next: &AtomicUsize, count: usize) -> Option<usize> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    (at < count).then_some(at)
}
