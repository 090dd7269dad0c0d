//! `docs/commands.md` and `docs/commands-nic.md`: what the programs say of their own commands.
//!
//! In: the programs. Out: the pages, written by the tests that compare them, which have the programs at hand.

use std::process::Command;

use anyhow::{Context, bail};

use crate::generated::root;

/// Writes the references of commands anew.
pub(crate) fn run() -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let written = Command::new(cargo)
        .args([
            "test",
            "--quiet",
            "--workspace",
            "--test",
            "manual",
            "the_reference_is_what_the_program_says",
        ])
        .env("CLOSC_BLESS", "1")
        .current_dir(root())
        .status()
        .context("cannot run cargo")?;
    if !written.success() {
        bail!("the references of commands could not be written");
    }
    Ok(())
}
