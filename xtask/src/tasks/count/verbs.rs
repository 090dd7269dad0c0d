//! `cargo xtask count verbs`: instructions of whole commands on fabrics of 8 thousand to a million NICs.
//!
//! In: the release build of `closc`, run under valgrind with one thread. Out: a section of `docs/instructions.md`.
//! Invariants: a shard is compiled, and its share of the NICs is what counts are divided by; where the proof of a plane
//! takes hours, the table has no number.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::generated::root;

/// A fabric that is counted.
struct Subject {
    /// Its file, from the root of the repository; none for the one that is written for it.
    file: Option<&'static str>,
    nics: u64,
    /// Ports of switches for each NIC and plane.
    ports: u64,
    /// The first of so many shards is compiled.
    shards: u64,
    /// Whether the first plane is proved, too.
    proved: bool,
}

const PLANES: u64 = 8;

/// The published shape with a quarter of the ports, which no file of the repository has.
const SMALL: &str = "\
fabric: eight-thousand
planes: 8
hosts: { groups: 128, per_group: 64, nic: { speed: 800G, lanes: 8 } }
tiers:
  t0: { platform: th5-512x100g, os: sonic, up: 64 }
  t1: { platform: th5-512x100g, os: sonic }
";

const SUBJECTS: &[Subject] = &[
    Subject { file: None, nics: 8_192, ports: 3, shards: 8, proved: true },
    Subject {
        file: Some("topologies/reference/mrc-8x512.yaml"),
        nics: 131_072,
        ports: 3,
        shards: 8,
        proved: true,
    },
    Subject {
        file: Some("topologies/reference/two-tier-1024.yaml"),
        nics: 524_288,
        ports: 3,
        shards: 8,
        proved: false,
    },
    Subject {
        file: Some("topologies/reference/million.yaml"),
        nics: 1_048_576,
        ports: 5,
        shards: 128,
        proved: false,
    },
];

/// Counts and returns the rows of the table.
pub(super) fn rows() -> anyhow::Result<String> {
    build()?;
    let place = std::env::temp_dir().join(format!("closc-count-{}", std::process::id()));
    fs::create_dir(&place).with_context(|| format!("cannot make {}", place.display()))?;
    let rows = SUBJECTS.iter().map(|subject| row(subject, &place)).collect();
    fs::remove_dir_all(&place).with_context(|| format!("cannot remove {}", place.display()))?;
    rows
}

fn row(subject: &Subject, place: &Path) -> anyhow::Result<String> {
    let file = subject.file.map_or_else(|| place.join("small.yaml"), |file| root().join(file));
    if subject.file.is_none() {
        fs::write(&file, SMALL)?;
    }
    let check = count("check", &file, &[])? as f64;
    let compile = compile(subject, &file, place)? as f64;
    let share = (subject.nics * PLANES / subject.shards) as f64;
    let verify = if subject.proved {
        format!("{:.1}", verify(&file, place)? as f64 / subject.nics as f64 / 1e3)
    } else {
        String::from("-")
    };
    let (nics, per_nic) = (subject.nics as f64, compile / share / 1e3);
    let per_port = per_nic / subject.ports as f64;
    let check = format!("{:.1} | {:.0}", check / 1e6, check / nics);
    Ok(format!("| {nics} | {check} | {per_nic:.1} | {per_port:.1} | {verify} |\n"))
}

/// Compiles the first shard.
fn compile(subject: &Subject, file: &Path, place: &Path) -> anyhow::Result<u64> {
    let (part, shard) = (place.join("part"), format!("0/{}", subject.shards));
    let counted =
        count("compile", file, &["--shard".as_ref(), shard.as_ref(), "--out".as_ref(), part.as_ref()]);
    fs::remove_dir_all(&part)?;
    counted
}

/// Compiles the first plane and the path tables, uncounted, and proves that plane.
fn verify(file: &Path, place: &Path) -> anyhow::Result<u64> {
    let (plane, tables) = (place.join("plane"), place.join("tables"));
    for (select, out) in [("plane=0", &plane), ("tier=hosts", &tables)] {
        let mut closc = Command::new(program());
        let made = closc
            .arg("compile")
            .arg(file)
            .args(["--quiet", "--select", select, "--out"])
            .arg(out)
            .status()?;
        ensure!(made.success(), "`closc compile {}` failed", file.display());
    }
    let summary = place.join("summary.json");
    let more = ["--tables".as_ref(), tables.as_ref(), "--summary".as_ref(), summary.as_ref()];
    let counted = count("verify", &plane, &more);
    fs::remove_dir_all(&plane)?;
    fs::remove_dir_all(&tables)?;
    counted
}

fn build() -> anyhow::Result<()> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "-p", "closc-cli"])
        .current_dir(root())
        .status()?;
    if built.success() { Ok(()) } else { bail!("`closc` does not build") }
}

/// Returns where the program is.
fn program() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("release/closc")
}

/// Counts the instructions of a command on a fabric file or a tree.
fn count(verb: &str, input: &Path, more: &[&OsStr]) -> anyhow::Result<u64> {
    let out = Command::new("valgrind")
        .env("RAYON_NUM_THREADS", "1")
        .env("CLOSC_PLATFORMS", root().join("topologies/reference/platforms"))
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program())
        .arg(verb)
        .arg(input)
        .args(["--quiet", "--jobs", "1"])
        .args(more)
        .output()
        .context("cannot run valgrind; Debian: apt-get install valgrind")?;
    let said = String::from_utf8_lossy(&out.stderr);
    ensure!(out.status.success(), "`closc {verb} {}` failed:\n{said}", input.display());
    let number = said.lines().find(|line| line.contains("refs:")).and_then(|line| line.rsplit(' ').next());
    number
        .and_then(|number| number.replace(',', "").parse().ok())
        .with_context(|| format!("valgrind counted nothing:\n{said}"))
}
