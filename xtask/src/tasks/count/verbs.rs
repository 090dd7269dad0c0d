//! `cargo xtask count verbs`: instructions of complete commands on fabrics of 8 thousand to a million NICs.
//!
//! In: `closc` of the profile `quick`, run under valgrind with one thread. Out: a section of
//! `docs/instructions.md`. Invariants: one shard is compiled, and counts are divided by its share of the
//! NICs. The counted program is a copy, so that a build in the meantime has no effect. A plane of a million
//! NICs is proved in about 20 minutes of processor time and takes 12 GB in the folder of temporary files.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::generated::root;

/// A fabric for which instructions are counted.
struct Subject {
    /// Its file, from the root of the repository; `None` for [`SMALL`].
    file: Option<&'static str>,
    nics: u64,
    /// Ports of switches for each NIC and plane.
    ports: u64,
    /// Number of shards, of which the first is compiled.
    shards: u64,
}

const PLANES: u64 = 8;

/// Folder of the platform of the third fabric.
const PLATFORMS: &str = "topologies/reference/platforms";

/// The shape of `mrc-8x512.yaml` with a quarter of the ports, which is not in a file of the repository.
const SMALL: &str = "\
fabric: eight-thousand
planes: 8
hosts: { groups: 128, per_group: 64, nic: { speed: 800G, lanes: 8 } }
tiers:
  t0: { platform: th5-512x100g, os: sonic, up: 64 }
  t1: { platform: th5-512x100g, os: sonic }
";

const SUBJECTS: &[Subject] = &[
    Subject { file: None, nics: 8_192, ports: 3, shards: 8 },
    Subject { file: Some("topologies/reference/mrc-8x512.yaml"), nics: 131_072, ports: 3, shards: 8 },
    Subject { file: Some("topologies/reference/two-tier-1024.yaml"), nics: 524_288, ports: 3, shards: 8 },
    Subject { file: Some("topologies/reference/million.yaml"), nics: 1_048_576, ports: 5, shards: 128 },
];

/// Counts and returns the rows of the table.
pub(super) fn rows() -> anyhow::Result<String> {
    build()?;
    let place = std::env::temp_dir().join(format!("closc-count-{}", std::process::id()));
    fs::create_dir(&place).with_context(|| format!("cannot make {}", place.display()))?;
    let program = place.join("closc");
    fs::copy(program_path(), &program)
        .with_context(|| format!("cannot copy the program to {}", program.display()))?;
    let rows = SUBJECTS.iter().map(|subject| row(subject, &program, &place)).collect();
    fs::remove_dir_all(&place).with_context(|| format!("cannot remove {}", place.display()))?;
    rows
}

fn row(subject: &Subject, program: &Path, place: &Path) -> anyhow::Result<String> {
    let file = subject.file.map_or_else(|| place.join("small.yaml"), |file| root().join(file));
    if subject.file.is_none() {
        fs::write(&file, SMALL)?;
    }
    let (nics, ports) = (subject.nics as f64, subject.ports as f64);
    let check = count(program, "check", &file, &[])? as f64;
    let share = (subject.nics * PLANES / subject.shards) as f64;
    let compile = compile(subject, program, &file, place)? as f64 / share / 1e3;
    let verify = verify(program, &file, place)? as f64 / nics / 1e3;
    let check = format!("{:.1} | {:.0}", check / 1e6, check / nics);
    let both = [compile, verify].map(|count| format!("{count:.1} | {:.1}", count / ports)).join(" | ");
    let row = format!("| {nics} | {check} | {both} |\n");
    // The next row may take long.
    eprint!("{row}");
    Ok(row)
}

/// Compiles the first shard.
fn compile(subject: &Subject, program: &Path, file: &Path, place: &Path) -> anyhow::Result<u64> {
    let (part, shard) = (place.join("part"), format!("0/{}", subject.shards));
    let more = ["--shard".as_ref(), shard.as_ref(), "--out".as_ref(), part.as_ref()];
    let counted = count(program, "compile", file, &more);
    fs::remove_dir_all(&part)?;
    counted
}

/// Compiles the first plane and the path tables, uncounted, and proves that plane.
fn verify(program: &Path, file: &Path, place: &Path) -> anyhow::Result<u64> {
    let (plane, tables) = (place.join("plane"), place.join("tables"));
    for (select, out) in [("plane=0", &plane), ("tier=hosts", &tables)] {
        let mut closc = Command::new(program);
        let made = closc
            .env("CLOSC_PLATFORMS", root().join(PLATFORMS))
            .arg("compile")
            .arg(file)
            .args(["--quiet", "--select", select, "--out"])
            .arg(out)
            .status()?;
        ensure!(made.success(), "`closc compile {}` failed", file.display());
    }
    let summary = place.join("summary.json");
    let more = ["--tables".as_ref(), tables.as_ref(), "--summary".as_ref(), summary.as_ref()];
    let counted = count(program, "verify", &plane, &more);
    fs::remove_dir_all(&plane)?;
    fs::remove_dir_all(&tables)?;
    counted
}

fn build() -> anyhow::Result<()> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--profile", "quick", "-p", "closc-cli"])
        .current_dir(root())
        .status()?;
    if built.success() { Ok(()) } else { bail!("`closc` does not build") }
}

/// Returns the path of the program that was built.
fn program_path() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("quick/closc")
}

/// Counts the instructions of a command on a fabric file or a tree.
fn count(program: &Path, verb: &str, input: &Path, more: &[&OsStr]) -> anyhow::Result<u64> {
    let out = Command::new("valgrind")
        .env("RAYON_NUM_THREADS", "1")
        .env("CLOSC_PLATFORMS", root().join(PLATFORMS))
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .arg(verb)
        .arg(input)
        .arg("--quiet")
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
