//! `closc import`: creates a fabric file from an existing network.
//!
//! In: cable lists, a containerlab topology, or neighbour reports of devices. Out: a fabric file, and a map of the
//! names that differ in the existing network. Invariants: the fabric file is compiled and compared with the network
//! before it is written; existing files are replaced only with `--force`.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::paths::MANIFEST;
use closc_compile::front::{self, Options, Source};
use closc_diagnostics::figures::{format_count, number};
use closc_diagnostics::show::text;
use closc_diagnostics::{Levels, Severity};
use closc_import::{ExistingNetwork, HardwareOptions, ImportResult, NameMapping, read};
use closc_plan::Plan;

use crate::args::Args;
use crate::args::import::ImportArgs;
use crate::input;
use crate::output::{self, Document, Outcome, Usage};

/// Result for an existing network.
pub(crate) const IMPORT: Document<ImportResult> = Document::new("closc-import/1");

/// Maximum size of a file: four times that of the cable list of a plane with a hundred thousand NICs.
const FILE_MAX: u64 = 256 << 20;

/// Imports a network.
pub(super) fn run(args: &Args, command: &ImportArgs) -> anyhow::Result<Outcome> {
    for file in std::iter::once(&command.out).chain(&command.map) {
        output::reject_existing(file, command.force)?;
    }
    let wanted = hardware_options(command)?;
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    for (tier, platform) in &wanted.platforms {
        if catalogue.get(platform).is_none() {
            let meant = catalogue.suggest(platform).map(|meant| format!("; did you mean `{meant}`?"));
            bail!("there is no platform `{platform}` for `{tier}`{}", meant.unwrap_or_default());
        }
    }
    let network = network(&command.files)?.finish()?;
    if let Some(pattern) = closc_import::idle_pattern(&network, &command.nodes) {
        bail!("`--nodes {pattern}` matches no device of the lists: `*` matches any text");
    }
    let options =
        closc_import::Options { name: command.name.clone(), nodes: command.nodes.clone(), hardware: wanted };
    let how = Options { platforms: args.platforms.clone(), levels: Levels::default() };
    let found =
        closc_import::import(&network, &options, &catalogue, &mut |text| compile(&command.out, text, &how))?;
    if !found.renamed.is_empty() && command.map.is_none() {
        bail!(
            "the fabric file changes {} of the network: `--map FILE` writes old and new names",
            format_count(found.renamed.len() as u64, "name")
        );
    }
    if let Some(map) = &command.map {
        output::replace(map, &name_map(&found))?;
    }
    output::replace(&command.out, &found.text)?;
    let outcome = if found.findings.is_empty() { Outcome::Fine } else { Outcome::Differences };
    if command.out == output::STANDARD || output::is_standard(command.map.as_ref()) {
        finding_lines(&found).for_each(output::say);
        return Ok(outcome);
    }
    output::print_outcome(args, outcome, &IMPORT, &found, |found| summary(command, found))
}

/// Returns the hardware and routing from the command line.
fn hardware_options(command: &ImportArgs) -> anyhow::Result<HardwareOptions> {
    let mut wanted =
        HardwareOptions { os: command.os, routing: command.routing, ..HardwareOptions::default() };
    for word in &command.platform {
        let (tier, platform) = word.split_once('=').unwrap_or(("", word));
        if !["", "t0", "t1", "t2"].contains(&tier) {
            bail!(Usage("`--platform` is of `t0`, `t1` or `t2`, as in `t0=NAME`, or of all of them"));
        }
        wanted.platforms.insert(tier.to_owned(), platform.to_owned());
    }
    Ok(wanted)
}

/// Compiles the fabric file that would be written, or returns its errors as text.
fn compile(out: &Utf8Path, text: &str, options: &Options) -> Result<Plan, String> {
    let source = Source::File(if out == output::STANDARD { "fabric.yaml".into() } else { out.to_owned() });
    let reading = front::read_text(&source, text.as_bytes(), options).map_err(|error| error.to_string())?;
    // Only errors reject the file. It is not written yet, so its warnings would point at lines that do not exist.
    let errors = reading.diagnostics.filter(|found| found.severity == Severity::Error);
    reading.plan.ok_or_else(|| text::all(&errors, &reading.sources, text::Colour::Plain))
}

/// Reads the files of the command line.
fn network(files: &[Utf8PathBuf]) -> anyhow::Result<ExistingNetwork> {
    let mut network = ExistingNetwork::default();
    for file in files {
        if file.is_dir() {
            if file.join(MANIFEST).is_file() {
                bail!("`{file}` is a compiled tree: import its cable lists, `{file}/cables/plane-*.csv`");
            }
            let entries = file.read_dir_utf8().with_context(|| format!("cannot list `{file}`"))?;
            let paths: Result<Vec<Utf8PathBuf>, _> =
                entries.map(|entry| entry.map(camino::Utf8DirEntry::into_path)).collect();
            let mut paths = paths.with_context(|| format!("cannot list `{file}`"))?;
            paths
                .retain(|path| !path.is_dir() && path.file_name().is_some_and(|name| !name.starts_with('.')));
            paths.sort();
            if paths.is_empty() {
                bail!("there is no file in `{file}`");
            }
            for path in &paths {
                read_file(&mut network, path, None)?;
            }
            continue;
        }
        match file.as_str().split_once('=').filter(|_| !file.exists()) {
            Some((device, path)) => read_file(&mut network, Utf8Path::new(path), Some(device))?,
            None => read_file(&mut network, file, None)?,
        }
    }
    Ok(network)
}

/// Reads a file. It is a neighbour report if `device` is given, or if its extension is not that of a table or
/// topology.
fn read_file(network: &mut ExistingNetwork, file: &Utf8Path, device: Option<&str>) -> anyhow::Result<()> {
    let text = output::read(file, FILE_MAX)?;
    if input::is_fabric_file(&text) {
        bail!(
            "`{file}` is a fabric file already: `closc import` reads cable lists, topologies of containerlab and LLDP reports"
        );
    }
    let is_seen = device.is_some()
        || !matches!(file.extension(), Some("csv" | "yaml" | "yml")) && file != output::STANDARD;
    if is_seen {
        let device = device.or(file.file_stem()).unwrap_or_default();
        let read = read::lldp(network, file.as_str(), device, text.as_bytes());
        return read.with_context(|| format!("`{file}` cannot be read"));
    }
    read::file(network, file.as_str(), &text);
    Ok(())
}

/// Returns the map as CSV. Names in existing networks can contain any character.
fn name_map(found: &ImportResult) -> String {
    let cell = |text: &str| {
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let mut out = String::from("old_device,old_port,new_device,new_port\n");
    for row in &found.renamed {
        let NameMapping { old_device, old_port, new_device, new_port } = row;
        let cells = [old_device, old_port, new_device, new_port].map(|text| cell(text));
        let _ = writeln!(out, "{}", cells.join(","));
    }
    out
}

/// Returns the findings, then the notes.
fn finding_lines(found: &ImportResult) -> impl Iterator<Item = String> {
    found.findings.iter().cloned().chain(found.notes.iter().map(|note| format!("note: {note}")))
}

fn summary(command: &ImportArgs, found: &ImportResult) -> String {
    let mut out = String::new();
    for line in finding_lines(found) {
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(
        out,
        "`{}`: {}; {} of {} match, {} more absent; {} changed",
        command.out,
        format_count(found.devices, "device"),
        number(found.placed),
        format_count(found.cables, "cable"),
        number(found.absent),
        format_count(found.renamed.len() as u64, "name")
    );
    if found.left_out > 0 {
        let _ = writeln!(
            out,
            "omitted: {} not between devices of the fabric, or without a port",
            format_count(found.left_out, "link")
        );
    }
    out
}
