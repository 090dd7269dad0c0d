//! Damage that nobody chose: each field of each table and each kind of line, lost, emptied, doubled, changed, another
//! device's, and the same everywhere at once.
//!
//! What forwards, marks, pauses or drops is found whatever happens to it. What is not found is in a list with the reason
//! why it does no harm (`harmless.rs`). A run takes a sample; `CLOSC_ALL_DAMAGE=1` takes everything, looks for
//! reasons that nothing needs any more, and compares the table in docs/kill-rates.md, which `CLOSC_BLESS=1` writes.
//! `CLOSC_DAMAGE_SEED` takes another sample, `CLOSC_DAMAGE=nccl.conf` all damage to files or tables with that in their name.

#[path = "../mutations/base.rs"]
#[allow(dead_code, reason = "plans are for damage by name")]
mod base;
mod case;
#[path = "../common/mod.rs"]
mod common;
mod harmless;
mod lines;
mod rates;
mod shapes;
mod steps;
mod tables;

use std::env;
use std::panic;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use closc_verify::verify;

use base::{Base, Trees};
use case::{Case, How, sign};
use rates::Rates;

/// One of so many cases is taken where not all are wanted.
const SAMPLE: u64 = 12;

/// All ways of damage.
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
    for (base, devices, names) in TEXTS {
        for [own, donor] in *devices {
            for name in *names {
                let files = [own, donor].map(|device| format!("{device}/{name}"));
                let section = section(own, name);
                lines::text(trees.tree(*base), *base, files, &section, &mut cases);
            }
        }
    }
    for base in [Base::P4, Base::ChosenP4] {
        for device in ["p0-t0-001", "p0-t1-001"] {
            lines::entries(trees.tree(base), base, &format!("switches/{device}/entries.txtpb"), &mut cases);
        }
    }
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

/// How damage to a file is counted: that to ports of systemd-networkd together.
fn section(folder: &str, name: &str) -> String {
    let name = match name.strip_prefix("networkd/").and_then(|unit| unit.rsplit_once('-')) {
        Some((_, "lo.network")) => "networkd lo.network",
        Some((_, unit)) => match unit.rsplit_once('.') {
            Some((_, "link")) => "networkd port.link",
            Some((_, "rules")) => "networkd rdma.rules",
            _ => "networkd port.network",
        },
        None => name,
    };
    if folder.starts_with("hosts/") { format!("{name} of nodes") } else { name.to_owned() }
}

/// Texts that are damaged: the fabric, a device and another of its tier, and names of files.
type Texts = &'static [(Base, &'static [[&'static str; 2]], &'static [&'static str])];

const PODS: &[[&str; 2]] =
    &[["switches/p0-t0-001", "switches/p0-t0-002"], ["switches/p0-t1-001", "switches/p0-t1-002"]];
const ZONES: &[[&str; 2]] = &[
    ["switches/z0-p0-t0-001", "switches/z0-p0-t0-002"],
    ["switches/z0-p0-t1-001", "switches/z0-p0-t1-002"],
    ["switches/p0-t2-001", "switches/p0-t2-002"],
];
const NODES: &[[&str; 2]] = &[["hosts/su001-n001", "hosts/su001-n002"]];

/// Files for systemd-networkd that nodes have with every routing.
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
    (Base::Linux, NODES, &["ip.batch", "devices.batch", "sysctl.conf", "routes.batch"]),
    (Base::ChosenLinux, NODES, &["ip.batch", "sysctl.conf"]),
    (Base::Fixed, NODES, &["nic-qos.sh", "nccl.conf", "vccl.conf"]),
    (Base::Tools, NODES, &["nic-qos.sh", "nccl.conf", "vccl.conf", "netplan.yaml", "sysctl.conf"]),
    (Base::Tools, NODES, UNITS),
    (Base::Tools, NODES, &["networkd/50-closc-lo.network"]),
    (Base::ChosenTools, NODES, &["netplan.yaml"]),
    (Base::ChosenTools, NODES, UNITS),
];

/// Tells whether a case is in the sample.
fn sampled(case: &Case, seed: u64) -> bool {
    let hash = blake3::hash(format!("{seed} {}", case.name()).as_bytes());
    let number = hash.as_bytes()[..8].iter().fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
    let moved = matches!(case.how, How::Moved | How::MovedEverywhere);
    number.is_multiple_of(if moved { SAMPLE * 4 } else { SAMPLE })
}

/// Verifies the damaged tree; nothing where the damage changes nothing.
fn found(trees: &Trees, case: &Case) -> Option<bool> {
    let own = trees.tree(case.base);
    let mut tree = own.clone();
    (case.damage)(&mut tree);
    if tree.files == own.files {
        return None;
    }
    sign(&mut tree);
    // Whatever a file says, nobody may fall over it: that counts as missed.
    let judged = panic::catch_unwind(|| verify(&tree, base::options()));
    Some(judged.is_ok_and(|judged| judged.map_or(true, |report| !report.holds())))
}

#[test]
fn what_forwards_marks_pauses_or_drops_is_found() {
    let all = env::var_os("CLOSC_ALL_DAMAGE").is_some();
    let seed = env::var("CLOSC_DAMAGE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let trees = Trees::new();
    let mut cases = cases(&trees);
    let wanted = env::var("CLOSC_DAMAGE").ok();
    cases.retain(|case| match &wanted {
        Some(part) => case.section.contains(part),
        None => all || sampled(case, seed),
    });
    let least = if wanted.is_some() { 1 } else { 300 };
    assert!(cases.len() >= least, "{} ways of damage", cases.len());
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases_at(&next, cases.len()) {
                    let outcome = found(&trees, &cases[case]);
                    outcomes.lock().expect("nobody panics with it").push((case, outcome));
                }
            });
        }
    });
    let mut rates = Rates::default();
    for (case, outcome) in outcomes.into_inner().expect("nobody panics with it") {
        if let Some(found) = outcome {
            rates.count(&cases[case], found);
        }
    }
    rates.judge(all);
}

fn cases_at(next: &AtomicUsize, count: usize) -> Option<usize> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    (at < count).then_some(at)
}
