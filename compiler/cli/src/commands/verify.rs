//! `closc verify`: proves from the files of a compiled tree that packets arrive over every path.
//!
//! In: a tree, and the table sizes of the catalogue. Out: the facts proved by each rule, and every violation with
//! file, line and packet trace. Exits with 0 if all rules hold, and with 1 if one does not or the tree cannot be
//! verified.

use std::fmt::Write as _;
use std::io;

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Files, Manifest, paths};
use closc_compile::pipeline_digests;
use closc_diagnostics::show::github;
use closc_files::disk;
use closc_platform::Hardware;
use closc_verify::{Options, Report, TreeSelection, verify, verify_part};
use indicatif::ProgressBar;

use crate::args::{Args, Format, PartArgs, VerifyArgs};
use crate::commands::compile::start_threads;
use crate::output::{self, Document, Outcome};
use crate::tree::Keys;
use crate::{input, objects, progress, tree};

/// Verified parts of a tree.
pub(crate) const VERIFY: Document<Report> = Document::new("closc-verify/1");

/// Returns the keys that must have signed the tree.
fn keys(command: &VerifyArgs) -> Keys<'_> {
    Keys { public: &command.key, needed: command.signatures }
}

/// Verifies a tree.
pub fn run(args: &Args, command: &VerifyArgs) -> anyhow::Result<Outcome> {
    start_threads(command.jobs)?;
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    let options = Options {
        digests: !command.no_digests,
        walk_up_to: command.walk.into(),
        max_violations: command.shown as usize,
        pipelines: pipeline_digests(),
        hardware: Hardware::by_hwsku(catalogue.iter()),
        selection: tree_selection(&command.part)?,
    };
    let tree = MeteredFiles::new(args, command)?;
    let report = match &command.summary {
        None if command.tables.is_empty() => verify(&tree, &options)?,
        place => {
            let beside: Vec<Box<dyn Files>> = command
                .tables
                .iter()
                .map(|part| open_tables(part, keys(command)))
                .collect::<anyhow::Result<_>>()?;
            let beside: Vec<&dyn Files> = beside.iter().map(AsRef::as_ref).collect();
            let (report, summary) = verify_part(&tree, &beside, &options)?;
            if let Some(place) = place {
                write(place, &summary.to_bytes())?;
            }
            report
        }
    };
    tree.bar.finish_and_clear();
    if output::is_standard(command.summary.as_ref()) {
        output::say(report.text().trim_end());
        return Ok(if report.holds() { Outcome::Fine } else { Outcome::Failed });
    }
    show(args, &command.tree, &report)
}

/// Opens a tree of `--tables`, which must exist.
fn open_tables(part: &Utf8Path, keys: Keys<'_>) -> anyhow::Result<Box<dyn Files>> {
    let not_a_part = || format!("`--tables {part}` is not a part{}", list_trees(part));
    let is_local = !part.as_str().contains("://");
    anyhow::ensure!(!is_local || part.exists(), not_a_part());
    let files = tree::open(part, keys)?;
    Manifest::read(&*files).with_context(not_a_part)?;
    Ok(files)
}

/// Lists the trees in the folder of a missing part, for a message.
fn list_trees(part: &Utf8Path) -> String {
    const SHOWN: usize = 8;
    let folder = part.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    let is_tree = |path: &Utf8Path| path.join(paths::MANIFEST).is_file();
    let mut trees: Vec<Utf8PathBuf> =
        entries.map(|entry| entry.path().to_owned()).filter(|path| is_tree(path)).collect();
    trees.sort();
    let more = trees.len().saturating_sub(SHOWN);
    let names: Vec<String> = trees.iter().take(SHOWN).map(|path| format!("`{path}`")).collect();
    match (names.is_empty(), more) {
        (true, _) => format!("; there is none in `{folder}`"),
        (false, 0) => format!("; in `{folder}` there are {}", names.join(", ")),
        (false, more) => format!("; in `{folder}` there are {} and {more} more", names.join(", ")),
    }
}

/// Writes a summary to a file, an object store or standard output.
fn write(place: &Utf8Path, bytes: &[u8]) -> anyhow::Result<()> {
    if objects::is_object(place) {
        return objects::put(place, bytes);
    }
    if place == output::STANDARD {
        return output::print(&String::from_utf8_lossy(bytes));
    }
    disk::replace(place, bytes).with_context(|| format!("cannot write `{place}`"))
}

/// Shows the report about a tree, and returns the outcome.
pub(super) fn show(args: &Args, tree: &Utf8Path, report: &Report) -> anyhow::Result<Outcome> {
    let outcome = if report.holds() { Outcome::Fine } else { Outcome::Failed };
    output::print_outcome(args, outcome, &VERIFY, report, |report| match args.format {
        Format::Github => annotations(tree, report),
        // Rules that hold are listed only with `--verbose`.
        _ if report.holds() && args.verbose == 0 => verdict(report),
        Format::Human | Format::Json | Format::Markdown | Format::Html | Format::Rows(_) => report.text(),
    })
}

/// Returns the summary without the table of rules.
fn verdict(report: &Report) -> String {
    let text = report.summary();
    let is_rule = |line: &str| report.rules.iter().any(|rule| line.trim_start().starts_with(rule.code));
    let mut lines: Vec<&str> = text.lines().filter(|line| !is_rule(line)).collect();
    lines.push("`--verbose` lists the rules");
    lines.join("\n") + "\n"
}

/// Parts of the tree to verify. A plane is always verified completely.
fn tree_selection(part: &PartArgs) -> anyhow::Result<TreeSelection> {
    let terms = &part.select;
    if let Some(shard) = part.shard {
        anyhow::ensure!(terms.is_everything(), "a shard of a proof cannot be combined with `--select`");
        return Ok(TreeSelection::Shard { index: shard.index(), of: shard.of() });
    }
    if terms.is_everything() {
        return Ok(TreeSelection::All);
    }
    let hosts = terms.has_hosts();
    if let Some(zone) = terms.zones().first().filter(|_| terms.has_switches()) {
        bail!(
            "`zone={zone}` selects only some switches of each plane; expected complete planes\n\
             help: `--select tier=hosts,zone={zone}` verifies the path tables of the zone"
        );
    }
    let switches = terms.has_switches();
    let cut = terms.picks_devices() && (terms.has_switches() || !hosts);
    if cut || !(hosts || switches) {
        bail!(
            "the selection contains only some switches of a plane; expected `--select plane=P`, or `tier=hosts` with \
             `zone=Z` for path tables"
        );
    }
    let (planes, zones) = (terms.planes().to_vec(), terms.zones().to_vec());
    Ok(TreeSelection::Selected { planes, zones, switches, hosts })
}

/// Returns violations as annotations, and the summary as text.
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

/// A tree that advances a progress bar with every file that is read.
struct MeteredFiles {
    files: Box<dyn Files>,
    bar: ProgressBar,
}

impl MeteredFiles {
    fn new(args: &Args, command: &VerifyArgs) -> anyhow::Result<Self> {
        let files = tree::open(&command.tree, keys(command))?;
        // An unreadable manifest is reported by the verification.
        let count = Manifest::read(&*files).map_or(0, |manifest| manifest.files.len());
        Ok(MeteredFiles { files, bar: progress::bar(args.quiet, count as u64, "reading") })
    }
}

impl Files for MeteredFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.bar.inc(1);
        self.files.read(path)
    }

    fn read_into(&self, path: &Utf8Path, into: &mut Vec<u8>) -> io::Result<()> {
        self.bar.inc(1);
        self.files.read_into(path, into)
    }

    fn read_within(&self, path: &Utf8Path, max: u64, into: &mut Vec<u8>) -> io::Result<()> {
        self.bar.inc(1);
        self.files.read_within(path, max, into)
    }

    fn list(&self) -> Option<Vec<Utf8PathBuf>> {
        self.files.list()
    }

    fn empty_folders(&self) -> Option<Vec<Utf8PathBuf>> {
        self.files.empty_folders()
    }
}
