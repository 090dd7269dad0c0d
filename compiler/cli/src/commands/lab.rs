//! `closc lab`: brings a compiled fabric up on this machine and walks it.
//!
//! The source is a compiled tree, or a fabric file, which is compiled into the lab's own folder first. Everything
//! the lab does comes from the tree.

use std::sync::Mutex;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_lab::{Interrupt, Lab, LinkLayer, Options, Progress, Watch};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::args::{Args, LabArgs, LabCommand};
use crate::commands::compile;
use crate::input;
use crate::output::{self, Outcome};
use crate::progress;
use crate::tree::manifest;

/// Runs a lab command.
pub fn run(args: &Args, command: &LabCommand) -> anyhow::Result<Outcome> {
    let options = Options::default();
    let interrupt = Interrupt::on_signals().context("cannot listen for signals")?;
    let bar = Mutex::new(Bar { shown: None, quiet: args.quiet });
    let show =
        |progress: Progress| bar.lock().expect("no thread panics while it holds the bar").show(progress);
    let watch = Watch::new(&show, &interrupt);
    match command {
        LabCommand::Up(lab) => with_tree(args, lab, &options, |tree| {
            let (_, report) = Lab::up(tree, &options, &watch)?;
            print(args, &report, true)
        }),
        LabCommand::Test(lab) => with_tree(args, lab, &options, |tree| {
            let report = Lab::open(tree, &options)?.test(&watch)?;
            print(args, &report, report.is_fine())
        }),
        LabCommand::Status { source: None } => {
            let labs = closc_lab::list(&options)?;
            output::result(args.format, &labs, |labs| match labs.as_slice() {
                [] => "no lab is up\n".to_owned(),
                labs => labs.iter().map(ToString::to_string).collect(),
            })?;
            Ok(Outcome::Fine)
        }
        LabCommand::Status { source: Some(source) } => {
            let lab = LabArgs { source: source.clone() };
            with_tree(args, &lab, &options, |tree| {
                let status = Lab::open(tree, &options)?.status();
                let fine = status.complete && status.missing.is_empty();
                print(args, &status, fine)
            })
        }
        LabCommand::Down(lab) => {
            let Some(fabric) = fabric_name(args, lab)? else { return Ok(Outcome::Failed) };
            print(args, &closc_lab::down(&fabric, &options)?, true)
        }
        LabCommand::Miswire { lab, first, second, keep } => with_tree(args, lab, &options, |tree| {
            let mut lab = Lab::open(tree, &options)?;
            let report = lab.miswire(first, second, LinkLayer::default(), &watch)?;
            if !keep {
                lab.restore(&watch)?;
            }
            print(args, &report, report.test.misdelivered == 0)
        }),
        LabCommand::Cut { lab, cable, keep } => with_tree(args, lab, &options, |tree| {
            let mut lab = Lab::open(tree, &options)?;
            let report = lab.cut(cable, &watch)?;
            if !keep {
                lab.restore(&watch)?;
            }
            print(args, &report, true)
        }),
    }
}

fn print<T: Serialize + ToString>(args: &Args, report: &T, fine: bool) -> anyhow::Result<Outcome> {
    output::result(args.format, report, ToString::to_string)?;
    Ok(if fine { Outcome::Fine } else { Outcome::Failed })
}

/// Hands over the tree of a lab: the one that was named, or one compiled from the file that was named.
fn with_tree(
    args: &Args,
    lab: &LabArgs,
    options: &Options,
    work: impl FnOnce(&Utf8Path) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Outcome> {
    if lab.source.is_dir() {
        return work(&lab.source);
    }
    let Some(input) = input::read(args, &lab.source)? else { return Ok(Outcome::Failed) };
    let place = trees(options).join(input.plan.topology().name.as_str());
    compile::whole(args, &input, &place)?;
    work(&place)
}

/// Where fabric files are compiled to: beside the state of the labs.
fn trees(options: &Options) -> Utf8PathBuf {
    options.runtime.with_file_name("trees")
}

fn fabric_name(args: &Args, lab: &LabArgs) -> anyhow::Result<Option<String>> {
    if !lab.source.exists() {
        // A lab can be taken down by its name when its tree is gone.
        return Ok(Some(lab.source.to_string()));
    }
    if lab.source.is_dir() {
        let path = lab.source.join(manifest::NAME);
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read `{path}`"))?;
        let manifest: manifest::Manifest =
            serde_json::from_slice(&bytes).with_context(|| format!("`{path}` does not parse"))?;
        return Ok(Some(manifest.fabric));
    }
    Ok(input::read(args, &lab.source)?.map(|input| input.plan.topology().name.to_string()))
}

/// One progress bar for each kind of step.
struct Bar {
    shown: Option<(&'static str, ProgressBar)>,
    quiet: bool,
}

impl Bar {
    fn show(&mut self, progress: Progress) {
        if self.shown.as_ref().is_none_or(|(what, _)| *what != progress.what) {
            if let Some((_, old)) = self.shown.take() {
                old.finish_and_clear();
            }
            self.shown = Some((progress.what, progress::bar(self.quiet, progress.total, progress.what)));
        }
        if let Some((_, bar)) = &self.shown {
            bar.set_position(progress.done);
            if progress.done >= progress.total {
                bar.finish_and_clear();
            }
        }
    }
}
