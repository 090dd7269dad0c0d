//! Reads a fabric file: from text to plan, with every diagnostic shown.
//!
//! In: the path from the command line. Out: a [`closc_plan::Plan`], or `None` after the faults were shown.
//! Invariants: all errors are reported at once, on stderr as text or on stdout in formats for tools. With JSON,
//! warnings of a valid file go to stderr.

use camino::Utf8Path;
use closc_compile::front::{self, Options, Reading, Source};
use closc_diagnostics::figures::format_count;
use closc_diagnostics::show::{github, json, text};
use closc_diagnostics::{Diagnostic, Diagnostics, Level, Severity, Sources};
use closc_plan::Plan;
use closc_platform::Catalogue;

use crate::args::{Args, Format};
use crate::output::{self, DIAGNOSTICS, Findings};

/// A fabric that was read and found valid.
pub struct Input {
    /// Its plan.
    pub plan: Plan,
    /// Warnings that were shown.
    pub warnings: usize,
    /// Messages about known faults of releases (W0203).
    pub known_faults: Vec<String>,
}

/// A fabric, and the assumed limit that it exceeds.
pub struct InputAssumption {
    /// The fabric. Its warnings do not contain the one about the limit.
    pub input: Input,
    /// The message of W0904, even if the file allows it.
    pub assumed: Option<String>,
    /// Code and message of each other warning that is not about a known fault.
    pub other_warnings: Vec<String>,
}

/// Returns code and message of each warning, except those about known faults and those with the code `except`.
fn describe_warnings(diagnostics: &Diagnostics, except: &str) -> Vec<String> {
    let warnings = diagnostics.iter().filter(|found| found.severity == Severity::Warning);
    let others = warnings.filter(|found| !["W0203", except].contains(&found.rule.code));
    others.map(|found| format!("{}: {}", found.rule.code, found.message)).collect()
}

/// Returns the options for reading fabrics.
pub(crate) fn options(args: &Args) -> Options {
    Options { platforms: args.platforms.clone(), levels: args.levels.levels() }
}

/// Returns the messages about known faults of releases.
fn known_faults(diagnostics: &Diagnostics) -> Vec<String> {
    let faults = diagnostics.iter().filter(|found| found.rule.code == "W0203");
    faults.map(|found| found.message.clone()).collect()
}

/// Reads a fabric; `None` if it has faults, which were shown.
pub fn read(args: &Args, file: &Utf8Path) -> anyhow::Result<Option<Input>> {
    reject_table(file)?;
    let Reading { plan, diagnostics, sources } = front::read(&Source::parse(file.as_str())?, &options(args))?;
    show(args, &diagnostics, &sources);
    let (warnings, known_faults) = (diagnostics.warnings(), known_faults(&diagnostics));
    Ok(plan.map(|plan| Input { plan, warnings, known_faults }))
}

/// Columns of tables, and the command that reads a table with them. All words of a row are in the header of the
/// table.
const TABLES: &[(&[&str], &str)] = &[
    (&["old_device", "new_device"], "the names that `closc import --map` wrote: no command reads it"),
    (&["a_device", "b_device"], "a list of cables: `closc import` reads it, and writes a fabric file"),
    (
        &["lower_device", "upper_device"],
        "the cables of a compiled tree: `closc import` reads it, and writes a fabric file",
    ),
    (
        &["side_a_device", "side_b_device"],
        "a list of cables for NetBox: `closc import` reads it, and writes a fabric file",
    ),
    (
        &["device a", "device b"],
        "a list of cables of NetBox: `closc import` reads it, and writes a fabric file",
    ),
    (&["item", "price"], "a list of prices: `closc design --prices FILE` reads it"),
    (&["rack", "row", "x", "y"], "a floor plan: `closc place FABRIC --floor FILE` reads it"),
    (&["source", "destination"], "a list of demands: `closc te FABRIC --demand FILE` reads it"),
    (&["switch", "nic", "uplink"], "a list of pins: `ecmp.pins` of a fabric file names it"),
    (
        &["switch", "address", "gateway"],
        "a list of management addresses: `addresses.management_list` of a fabric file names it",
    ),
    (&["name", "role"], "a list of devices: `closc import` reads it together with a list of cables"),
];

/// Fails if a table is given instead of a fabric file, and names the command that reads it.
pub(crate) fn reject_table(file: &Utf8Path) -> anyhow::Result<()> {
    if file.extension() != Some("csv") || !file.is_file() {
        return Ok(());
    }
    let text = output::read(file, TABLE_MAX)?;
    let text = text.trim_start_matches('\u{feff}');
    let separator = char::from(closc_artefacts::separator(text.as_bytes()));
    let header =
        text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap_or_default();
    let columns: Vec<String> =
        header.split(separator).map(|cell| cell.trim().trim_matches('"').to_lowercase()).collect();
    let is_of = |words: &&(&[&str], &str)| words.0.iter().all(|word| columns.iter().any(|own| own == word));
    let kind = TABLES.iter().find(is_of).map_or("a table with unknown columns", |(_, kind)| *kind);
    anyhow::bail!("`{file}` is CSV and not a fabric file; it is {kind}")
}

/// Maximum size of a table that is read to identify it.
const TABLE_MAX: u64 = 256 << 20;

/// Fails if the name of an element is given in place of the fabric file, and the file comes later.
pub(crate) fn file_first(file: &Utf8Path, later: &[&str], order: &str) -> anyhow::Result<()> {
    let is_file = |word: &str| Utf8Path::new(word).is_file();
    anyhow::ensure!(
        is_file(file.as_str()) || !later.iter().any(|word| is_file(word)),
        "`{file}` is not a fabric file: write `{order}`"
    );
    Ok(())
}

/// Reads a fabric that `check` or `compile` has read before. Its warnings are not repeated without `--verbose`; text
/// output contains only their number.
pub(crate) fn read_again(args: &Args, file: &Utf8Path) -> anyhow::Result<Option<Input>> {
    Ok(read_separately(args, file, &options(args), "")?.map(|read| read.input))
}

/// Reads a fabric like [`read_again`], and the assumed limit that it exceeds.
pub(crate) fn read_with_assumed(args: &Args, file: &Utf8Path) -> anyhow::Result<Option<InputAssumption>> {
    let mut options = options(args);
    options.levels.state(front::warning(closc_design::ASSUMED)?, Level::Warn, "");
    read_separately(args, file, &options, closc_design::ASSUMED)
}

/// Reads a fabric. Warnings with the code `separate` are not counted; the message of the first one is returned.
fn read_separately(
    args: &Args,
    file: &Utf8Path,
    options: &Options,
    separate: &str,
) -> anyhow::Result<Option<InputAssumption>> {
    reject_table(file)?;
    let Reading { plan, diagnostics, sources } = front::read(&Source::parse(file.as_str())?, options)?;
    let is_separate = |found: &&Diagnostic| found.rule.code == separate;
    let warnings = diagnostics.warnings().saturating_sub(diagnostics.iter().filter(is_separate).count());
    match plan {
        None => show(args, &diagnostics, &sources),
        Some(_) if args.verbose > 0 => show(args, &diagnostics, &sources),
        Some(_) if warnings > 0 && args.format == Format::Human && !args.quiet => {
            output::say(format_args!(
                "{}; `closc check {file}` prints them",
                format_count(warnings as u64, "warning")
            ));
        }
        Some(_) => {}
    }
    let known_faults = known_faults(&diagnostics);
    let assumed = diagnostics.iter().find(is_separate).map(|found| found.message.clone());
    let other_warnings = describe_warnings(&diagnostics, separate);
    let input = |plan| Input { plan, warnings, known_faults };
    Ok(plan.map(|plan| InputAssumption { input: input(plan), assumed, other_warnings }))
}

/// Fails for a fabric whose switches choose the path.
pub(crate) fn needs_source_routing(what: &str, plan: &Plan) -> anyhow::Result<()> {
    let (fabric, routing) = (plan.name(), plan.routing().keyword());
    anyhow::ensure!(
        plan.is_source_routed(),
        "{what} needs `routing: srv6-static`: in `{fabric}`, switches choose the path (`{routing}`)"
    );
    Ok(())
}

/// Returns whether a text is a fabric file that was given in place of another file.
pub fn is_fabric_file(text: &str) -> bool {
    ["hosts:", "tiers:"].iter().all(|key| text.lines().any(|line| line.starts_with(key)))
}

/// Reads the built-in catalogue with the platforms of a site; `None` if they have faults, which were shown.
pub fn catalogue(args: &Args) -> anyhow::Result<Option<Catalogue>> {
    let (mut sources, mut diagnostics) = (Sources::new(), Diagnostics::new());
    let catalogue = front::catalogue(&args.platforms, &mut sources, &mut diagnostics)?;
    show(args, &diagnostics, &sources);
    Ok((!diagnostics.has_errors()).then_some(catalogue))
}

/// Shows diagnostics in the requested format.
pub fn show(args: &Args, diagnostics: &Diagnostics, sources: &Sources) {
    match args.format {
        Format::Human | Format::Markdown | Format::Html | Format::Rows(_) => people(diagnostics, sources),
        Format::Json if diagnostics.has_errors() => {
            let findings = Findings { diagnostics: json::all(diagnostics, sources) };
            if let Ok(text) = output::document(&DIAGNOSTICS, &findings) {
                let _ = output::print(&text);
            }
        }
        Format::Json => {
            for diagnostic in json::all(diagnostics, sources) {
                output::say(serde_json::json!(diagnostic));
            }
        }
        Format::Github => {
            // The exit code contains the verdict even if the output is lost.
            let _ = output::print(&github::all(diagnostics, sources));
        }
    }
}

/// Shows the remaining findings next to a result that already covers the others.
pub(crate) fn show_left(args: &Args, diagnostics: &Diagnostics, sources: &Sources) {
    match args.format {
        Format::Json => {
            for diagnostic in json::all(diagnostics, sources) {
                output::say(serde_json::json!(diagnostic));
            }
        }
        Format::Human | Format::Markdown | Format::Html | Format::Rows(_) | Format::Github => {
            show(args, diagnostics, sources);
        }
    }
}

/// Shows resolved warnings like others, with a note. For pull requests they are notices without a line.
pub(crate) fn show_gone(args: &Args, diagnostics: &Diagnostics, sources: &Sources) {
    if args.format != Format::Github {
        return show(args, diagnostics, sources);
    }
    for gone in diagnostics {
        let _ = output::print(&github::annotation(
            "notice",
            None,
            gone.rule.code,
            &format!("gone: {}", gone.message),
        ));
    }
}

fn people(diagnostics: &Diagnostics, sources: &Sources) {
    let shown = text::all(diagnostics, sources, text::Colour::Terminal);
    if !shown.is_empty() {
        output::say(shown.strip_suffix('\n').unwrap_or(&shown));
    }
    if diagnostics.has_errors() {
        output::say(summary(diagnostics));
    }
}

fn summary(diagnostics: &Diagnostics) -> String {
    let errors = format_count(diagnostics.errors() as u64, "error");
    match diagnostics.warnings() {
        0 => format!("{errors}; nothing was written"),
        warnings => format!("{errors} and {}; nothing was written", format_count(warnings as u64, "warning")),
    }
}
