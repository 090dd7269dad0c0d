//! `closc diff`: the changes between two fabrics, and their effect on traffic.
//!
//! A side is a fabric file, a file of a Git revision, a compiled tree, or `live`. Two fabric files are compared by
//! their plans, and two trees by their manifests. With `live`, the entries and configurations of running switches are
//! compared with those of the other side.

mod live;
pub(crate) mod patches;
mod reloads;
mod side;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_compile::Unit;
use closc_diff::rollout::{Limit, Rollout, named_waves};
use closc_diff::tree::{TreeSide, Trees};
use closc_diff::{Item, Options, Report, show};
use closc_render::Templates;

use crate::args::diff::DiffArgs;
use crate::args::{Args, Format};
use crate::output::{self, Document, Outcome, Usage};

pub use live::{LIVE, configurations, digest};
pub(crate) use side::Reading;
pub(crate) use side::read_side;
pub(crate) use side::{PlannedFabric, Side, plans, read_unchanged_side, with_drained};

/// Changes between two fabrics.
pub(crate) const DIFF: Document<Report> = Document::new(closc_diff::FORMAT);

/// Line width if the width of the terminal is unknown.
const WIDTH: usize = 100;

/// Compares two sides, or shows a saved difference.
pub fn run(args: &Args, command: &DiffArgs) -> anyhow::Result<Outcome> {
    if let Some(file) = command.show.as_ref().or(command.check.as_ref()) {
        let report = read_saved(file)?;
        if command.check.is_some() {
            check(args, command, &report)?;
        }
        return print_report(args, command, &report);
    }
    let (Some(old), Some(new)) = (&command.old, &command.new) else { bail!(Usage("name two sides")) };
    if command.patches.is_some() && (old == LIVE || new == LIVE) {
        bail!("`--patches` compares two fabric files: for switches, use `push --dry-run`");
    }
    // A saved difference of two trees applies to the switches of the inventory.
    let has_inventory = command.inventory.is_some() && command.out.is_none();
    let of_live = [has_inventory, command.overlay.is_some(), command.ssh_config.is_some()];
    if of_live.contains(&true) && old != LIVE && new != LIVE {
        bail!(Usage("`--inventory`, `--overlay` and `--ssh-config` need a side that is `live`"));
    }
    let report = match (old.as_str(), new.as_str()) {
        (LIVE, LIVE) => {
            bail!(Usage("both sides are `live`: name a fabric file or tree for one side"))
        }
        (LIVE, other) | (other, LIVE) => live::compare(args, command, other, old == LIVE)?,
        (old, new) => {
            let Some((old, new)) = side::read_both_sides(args, old, new)? else { return Ok(Outcome::Failed) };
            if let Some(folder) = &command.patches {
                patches::write(args, folder, &old, &new)?;
            }
            Some(compare(command, &old, &new)?)
        }
    };
    let Some(report) = report else { return Ok(Outcome::Failed) };
    if let Some(file) = &command.out {
        output::replace(file, &output::document(&DIFF, &report)?)?;
        if file == output::STANDARD {
            return Ok(outcome(&report));
        }
    }
    print_report(args, command, &report)
}

/// Shows a report, and returns the outcome.
fn print_report(args: &Args, command: &DiffArgs, report: &Report) -> anyhow::Result<Outcome> {
    let outcome = outcome(report);
    if args.format == Format::Json || !output::is_silent(args, outcome) {
        print(args, report, command.list)?;
    }
    Ok(outcome)
}

/// Compares two fabric files or two trees.
fn compare(command: &DiffArgs, old: &Side, new: &Side) -> anyhow::Result<Report> {
    let options = Options { list: command.list };
    match (old, new) {
        (Side::Plan(before), Side::Plan(after)) => {
            if command.text {
                bail!("`--text` needs two trees: it shows the changed lines of files");
            }
            let (a, b) = (&before.plan, &after.plan);
            let mut report = of_plans(before, after, options);
            if command.waves {
                let share = command.share.map(|share| Limit { share });
                let limit = share.unwrap_or_else(|| Limit::one_plane(a.topology()));
                let templates = Templates::builtin();
                let differs = |old: &closc_plan::Plan, new: &closc_plan::Plan, switch| {
                    Unit::Switch(switch).differs(old, new, &templates)
                };
                match Rollout::with_comparison(a, b, limit, Some(&differs), Some(&reloads::reload_reasons)) {
                    Ok(rollout) => {
                        report.waves = named_waves(&rollout, a, b);
                        if command.share.is_none() {
                            say_large(&rollout, a, &mut report);
                        }
                    }
                    Err(error) => report.no_waves = Some(error.to_string()),
                }
            }
            Ok(report)
        }
        (Side::Tree(before), Side::Tree(after)) => {
            if command.waves {
                bail!("`--waves` needs two fabric files");
            }
            let read = |which: TreeSide, path: &str| match which {
                TreeSide::Old => before.read(path),
                TreeSide::New => after.read(path),
            };
            let trees = Trees { old: before.files(), new: after.files(), read: &read };
            closc_diff::tree::compare(&trees, before.side.clone(), after.side.clone(), options, command.text)
        }
        (Side::Plan(_), Side::Tree(_)) | (Side::Tree(_), Side::Plan(_)) => {
            bail!("one side is a fabric file and the other a tree: compile the file first")
        }
    }
}

/// In a fabric with one plane, marks waves that take more than half of a pair's bandwidth. The default limit of a
/// wave is one plane, which would be the complete fabric.
fn say_large(rollout: &Rollout, old: &closc_plan::Plan, report: &mut Report) {
    if old.topology().planes > 1 {
        return;
    }
    for (wave, loss) in report.waves.iter_mut().zip(rollout.losses(old)).filter(|(_, loss)| *loss > 0.5) {
        let share = closc_diagnostics::figures::percent(loss);
        wave.text = format!(
            "{} (takes {share} of a pair's bandwidth, and there is no other plane: `--share` makes smaller waves)",
            wave.text
        );
    }
}

/// Compares two plans. Files that may change are rendered and compared.
pub(crate) fn of_plans(before: &PlannedFabric, after: &PlannedFabric, options: Options) -> Report {
    let (old, new, templates) = (&before.plan, &after.plan, Templates::builtin());
    let differs = |item| {
        let unit = match item {
            Item::Switch(switch) => Unit::Switch(switch),
            Item::Node(node) => Unit::Host(node),
            Item::Table(zone, group) => Unit::Group(zone, group),
            Item::List(plane) => Unit::Cables(plane),
        };
        unit.differs(old, new, &templates)
    };
    let (old, new) = ((old, before.side.clone()), (new, after.side.clone()));
    Report::of_plans_with(old, new, options, Some(&differs), Some(&reloads::reload_reasons))
}

fn outcome(report: &Report) -> Outcome {
    if report.is_empty() { Outcome::Fine } else { Outcome::Differences }
}

/// Maximum size of a saved difference in bytes.
const SAVED_MAX: u64 = 1 << 30;

/// Reads a saved difference.
pub(crate) fn read_saved(file: &Utf8Path) -> anyhow::Result<Report> {
    let text = output::read(file, SAVED_MAX)?;
    parse(&text).with_context(|| format!("`{file}` is not a saved difference"))
}

/// Reads the text of a saved difference.
pub fn parse(text: &str) -> anyhow::Result<Report> {
    let report: Report = serde_json::from_str(text)?;
    if report.format != closc_diff::FORMAT {
        bail!("its format is `{}`; expected `{}`", report.format, closc_diff::FORMAT);
    }
    Ok(report)
}

/// Rejects a saved difference if one of its sides has changed since.
fn check(args: &Args, command: &DiffArgs, report: &Report) -> anyhow::Result<()> {
    for (then, other) in [(&report.old, &report.new), (&report.new, &report.old)] {
        if then.source == LIVE {
            live::check_unchanged(args, command, then, other)?;
        } else {
            read_unchanged_side(args, then)?;
        }
    }
    Ok(())
}

/// Prints a report in the requested format.
pub fn print(args: &Args, report: &Report, list: bool) -> anyhow::Result<()> {
    let width = terminal_size::terminal_size().map_or(WIDTH, |(width, _)| usize::from(width.0));
    let text = match args.format {
        Format::Json => output::document(&DIFF, report)?,
        Format::Github => show::github::draw(report),
        Format::Human | Format::Rows(_) => show::human::draw(report, width, list),
        Format::Markdown => show::markdown::draw(report),
        Format::Html => closc_report::difference(report),
    };
    output::print(&text)
}
