//! `closc lab run`: everything in one command. Compiles a fabric, starts its switches, programs P4 switches over
//! P4Runtime, walks the paths, and stops the switches.

use std::time::Instant;

use camino::Utf8Path;
use closc_deploy::{PushReport, open_gate, push};
use closc_diagnostics::figures::number;
use closc_diagnostics::printable;
use closc_lab::test::TestReport;
use closc_lab::{DownReport, Lab, LabError, Life, Options, UpReport, Watch};
use schemars::JsonSchema;
use serde::Serialize;

use super::with_tree;
use crate::args::control::FleetArgs;
use crate::args::lab::RunArgs;
use crate::args::{Args, Format};
use crate::commands::{control, push as pushing};
use crate::limits;
use crate::output::{self, Document, Outcome};

/// Result of one run.
pub(crate) const RUN: Document<Report> = Document::new("closc-lab-run/1");

/// Results of the stages.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Report {
    up: UpReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    push: Option<PushResult>,
    test: TestReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    down: Option<DownReport>,
    /// Duration of all stages, in seconds.
    seconds: f64,
    /// Peak memory of the process. It includes the switches, unless they keep running after the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_bytes: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct PushResult {
    #[serde(flatten)]
    report: PushReport,
    seconds: f64,
}

/// Runs all stages.
pub fn run(
    args: &Args,
    command: &RunArgs,
    mut options: Options,
    watch: &Watch<'_>,
) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    limits::raise_open_files();
    super::take_target(&mut options, &command.target)?;
    if !command.keep {
        // Switches inside this process end with it, even if it crashes.
        options.life = Life::Within;
    }
    with_tree(args, &command.lab, &options, watch, |tree, options| {
        print_stage(args, || format!("compiled in {:.2} s: {tree}\n", started.elapsed().as_secs_f64()))?;
        let (mut lab, up) = Lab::up(tree, options, watch).map_err(add_advice)?;
        print_stage(args, || up.to_string())?;
        let walked = program_and_walk(args, command, tree, &mut lab, &up, watch);
        let down = match (&walked, command.keep) {
            (Ok(_), true) => None,
            (_, _) => Some(lab.down()?),
        };
        let (push, test) = walked.map_err(|error| mark_taken_down(error, down.is_some()))?;
        if let Some(down) = &down {
            print_stage(args, || down.to_string())?;
        }
        let fine = test.is_fine();
        let seconds = started.elapsed().as_secs_f64();
        let report = Report { up, push, test, down, seconds, peak_memory_bytes: limits::peak_memory() };
        output::result(args.format, &RUN, &report, |report| summary(report, fine))?;
        Ok(if fine { Outcome::Fine } else { Outcome::Failed })
    })
}

fn program_and_walk(
    args: &Args,
    command: &RunArgs,
    tree: &Utf8Path,
    lab: &mut Lab,
    up: &UpReport,
    watch: &Watch<'_>,
) -> anyhow::Result<(Option<PushResult>, TestReport)> {
    let push = match &up.inventory {
        Some(inventory) => Some(program(args, tree, inventory)?),
        None => None,
    };
    let started = Instant::now();
    let test = lab.walk(command.extent.extent(), watch)?;
    print_stage(args, || add_duration(&test.to_string(), started))?;
    Ok((push, test))
}

/// Pushes the tree to every switch.
fn program(args: &Args, tree: &Utf8Path, inventory: &Utf8Path) -> anyhow::Result<PushResult> {
    let started = Instant::now();
    let fleet_args = FleetArgs::of(tree, inventory);
    let fleet = control::fleet(&fleet_args, &control::inventory(&fleet_args)?)?;
    let (observer, bar) = control::observer(args, fleet.members.len(), "pushing");
    let options = fleet_args.options();
    let report = control::block_on(async { Ok(push(&fleet, &options, observer, open_gate()).await) })?;
    bar.finish_and_clear();
    print_stage(args, || add_duration(&printable::lines(&pushing::human(&report)), started))?;
    anyhow::ensure!(report.is_good(), "not every switch could be programmed");
    Ok(PushResult { report, seconds: started.elapsed().as_secs_f64() })
}

/// Prints the result of a stage as soon as it is done.
fn print_stage(args: &Args, text: impl FnOnce() -> String) -> anyhow::Result<()> {
    if args.format == Format::Json { Ok(()) } else { output::print(&text()) }
}

/// Adds the time to the first line of a text.
fn add_duration(text: &str, started: Instant) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    format!("{first} in {:.2} s\n{rest}", started.elapsed().as_secs_f64())
}

fn summary(report: &Report, fine: bool) -> String {
    let memory = report
        .peak_memory_bytes
        .map_or_else(String::new, |bytes| format!(", {} MiB of memory at most", number(bytes >> 20)));
    let word = if fine { "everything works" } else { "something is wrong" };
    format!("{word}: {:.2} s{memory}\n", report.seconds)
}

/// Adds to the error of an interruption that the lab was taken down.
fn mark_taken_down(error: anyhow::Error, is_down: bool) -> anyhow::Error {
    match error.downcast::<LabError>() {
        Ok(error @ LabError::Interrupted) if is_down => LabError::TakenDown { error: Box::new(error) }.into(),
        Ok(error) => error.into(),
        Err(error) => error,
    }
}

/// Adds advice to an error of starting switches in the kernel.
fn add_advice(error: LabError) -> anyhow::Error {
    let kernel = matches!(error, LabError::NotRoot | LabError::Missing(_));
    let error = anyhow::Error::new(error);
    if !kernel {
        return error;
    }
    error.context(
        "the kernel must run switches that are not P4 switches; to use embedded switches without privileges, write \
         `platform: bmv2, os: p4` for every tier",
    )
}
