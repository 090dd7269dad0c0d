//! `cargo xtask count`: instructions of each stage at three sizes, kept in `docs/instructions.md` so that a
//! regression appears as a diff.
//!
//! In: the `stages` example, built with the profile `quick`, run under valgrind. Out: a table. Invariants: counts
//! depend on the program and its input, not on other processes of the machine.

mod verbs;

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::generated::{Generated, root, write};

const STAGES: &[(&str, &str)] = &[
    ("load", "text to topology"),
    ("expand", "graph of all devices and cables"),
    ("allocate", "intents of the switches of one plane"),
    ("render", "SONiC configurations of one plane"),
    ("tables", "path tables of all groups, as JSON and binary"),
];
const SIZES: &[&str] = &["small", "medium", "large"];

/// The page with the table of stages, and after it that of whole commands.
const FILE: &str = "docs/instructions.md";

/// Counts stages or complete commands and writes their table. The other table is kept.
pub(crate) fn run(verbs: bool) -> anyhow::Result<()> {
    let old = fs::read_to_string(root().join(FILE)).unwrap_or_default();
    let (stages, commands) = old.split_once(COMMANDS).unwrap_or((&old, ""));
    let text = if verbs {
        // The text after the table explains the figures and is written by hand.
        let (_, words) = commands.split_once("|\n\n").unwrap_or_default();
        format!("{stages}{COMMANDS}{HEAD_OF_COMMANDS}{}\n{words}", verbs::rows()?)
    } else {
        format!("{}{COMMANDS}{commands}", stages_table()?)
    };
    write(&root(), &[Generated::file(FILE, text)])
}

/// Counts the stages.
fn stages_table() -> anyhow::Result<String> {
    build()?;
    let mut text = String::from(HEAD);
    for (stage, about) in STAGES {
        let _ = write!(text, "| {stage}: {about} |");
        for size in SIZES {
            let _ = write!(text, " {:.2} |", count(stage, size)? as f64 / 1e6);
        }
        text.push('\n');
    }
    Ok(text)
}

const HEAD: &str = "\
# CPU instructions per compiler stage

See how many instructions each stage of the compiler needs, and how that grows. The first table counts millions of
instructions of one run. `cargo xtask count` measures them with valgrind (profile `quick`, one thread). The sizes are 8 planes with
512, 8,192 and 131,072 NICs. If a change moves a number by more than a few percent, its commit message gives the reason.

| stage | small | medium | large |
|---|---|---|---|
";

/// Beginning of the section about complete commands.
const COMMANDS: &str = "
## Complete commands
";

const HEAD_OF_COMMANDS: &str = "
`cargo xtask count verbs` measures complete commands with valgrind's cachegrind (profile `quick`, one thread):

- `check FILE`: millions of instructions in all, and instructions per NIC
- `compile --shard 0/N` and `verify` of plane 0: thousands of instructions per NIC port (one NIC in one plane), and per
  cabled switch port

| NICs | check, million | check, per NIC | compile, per NIC port | per switch port | verify, per NIC port | per switch port |
|---|---|---|---|---|---|---|
";

fn build() -> anyhow::Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--profile", "quick", "-p", "closc-render", "--example", "stages"])
        .current_dir(root())
        .status()?;
    if status.success() { Ok(()) } else { bail!("the example `stages` does not build") }
}

fn count(stage: &str, size: &str) -> anyhow::Result<u64> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured*"])
        .arg(target.join("quick/examples/stages"))
        .args([stage, size])
        .output()
        .context("cannot run valgrind; Debian: apt-get install valgrind")?;
    let said = String::from_utf8_lossy(&out.stderr);
    said.lines()
        .find_map(|line| line.split_once("Collected : "))
        .and_then(|(_, number)| number.trim().parse().ok())
        .with_context(|| format!("valgrind counted nothing:\n{said}"))
}
