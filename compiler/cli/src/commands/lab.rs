//! `closc lab`: runs a compiled fabric on this machine and sends packets over its paths.
//!
//! The source is a compiled tree, or a fabric file, which is first compiled into the lab's own folder. The lab uses
//! only the tree.

pub(crate) mod job;
pub(crate) mod run;
pub(crate) mod trees;

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Mutex;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_compile::CompileError;
use closc_lab::test::TestReport;
use closc_lab::tree::Digests;
use closc_lab::{
    CutReport, DownReport, Ends, Interrupt, Lab, LabError, LinkLayer, MiswireReport, Options, Progress,
    Status, UpReport, Watch, privilege,
};
use closc_plan::Plan;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::args::Args;
use crate::args::lab::{LabArgs, LabCommand, TargetArgs};
use crate::commands::compile;
use crate::input;
use crate::labs;
use crate::limits;
use crate::output::{self, Document, Items, Outcome};
use crate::progress;

/// Result of `lab up`: the started switches and nodes.
pub(crate) const UP: Document<UpReport> = Document::new("closc-lab-up/1");

/// Result of walking paths.
pub(crate) const TEST: Document<TestReport> = Document::new("closc-lab-test/1");

/// State of a lab.
pub(crate) const STATUS: Document<Status> = Document::new("closc-lab-status/1");

/// Labs that are up.
pub(crate) const LABS: Document<Items<Status>> = Document::new("closc-labs/1");

/// Result of the walk with two swapped cables.
pub(crate) const MISWIRE: Document<MiswireReport> = Document::new("closc-lab-miswire/1");

/// Evidence of probes or flows about a cut cable.
pub(crate) const CUT: Document<CutReport> = Document::new("closc-lab-cut/1");

/// Result of `lab down`: the stopped switches and nodes.
pub(crate) const DOWN: Document<DownReport> = Document::new("closc-lab-down/1");

/// Runs a lab command.
pub fn run(args: &Args, command: &LabCommand) -> anyhow::Result<Outcome> {
    match command {
        LabCommand::Serve { .. } => privilege::of_switches()?,
        _ => privilege::of_labs()?,
    }
    let mut options = labs::options()?;
    let interrupt = Interrupt::from_signals(cleaning_up).context("cannot listen for signals")?;
    let bar = Mutex::new(Bar { current: None, quiet: args.quiet });
    let show =
        |progress: Progress| bar.lock().expect("no thread panics while it holds the bar").show(progress);
    let watch = Watch::new(&show, &interrupt);
    match command {
        LabCommand::Run(command) => run::run(args, command, options, &watch),
        LabCommand::Up { lab, target } => {
            take_target(&mut options, target)?;
            with_tree(args, lab, &options, &watch, |tree, options| {
                let (_, report) = Lab::up(tree, options, &watch)?;
                print(args, &UP, &report, true)
            })
        }
        LabCommand::Test { lab, extent } => with_lab(args, lab, &options, &watch, |tree, options| {
            let report = Lab::open(tree, options)?.walk(extent.extent(), &watch)?;
            print(args, &TEST, &report, report.is_fine())
        }),
        LabCommand::Status { source: None, .. } => list(args, &options),
        LabCommand::Status { source: Some(source), no_digests } => {
            let lab = LabArgs { source: source.clone(), no_digests: *no_digests };
            with_lab(args, &lab, &options, &watch, |tree, options| {
                let status = Lab::open(tree, options)?.status();
                let fine = status.complete && status.missing.is_empty();
                print(args, &STATUS, &status, fine)
            })
        }
        LabCommand::Down(lab) => down(args, lab, &options),
        LabCommand::Miswire { lab, first, second, keep } => {
            with_lab(args, lab, &options, &watch, |tree, options| {
                let mut lab = Lab::open(tree, options)?;
                let mut report = lab.miswire(first, second, LinkLayer::default(), &watch)?;
                report.restored = restore_unless(*keep, &mut lab, &watch)?;
                print(args, &MISWIRE, &report, report.is_found())
            })
        }
        LabCommand::Cut { lab, cable, down, keep } => {
            let ends = if *down { Ends::Down } else { Ends::Up };
            with_lab(args, lab, &options, &watch, |tree, options| {
                let report = cut(&mut Lab::open(tree, options)?, (cable.as_str(), ends), *keep, &watch)?;
                print(args, &CUT, &report, report.is_found())
            })
        }
        LabCommand::Job(command) => job::run(args, command, &options, &watch),
        LabCommand::Restore(lab) => with_lab(args, lab, &options, &watch, |tree, options| {
            let mut lab = Lab::open(tree, options)?;
            lab.restore(&watch)?;
            print(args, &STATUS, &lab.status(), true)
        }),
        LabCommand::Serve { tree, socket, listen, no_digests } => {
            serve(tree, socket, *listen, digests(*no_digests), &interrupt)
        }
    }
}

/// Cuts a cable, and restores it unless `--keep` is given.
fn cut(
    lab: &mut Lab,
    (cable, ends): (&str, Ends),
    keep: bool,
    watch: &Watch<'_>,
) -> anyhow::Result<CutReport> {
    let report = lab.cut(cable, ends, watch)?;
    Ok(CutReport { restored: restore_unless(keep, lab, watch)?, ..report })
}

/// Restores all cables, unless `keep` is set. Returns whether it did.
fn restore_unless(keep: bool, lab: &mut Lab, watch: &Watch<'_>) -> anyhow::Result<bool> {
    if !keep {
        lab.restore(watch)?;
    }
    Ok(!keep)
}

/// Prints the labs that are up.
fn list(args: &Args, options: &Options) -> anyhow::Result<Outcome> {
    let labs = closc_lab::list(options)?;
    output::results(args.format, &LABS, &labs, |labs| match labs {
        [] => "no lab is up\n".to_owned(),
        labs => labs.iter().map(ToString::to_string).collect(),
    })?;
    Ok(Outcome::Fine)
}

/// Takes a lab down.
fn down(args: &Args, lab: &LabArgs, options: &Options) -> anyhow::Result<Outcome> {
    let Some(fabric) = fabric_name(args, lab)? else { return Ok(Outcome::Failed) };
    let report = closc_lab::down(&fabric, options)?;
    trees::clear(options, &fabric)?;
    print(args, &DOWN, &report, true)
}

/// Prints a message after a second signal.
fn cleaning_up() {
    output::say("cleaning up; a third signal ends `closc` at once");
}

/// Sets the target and the program that runs the switches.
fn take_target(options: &mut Options, target: &TargetArgs) -> anyhow::Result<()> {
    options.target = target.target.map(Into::into);
    options.listen = target.listen;
    if let Some(listen) = target.listen.filter(|listen| !listen.ip().is_loopback() && !target.plaintext) {
        bail!(
            "`{listen}` is reachable from other machines, but P4Runtime has no passwords: use 127.0.0.1 or \
             [::1], or add `--plaintext`"
        );
    }
    options.switch = match target.switch_program.as_str() {
        "closc" => vec![labs::program()?, "switch".to_owned()],
        other => vec![other.to_owned()],
    };
    Ok(())
}

/// Runs embedded switches in this process.
fn serve(
    tree: &Utf8Path,
    socket: &Utf8Path,
    listen: Option<SocketAddr>,
    digests: Digests,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    limits::raise_open_files();
    let running = closc_lab::backend::embedded::serve(tree, socket, digests, listen)?;
    // The parent process reads only this line, so nothing is written to the pipe afterwards.
    let mut out = std::io::stdout();
    writeln!(out, "{}", running.endpoint())?;
    out.flush()?;
    running.wait(interrupt);
    Ok(Outcome::Fine)
}

fn print<T: Serialize + ToString>(
    args: &Args,
    document: &Document<T>,
    report: &T,
    fine: bool,
) -> anyhow::Result<Outcome> {
    let outcome = if fine { Outcome::Fine } else { Outcome::Failed };
    output::print_outcome(args, outcome, document, report, ToString::to_string)
}

/// Calls `work` with the tree of a lab and its options. The tree is the given one, or is compiled from the given fabric
/// file.
pub fn with_tree(
    args: &Args,
    lab: &LabArgs,
    options: &Options,
    watch: &Watch<'_>,
    work: impl FnOnce(&Utf8Path, &Options) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Outcome> {
    with_tree_for(args, lab, (options, watch), |_| Ok(trees::Purpose::Lab), work)
}

/// Like [`with_tree`], for a lab that must be up. If it is not, nothing is compiled.
fn with_lab(
    args: &Args,
    lab: &LabArgs,
    options: &Options,
    watch: &Watch<'_>,
    work: impl FnOnce(&Utf8Path, &Options) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Outcome> {
    with_tree_for(args, lab, (options, watch), |_| Ok(trees::Purpose::LabThatIsUp), work)
}

/// Returns an error if no lab of the fabric is up.
fn require_up(plan: &Plan, options: &Options) -> anyhow::Result<()> {
    let fabric = plan.name();
    if closc_lab::list(options)?.iter().any(|lab| lab.fabric == fabric) {
        return Ok(());
    }
    Err(LabError::NotUp { fabric: fabric.to_owned(), runtime: options.runtime.clone() }.into())
}

/// Like [`with_tree`], but `purpose` returns the purpose of the tree for a plan. It can also return an error, which
/// prevents compilation.
pub(crate) fn with_tree_for(
    args: &Args,
    lab: &LabArgs,
    (options, watch): (&Options, &Watch<'_>),
    purpose: impl FnOnce(&Plan) -> anyhow::Result<trees::Purpose>,
    work: impl FnOnce(&Utf8Path, &Options) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Outcome> {
    let options = Options { digests: digests(lab.no_digests), ..options.clone() };
    if lab.source.is_dir() {
        return work(&lab.source, &options);
    }
    let Some(input) = input::read_again(args, &lab.source)? else { return Ok(Outcome::Failed) };
    let fabric = input.plan.topology().name.as_str();
    let purpose = purpose(&input.plan)?;
    watch.check()?;
    let place = trees::Place::take(&options, fabric, purpose)?;
    let is_there =
        if purpose == trees::Purpose::LabThatIsUp { require_up(&input.plan, &options) } else { Ok(()) };
    let stop = || watch.check().is_err();
    let compiled = is_there
        .and_then(|()| compile::compile_to_cache(args, &input, &place.tree, &stop).map_err(interrupted_lab));
    let outcome = compiled.and_then(|_| work(&place.tree, &options));
    place.clear()?;
    outcome
}

/// Converts the error of an interrupted compilation to that of an interrupted lab.
fn interrupted_lab(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(CompileError::Stopped) => LabError::Interrupted.into(),
        Some(_) | None => error,
    }
}

fn digests(no_digests: bool) -> Digests {
    if no_digests { Digests::Ignored } else { Digests::Compared }
}

fn fabric_name(args: &Args, lab: &LabArgs) -> anyhow::Result<Option<String>> {
    if !lab.source.exists() {
        // A lab whose tree has been removed can be taken down by its name.
        return Ok(Some(lab.source.to_string()));
    }
    if lab.source.is_dir() {
        return crate::tree::fabric(&lab.source).map(Some);
    }
    Ok(input::read_again(args, &lab.source)?.map(|input| input.plan.topology().name.to_string()))
}

/// The current progress bar. A new kind of step replaces it.
struct Bar {
    current: Option<(&'static str, ProgressBar)>,
    quiet: bool,
}

impl Bar {
    fn show(&mut self, progress: Progress) {
        if self.current.as_ref().is_none_or(|(what, _)| *what != progress.operation) {
            if let Some((_, old)) = self.current.take() {
                old.finish_and_clear();
            }
            self.current =
                Some((progress.operation, progress::bar(self.quiet, progress.total, progress.operation)));
        }
        if let Some((_, bar)) = &self.current {
            bar.set_position(progress.done);
            if progress.done >= progress.total {
                bar.finish_and_clear();
            }
        }
    }
}
