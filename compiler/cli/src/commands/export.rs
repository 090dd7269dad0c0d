//! `closc export`: files for other programs, outside a compiled tree.
//!
//! In: a fabric file. Out: files below a folder. Invariants: each file is written atomically; all written files are
//! listed.

mod air;
mod ansible;
mod cables;
mod configuration;
mod containerlab;
mod drawing;
mod host;
mod kubernetes;
mod l8k;
mod leftovers;
mod mininet;
mod mrc;
mod order;
pub(crate) mod ranks;
mod report;
mod resources;
mod scheduler;
mod simulation;
mod sonic_mgmt;
mod tables;
mod telemetry;
mod ztp;

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};

use anyhow::Context as _;
use camino::Utf8Path;
use closc_exports::File;
use closc_files::disk::{self, SyncMode};
use closc_render::Artefact;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Args;
use crate::args::export::ExportCommand;
use crate::output::{self, Document, Outcome};

/// Result of an export.
pub(crate) const EXPORT: Document<ExportOutput> = Document::new("closc-export/1");

/// Runs the subcommand.
pub fn run(args: &Args, command: &ExportCommand) -> anyhow::Result<Outcome> {
    match command {
        ExportCommand::Host(command) => host::run(args, command),
        ExportCommand::Mininet(command) => mininet::run(args, command),
        ExportCommand::Kubernetes(command) => kubernetes::run(args, command),
        ExportCommand::Cables(command) => cables::run(args, command),
        ExportCommand::Mrc(command) => mrc::run(args, command),
        ExportCommand::Ztp(command) => ztp::run(args, command),
        ExportCommand::Ansible(command) => ansible::run(args, command),
        ExportCommand::Ranks(command) => ranks::run(args, command),
        ExportCommand::Scheduler(command) => scheduler::run(args, command),
        ExportCommand::Simulation(command) => simulation::run(args, command),
        ExportCommand::Containerlab(command) => containerlab::run(args, command),
        ExportCommand::SonicMgmt(command) => sonic_mgmt::run(args, command),
        ExportCommand::L8k(command) => l8k::run(args, command),
        ExportCommand::Air(command) => air::run(args, command),
        ExportCommand::Resources(command) => resources::run(args, command),
        ExportCommand::Drawing(command) => drawing::run(args, command),
        ExportCommand::Order(command) => order::run(args, command),
        ExportCommand::Report(command) => report::run(args, command),
        ExportCommand::Tables(command) => tables::run(args, command),
        ExportCommand::Telemetry(command) => telemetry::run(args, command),
    }
}

/// Result of an export.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExportOutput {
    files: Vec<String>,
    /// Other files next to them: leftovers of an earlier export, for example of a removed plane, or files of the
    /// user.
    others: Vec<String>,
}

/// Writes files below a folder, and lists them.
fn write(args: &Args, out: &Utf8Path, artefacts: &[Artefact]) -> anyhow::Result<Outcome> {
    list_below(args, out, put(out, artefacts)?)
}

/// Lists the files that were written below a folder, and reports leftovers of earlier exports.
fn list_below(args: &Args, out: &Utf8Path, files: Vec<String>) -> anyhow::Result<Outcome> {
    let others = leftovers::find(out, &files).with_context(|| format!("cannot look into `{out}`"))?;
    leftovers::say(&others);
    print_files(args, &ExportOutput { files, others })
}

/// Lists the files that were written.
fn list(args: &Args, files: Vec<String>) -> anyhow::Result<Outcome> {
    print_files(args, &ExportOutput { files, others: Vec::new() })
}

fn print_files(args: &Args, written: &ExportOutput) -> anyhow::Result<Outcome> {
    output::print_outcome(args, Outcome::Fine, &EXPORT, written, |written| {
        written.files.iter().fold(String::new(), |mut text, file| {
            let _ = writeln!(text, "{file}");
            text
        })
    })
}

/// Writes files below a folder; returns their paths.
fn put(out: &Utf8Path, artefacts: &[Artefact]) -> anyhow::Result<Vec<String>> {
    for artefact in artefacts {
        let place = out.join(&artefact.path);
        let folder = place.parent().context("an artefact has a name")?;
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{folder}`"))?;
        disk::replace(&place, &artefact.bytes).with_context(|| format!("cannot write `{place}`"))?;
    }
    Ok(artefacts.iter().map(|artefact| out.join(&artefact.path).to_string()).collect())
}

/// Generates files directly into a folder; returns their paths.
fn stream(out: &Utf8Path, files: &[File<'_>]) -> anyhow::Result<Vec<String>> {
    let mut places = Vec::new();
    for file in files {
        let place = out.join(&file.path);
        let folder = place.parent().context("a file has a name")?;
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{folder}`"))?;
        disk::replace_with(&place, SyncMode::Yes, |target| {
            let mut buffered = BufWriter::with_capacity(1 << 20, target);
            file.write(&mut buffered)?;
            buffered.flush()
        })
        .with_context(|| format!("cannot write `{place}`"))?;
        places.push(place.to_string());
    }
    Ok(places)
}
