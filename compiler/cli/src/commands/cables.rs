//! `closc cables check`: compares the neighbours that devices report (LLDP) with the plan.
//!
//! In: a fabric file, and reports of devices. Out: findings. Invariants: a report of a device that is not in the fabric
//! ends the command. For an unreadable report, the command prints an error, compares the others, and then fails.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use closc_cabling::{Device, Judge, Report, Sighting, UnreadReport};
use closc_diagnostics::printable;
use closc_plan::Plan;

use crate::args::Args;
use crate::args::cables::{CablesCommand, CheckArgs};
use crate::input::{self, is_fabric_file};
use crate::output::{self, Document, Outcome};

/// Neighbours of devices, compared with the plan.
pub(crate) const CABLES: Document<Report> = Document::new("closc-cables/1");

/// Maximum size of a report: a hundred times that of one with 512 ports and long descriptions.
const REPORT_MAX: u64 = 64 << 20;

/// Runs the subcommand.
pub fn run(args: &Args, command: &CablesCommand) -> anyhow::Result<Outcome> {
    match command {
        CablesCommand::Check(command) => check(args, command),
    }
}

fn check(args: &Args, command: &CheckArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let mut reports: BTreeMap<Device, Vec<Utf8PathBuf>> = BTreeMap::new();
    for (device, file) in named_reports(plan, &command.reports)? {
        reports.entry(device).or_default().push(file);
    }
    let (mut judge, mut unread) = (Judge::new(plan), Vec::new());
    for (device, files) in &reports {
        let read = sightings(files).and_then(|found| match judge.foreign_port(*device, &found) {
            Some(port) => {
                let (name, files) = (device.name(plan), files.iter().map(|file| format!("`{file}`")));
                let files = files.collect::<Vec<_>>().join(", ");
                bail!(
                    "{files}: `{name}` has no port `{port}`: check that it is an LLDP report of this device"
                )
            }
            None => Ok(found),
        });
        match read {
            Ok(sightings) => judge.device(*device, &sightings),
            // One malformed report must not hide the reports of all other devices.
            Err(error) => {
                let reason = printable::line(&output::reason(&error));
                tracing::error!("{reason}");
                unread.push(UnreadReport { device: device.name(plan), reason });
            }
        }
    }
    let report = Report { unread, ..judge.finish() };
    let outcome = match (report.unread.is_empty(), report.findings.is_empty()) {
        (true, true) => Outcome::Fine,
        (true, false) => Outcome::Differences,
        (..) => Outcome::Failed,
    };
    output::print_outcome(args, outcome, &CABLES, &report, |report: &Report| {
        report.text(command.shown as usize, command.list)
    })
}

/// Reads the neighbours in the reports of a device.
fn sightings(files: &[Utf8PathBuf]) -> anyhow::Result<Vec<Sighting>> {
    let mut all = Vec::new();
    for file in files {
        let text = output::read(file, REPORT_MAX)?;
        let read = closc_cabling::read(text.as_bytes());
        all.extend(read.with_context(|| format!("`{file}` cannot be read"))?);
    }
    Ok(all)
}

/// Reports named on the command line, each with its device.
fn named_reports(plan: &Plan, reports: &[String]) -> anyhow::Result<Vec<(Device, Utf8PathBuf)>> {
    let mut files = Vec::new();
    for report in reports {
        match report.split_once('=') {
            Some((name, file)) => {
                let device = Device::find(plan, name).with_context(|| unknown(plan, name))?;
                files.push((device, Utf8PathBuf::from(file)));
            }
            None if Utf8Path::new(report).is_dir() => {
                let found = list_files(Utf8Path::new(report))?;
                if found.is_empty() {
                    bail!("there is no file in `{report}`");
                }
                for file in found {
                    files.push((find_device(plan, &file)?, file));
                }
            }
            None if !Utf8Path::new(report).exists() => bail!("`{report}` does not exist"),
            None => files.push((find_device(plan, Utf8Path::new(report))?, Utf8PathBuf::from(report))),
        }
    }
    Ok(files)
}

/// Returns the files of a folder, sorted by name, without hidden ones.
fn list_files(folder: &Utf8Path) -> anyhow::Result<Vec<Utf8PathBuf>> {
    let entries = folder.read_dir_utf8().with_context(|| format!("cannot list `{folder}`"))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list `{folder}`"))?;
        if !entry.file_name().starts_with('.') && !entry.path().is_dir() {
            files.push(entry.into_path());
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the device that a file is named after.
fn find_device(plan: &Plan, file: &Utf8Path) -> anyhow::Result<Device> {
    let name = file.file_name().unwrap_or_default();
    let stem = file.file_stem().unwrap_or_default();
    let found = Device::find(plan, stem).or_else(|| Device::find(plan, name));
    found.with_context(|| match output::read(file, REPORT_MAX) {
        Ok(text) if is_fabric_file(&text) => {
            format!("`{file}` is a fabric file; expected LLDP reports such as `p0-t0-001.json`, or a folder of them")
        }
        Ok(text) if closc_cabling::read(text.as_bytes()).is_err() => {
            format!("`{file}` is not an LLDP report: remove it, or name the reports one by one")
        }
        Ok(_) | Err(_) => format!("`{file}`: {}; `DEVICE={file}` names its device", unknown(plan, stem)),
    })
}

fn unknown(plan: &Plan, name: &str) -> String {
    let short = name.split('.').next().unwrap_or_default();
    match plan.topology().nearest_name(short) {
        Some(Ok(nearest)) if Device::find(plan, &nearest).is_some() => {
            format!("the fabric has no device `{name}`; did you mean `{nearest}`?")
        }
        Some(Err(why)) => format!("the fabric has no device `{name}`: {why}"),
        Some(Ok(_)) | None => format!("the fabric has no device `{name}`"),
    }
}
