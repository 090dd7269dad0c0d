//! `closc diff`: what changes between two fabrics, and what it does to traffic.
//!
//! A side is a fabric file, a file of a Git revision, or a compiled tree. Plans are compared by their numbers, trees by
//! their manifests.

mod side;

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_diff::rollout::{Limit, Rollout, describe};
use closc_diff::tree::{Trees, Which};
use closc_diff::{Options, Report, show};

use crate::args::diff::{DiffArgs, Form};
use crate::args::{Args, Format};
use crate::output::{self, Outcome};

pub use side::{Side, planned, plans};

/// Columns where the width of the terminal is not known.
const WIDTH: usize = 100;

/// Compares two sides, or shows a saved difference.
pub fn run(args: &Args, command: &DiffArgs) -> anyhow::Result<Outcome> {
    if let Some(file) = command.show.as_ref().or(command.check.as_ref()) {
        let report = saved(file)?;
        if command.check.is_some() {
            check(args, &report)?;
        }
        print(args, command.form, &report, command.list, None)?;
        return Ok(outcome(&report));
    }
    let (Some(old), Some(new)) = (&command.old, &command.new) else { bail!("name two sides") };
    let Some((old, new)) = side::both(args, old, new)? else { return Ok(Outcome::Failed) };
    let options = Options { list: command.list };
    let mut waves = None;
    let report = match (&old, &new) {
        (Side::Plan(before), Side::Plan(after)) => {
            if command.waves {
                let share = command.share.map(|share| Limit { share });
                let limit = share.unwrap_or_else(|| Limit::one_plane(before.plan.topology()));
                let rollout = Rollout::between(&before.plan, &after.plan, limit)?;
                waves = Some(describe(&rollout, &before.plan));
            }
            Report::of_plans((&before.plan, before.side.clone()), (&after.plan, after.side.clone()), options)
        }
        (Side::Tree(before), Side::Tree(after)) => {
            if command.waves {
                bail!("`--waves` orders the change of plans: name two fabric files");
            }
            let read = |which: Which, path: &str| match which {
                Which::Old => before.read(path),
                Which::New => after.read(path),
            };
            let trees = Trees { old: before.files(), new: after.files(), read: &read };
            closc_diff::tree::compare(&trees, before.side.clone(), after.side.clone(), options, command.text)?
        }
        (Side::Plan(_), Side::Tree(_)) | (Side::Tree(_), Side::Plan(_)) => {
            bail!("one side is a fabric file and the other a tree: compile the file first")
        }
    };
    if let Some(file) = &command.out {
        let text = serde_json::to_string_pretty(&report).context("the difference has no JSON form")?;
        std::fs::write(file, text + "\n").with_context(|| format!("cannot write `{file}`"))?;
    }
    print(args, command.form, &report, command.list, waves.as_deref())?;
    Ok(outcome(&report))
}

fn outcome(report: &Report) -> Outcome {
    if report.is_empty() { Outcome::Fine } else { Outcome::Differences }
}

/// Reads a saved difference.
fn saved(file: &Utf8Path) -> anyhow::Result<Report> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?;
    let report: Report =
        serde_json::from_str(&text).with_context(|| format!("`{file}` is no saved difference"))?;
    if report.format != closc_diff::FORMAT {
        bail!("`{file}` is of form `{}`, and this program reads `{}`", report.format, closc_diff::FORMAT);
    }
    Ok(report)
}

/// Refuses a difference whose sides have moved.
fn check(args: &Args, report: &Report) -> anyhow::Result<()> {
    let Some((old, new)) = side::both(args, &report.old.source, &report.new.source)? else {
        bail!("a side of the saved difference is no longer valid")
    };
    for (then, now) in [(&report.old, old.side()), (&report.new, new.side())] {
        if then.digest != now.digest {
            bail!(
                "the saved difference is stale: `{}` was {} and is {}; compare again",
                then.source,
                &then.digest[..then.digest.len().min(12)],
                &now.digest[..now.digest.len().min(12)]
            );
        }
    }
    Ok(())
}

/// Prints a report in the form that was asked for.
pub fn print(
    args: &Args,
    form: Form,
    report: &Report,
    list: bool,
    waves: Option<&str>,
) -> anyhow::Result<()> {
    let width = terminal_size::terminal_size().map_or(WIDTH, |(width, _)| usize::from(width.0));
    let text = match (args.format, form) {
        (Format::Json, _) => {
            let mut value = serde_json::to_value(report).context("the difference has no JSON form")?;
            if let (Some(waves), Some(map)) = (waves, value.as_object_mut()) {
                map.insert("waves".to_owned(), waves.lines().collect());
            }
            format!("{value:#}\n")
        }
        (Format::Github, _) => github(report, waves),
        (Format::Human, Form::Text) => {
            show::human::draw(report, width, list)
                + &waves.map_or_else(String::new, |waves| format!("\n{waves}"))
        }
        (Format::Human, Form::Markdown) => {
            let waves = waves.map_or_else(String::new, |waves| format!("\n```\n{waves}```\n"));
            show::markdown::draw(report) + &waves
        }
        (Format::Human, Form::Html) => show::html::draw(report),
    };
    output::print(&text)
}

/// One annotation for each line of a report.
fn github(report: &Report, waves: Option<&str>) -> String {
    let escape = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let mut out = String::new();
    for line in &report.changes {
        let level = if line.warning.is_some() { "warning" } else { "notice" };
        let warning = line.warning.as_ref().map_or_else(String::new, |warning| format!(" ({warning})"));
        let text = escape(&format!("{} {}: {}{warning}", line.sign.symbol(), line.subject, line.text));
        let _ = writeln!(out, "::{level} title=fabric difference::{text}");
    }
    for pairs in &report.impact.pairs {
        let _ = writeln!(out, "::notice title=impact::{}", escape(&pairs.text));
    }
    if let Some(waves) = waves {
        let _ = writeln!(out, "::notice title=rollout::{}", escape(waves));
    }
    out
}
