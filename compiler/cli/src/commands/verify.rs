//! `closc verify`: proves from the files of a compiled tree that every path arrives.
//!
//! In: a tree, and the table sizes of the catalogue. Out: what was proved by which rule, and every violation with
//! file, line and the trace of a packet. Exits with 0 where everything holds, with 1 where the tree could not be
//! verified, with 2 where it could and something does not hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Files;
use closc_diagnostics::show::github;
use closc_platform::{Catalogue, Platform};
use closc_verify::{Limits, Options, Report, verify};
use indicatif::ProgressBar;

use crate::args::{Args, Format, VerifyArgs};
use crate::commands::compile::start_threads;
use crate::output::{self, Outcome};
use crate::{input, progress, tree};

/// Verifies a tree.
pub fn run(args: &Args, command: &VerifyArgs) -> anyhow::Result<Outcome> {
    start_threads(command.jobs)?;
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    let options = Options {
        digests: !command.no_digests,
        walk_up_to: command.walk.into(),
        shown: command.shown as usize,
        pipelines: pipelines(),
        ports: ports(&catalogue),
        limits: limits(&catalogue),
    };
    let tree = Watched::new(args, command)?;
    let report = verify(&tree, &options)?;
    tree.bar.finish_and_clear();
    match args.format {
        Format::Human | Format::Json | Format::Markdown | Format::Html => {
            output::result(args.format, "closc-verify/1", &report, Report::text)?;
        }
        Format::Github => output::print(&annotations(&command.tree, &report))?,
    }
    Ok(if report.holds() { Outcome::Fine } else { Outcome::Failed })
}

/// Digests of the pipelines that this program ships.
fn pipelines() -> BTreeMap<Utf8PathBuf, String> {
    let files = closc_entries::pipeline_files(closc_entries::Pipeline::fabric());
    files.into_iter().map(|file| (file.path.into(), blake3::hash(file.text.as_bytes()).to_string())).collect()
}

/// Sizes of tables and buffers by what a `config_db.json` calls its hardware.
fn limits(catalogue: &Catalogue) -> BTreeMap<String, Limits> {
    let mut limits = BTreeMap::new();
    for platform in catalogue.ids().filter_map(|id| catalogue.get(id)) {
        let Some(sonic) = &platform.sonic else { continue };
        let names = sonic.hwskus.iter().map(|(_, hwsku)| hwsku);
        for hwsku in std::iter::once(&sonic.hwsku).chain(names) {
            merge(limits.entry(hwsku.clone()), platform);
        }
    }
    limits
}

/// Ports by what a `config_db.json` calls the hardware: all that any breakout gives.
fn ports(catalogue: &Catalogue) -> BTreeMap<String, BTreeSet<(String, String)>> {
    let mut known: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for platform in catalogue.ids().filter_map(|id| catalogue.get(id)) {
        let Some(sonic) = &platform.sonic else { continue };
        let ports = platform.ports().map(|port| {
            let lanes: Vec<String> = port.lanes.iter().map(u16::to_string).collect();
            (
                port.name.to_string(),
                format!("{} {} {} {}", lanes.join(","), port.alias, port.panel, port.subport),
            )
        });
        let ports: BTreeSet<(String, String)> = ports.collect();
        let names = sonic.hwskus.iter().map(|(_, hwsku)| hwsku);
        for hwsku in std::iter::once(&sonic.hwsku).chain(names) {
            known.entry(hwsku.clone()).or_default().extend(ports.iter().cloned());
        }
    }
    known
}

/// One box has several entries, one for each breakout: what fits none of them fits nowhere.
fn merge(entry: std::collections::btree_map::Entry<'_, String, Limits>, platform: &Platform) {
    let found = &platform.limits;
    let known = entry.or_insert(Limits { segments: 0, routes: 0, neighbours: 0, buffer_bytes: 0 });
    known.segments = known.segments.max(found.my_sids);
    known.routes = known.routes.max(found.ipv6_routes);
    known.neighbours = known.neighbours.max(found.neighbours);
    let buffer = platform.buffer.as_ref().map_or(0, |buffer| buffer.total.0);
    known.buffer_bytes = known.buffer_bytes.max(buffer);
}

/// Violations as annotations, and the summary as text.
fn annotations(tree: &Utf8Path, report: &Report) -> String {
    let mut text = String::new();
    for violation in &report.violations {
        let file = tree.join(&violation.place.file);
        let mut message = violation.message.clone();
        for step in &violation.trace {
            let _ = write!(message, "\n{}", step.text);
        }
        text.push_str(&github::annotation(
            "error",
            Some((file.as_str(), violation.place.line.unwrap_or(1), 1)),
            violation.rule.code,
            &message,
        ));
    }
    text.push_str(&report.summary());
    text
}

/// A folder that moves a bar on with every file that is read.
struct Watched {
    files: Box<dyn Files>,
    bar: ProgressBar,
}

impl Watched {
    fn new(args: &Args, command: &VerifyArgs) -> anyhow::Result<Self> {
        // What cannot be read shows when it is verified.
        let files = tree::manifest(&command.tree).map_or(0, |manifest| manifest.files.len());
        Ok(Watched {
            files: tree::open(&command.tree, command.key.as_deref())?,
            bar: progress::bar(args.quiet, files as u64, "reading"),
        })
    }
}

impl Files for Watched {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.bar.inc(1);
        self.files.read(path)
    }

    fn read_into(&self, path: &Utf8Path, into: &mut Vec<u8>) -> io::Result<()> {
        self.bar.inc(1);
        self.files.read_into(path, into)
    }

    fn list(&self) -> Option<Vec<Utf8PathBuf>> {
        self.files.list()
    }
}
