//! `closc check`: all faults of fabric files, or the counts of valid ones.
//!
//! In: files. Out: for each file its description or its faults. Invariants: an invalid or unreadable file does not
//! prevent others from being checked; one plan is in memory at a time.

mod summary;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use camino::Utf8Path;
use closc_artefacts::Counts;
use closc_compile::front::{self, FrontError, Reading, Source};
use closc_diagnostics::figures::number;
use closc_diagnostics::printable;
use closc_diagnostics::show::json::{self, JsonDiagnostic};
use closc_plan::Plan;
use closc_platform::{Catalogue, Os, Release};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::args::{Args, CheckArgs, Format};
use crate::input;
use crate::output::{self, Document, Items, Outcome, Usage};
use summary::Summary;

/// Description of a file.
pub(crate) const CHECK: Document<Result> = Document::new("closc-check/1");

/// Result for each of several files.
pub(crate) const CHECKS: Document<Items<Item>> = Document::new("closc-checks/1");

#[derive(Serialize, JsonSchema)]
pub(crate) struct Result {
    fabric: String,
    routing: &'static str,
    counts: Counts,
    /// Planes that are not built yet: without a switch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    absent_planes: Vec<u8>,
    /// Releases of the operating systems in use, stated or assumed.
    releases: BTreeMap<&'static str, UsedRelease>,
    summary: Summary,
    warnings: usize,
}

/// The release of an operating system in use.
#[derive(Serialize, JsonSchema)]
struct UsedRelease {
    release: Release,
    /// Whether the fabric file states it; it is assumed otherwise.
    stated: bool,
}

/// Result for one of several files.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Item {
    file: String,
    /// Why it cannot be read.
    error: Option<String>,
    /// Description, if it is valid.
    check: Option<Result>,
    #[schemars(with = "Vec<JsonDiagnostic<'static>>")]
    diagnostics: Vec<Value>,
}

/// Checks fabric files.
pub fn run(args: &Args, command: &CheckArgs) -> anyhow::Result<Outcome> {
    if command.files.iter().filter(|file| *file == output::STANDARD).count() > 1 {
        anyhow::bail!(Usage("standard input can be read once: name `-` once"));
    }
    let [file] = command.files.as_slice() else { return check_files(args, command) };
    let Some(input) = input::read(args, file)? else { return Ok(Outcome::Failed) };
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    let result = result(&input.plan, &catalogue, input.warnings);
    output::print_outcome(args, Outcome::Fine, &CHECK, &result, human)
}

fn check_files(args: &Args, command: &CheckArgs) -> anyhow::Result<Outcome> {
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    let (mut items, mut failed) = (Vec::new(), 0);
    for file in &command.files {
        input::reject_table(file)?;
        let item = match read(args, file)? {
            Ok(reading) => item(args, file, (reading, &catalogue)),
            Err(error) => {
                if args.format != Format::Json {
                    output::failure(&anyhow::Error::new(error), args.format);
                    failed += 1;
                    continue;
                }
                let error = Some(printable::lines(&error.to_string()));
                Item { file: file.to_string(), error, check: None, diagnostics: Vec::new() }
            }
        };
        failed += usize::from(item.check.is_none());
        match (&item.check, args.format) {
            (_, Format::Json) => items.push(item),
            (Some(result), _) if !args.quiet => output::print(&format!("{file}: {}", human(result)))?,
            (Some(_) | None, _) => {}
        }
    }
    if args.format == Format::Json {
        output::results(args.format, &CHECKS, &items, |_| String::new())?;
    } else if failed > 0 {
        let all = command.files.len();
        output::say(format_args!("{failed} of {all} files cannot be compiled"));
    }
    Ok(if failed == 0 { Outcome::Fine } else { Outcome::Failed })
}

/// Reads a file. The inner error concerns only this file; the outer one, such as an invalid platform, concerns all
/// files.
fn read(args: &Args, file: &Utf8Path) -> anyhow::Result<std::result::Result<Reading, FrontError>> {
    let source = match Source::parse(file.as_str()) {
        Ok(source) => source,
        Err(error) => return Ok(Err(error.into())),
    };
    match front::read(&source, &input::options(args)) {
        Ok(reading) => Ok(Ok(reading)),
        Err(error @ FrontError::Source(_)) => Ok(Err(error)),
        Err(error @ FrontError::Platform(_)) => Err(error.into()),
    }
}

fn item(args: &Args, file: &Utf8Path, (reading, catalogue): (Reading, &Catalogue)) -> Item {
    let Reading { plan, diagnostics, sources } = reading;
    let mut shown = Vec::new();
    if args.format == Format::Json {
        let found = json::all(&diagnostics, &sources);
        shown.extend(found.iter().map(|diagnostic| serde_json::json!(diagnostic)));
    } else {
        input::show(args, &diagnostics, &sources);
    }
    let check = plan.map(|plan| result(&plan, catalogue, diagnostics.warnings()));
    Item { file: file.to_string(), error: None, check, diagnostics: shown }
}

fn result(plan: &Plan, catalogue: &Catalogue, warnings: usize) -> Result {
    let topology = plan.topology();
    Result {
        fabric: topology.name.to_string(),
        routing: topology.routing.keyword(),
        counts: plan.fabric().counts(),
        absent_planes: plan.topology().absent_planes().into_iter().map(|plane| plane.0).collect(),
        releases: releases(plan),
        summary: Summary::of(plan, catalogue),
        warnings,
    }
}

/// Returns the release of each operating system in use that has releases.
fn releases(plan: &Plan) -> BTreeMap<&'static str, UsedRelease> {
    let topology = plan.topology();
    let used = |os: Os| {
        let stated = topology.releases.contains_key(&os);
        Some((os.keyword(), UsedRelease { release: topology.release(os)?, stated }))
    };
    topology.oses().into_iter().filter_map(used).collect()
}

fn absent_planes_note(planes: usize) -> String {
    match planes {
        0 => String::new(),
        1 => ", 1 of them absent".to_owned(),
        more => format!(", {more} of them absent"),
    }
}

fn human(result: &Result) -> String {
    let counts = &result.counts;
    let mut text = format!("{} is valid ({})\n", result.fabric, result.routing);
    let _ = writeln!(
        text,
        "{:>13}  {}{}",
        number(counts.planes),
        summary::label("planes", counts.planes),
        absent_planes_note(result.absent_planes.len())
    );
    let release = |(os, used): (&&str, &UsedRelease)| {
        format!("{os} {}{}", used.release, if used.stated { "" } else { " (assumed)" })
    };
    let releases: Vec<String> = result.releases.iter().map(release).collect();
    if !releases.is_empty() {
        let _ = writeln!(text, "{:>13}  {}", "releases", releases.join(", "));
    }
    let mut line = |what: &str, count: u64| {
        let _ = writeln!(text, "{:>13}  {}", number(count), summary::label(what, count));
    };
    if counts.zones > 1 {
        line("zones", counts.zones);
    }
    line("nodes", counts.nodes);
    line("NICs", counts.nics);
    if let Some(adapters) = result.summary.adapters() {
        line("adapters", adapters);
    }
    line("T0 switches", counts.t0);
    line("T1 switches", counts.t1);
    if counts.t2 > 0 {
        line("T2 switches", counts.t2);
    }
    line("switches in all", counts.t0 + counts.t1 + counts.t2);
    line("host links", counts.host_links);
    line("fabric links", counts.fabric_links);
    line("paths between NICs of one T0 group", counts.paths_local);
    if counts.t1 == 0 && counts.t0 > counts.planes {
        line("paths between NICs of different groups: no tier connects T0s", counts.paths_zone);
    } else {
        line("paths between NICs of different groups", counts.paths_zone);
    }
    if counts.zones > 1 && counts.t2 == 0 {
        line("paths between NICs of different zones: no tier connects zones", counts.paths_far);
    } else if counts.zones > 1 {
        line("paths between NICs of different zones", counts.paths_far);
    }
    text + &result.summary.text()
}
