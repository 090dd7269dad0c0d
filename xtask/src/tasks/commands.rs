//! `docs/commands.md` and `docs/commands-nic.md`: command references, from the `--help` of the programs.
//!
//! In: the programs. Out: the pages, written by the tests that compare them with the programs.

use std::process::Command;

use anyhow::{Context, bail};

use crate::generated::root;

/// Writes the command references again.
pub(crate) fn run() -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let written = Command::new(cargo)
        .args([
            "test",
            "--quiet",
            "--package",
            "closc-cli",
            "--package",
            "closc-nic",
            "--test",
            "it",
            "the_reference_is_what_the_program_says",
        ])
        .env("CLOSC_BLESS", "1")
        .current_dir(root())
        .status()
        .context("cannot run cargo")?;
    if !written.success() {
        bail!("the command references could not be written");
    }
    Ok(())
}
