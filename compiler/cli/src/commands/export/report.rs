//! `closc export report`: a fabric as a page for a browser, or as Markdown.
//!
//! In: a fabric file, and its earlier version or a saved difference. Out: one file. Invariants: the file is written
//! atomically. A saved difference is shown only for the fabric file that is its new side.

use anyhow::bail;
use camino::Utf8Path;
use closc_diff::{Options, Report};

use super::list;
use crate::args::export::ReportArgs;
use crate::args::{Args, Format};
use crate::commands::diff::{self, PlannedFabric, Side};
use crate::input;
use crate::output::{self, Outcome, Usage};

/// Writes the page.
pub(super) fn run(args: &Args, command: &ReportArgs) -> anyhow::Result<Outcome> {
    let (written, advice): (&[&str], _) = match args.format {
        Format::Markdown => (&["md", "markdown"], "`--format markdown` writes `.md`"),
        _ => (
            &["html", "htm"],
            "use `.html`, which a browser prints as PDF, or `.md` with `--format markdown`",
        ),
    };
    output::check_extension(&command.out, written, advice)?;
    let Some(page) = page(args, command)? else { return Ok(Outcome::Failed) };
    output::replace(&command.out, &page)?;
    if command.out == output::STANDARD {
        return Ok(Outcome::Fine);
    }
    list(args, vec![command.out.to_string()])
}

/// Returns the page or the text; `None` if a file has faults, which were shown.
fn page(args: &Args, command: &ReportArgs) -> anyhow::Result<Option<String>> {
    if args.format == Format::Markdown {
        if command.since.is_some() || command.changes.is_some() {
            bail!(Usage(
                "`--format markdown` does not support `--since` and `--changes`; use `closc diff OLD NEW --format markdown`"
            ));
        }
        let input = input::read_again(args, &command.file)?;
        return Ok(input.map(|input| closc_report::markdown(&input.plan)));
    }
    if let Some(old) = &command.since {
        let Some((before, after)) = diff::plans(args, old, command.file.as_str())? else { return Ok(None) };
        let changes = diff::of_plans(&before, &after, Options::default());
        return Ok(Some(closc_report::page(&after.plan, Some(&changes))));
    }
    if let Some(saved) = &command.changes {
        let Some(side) = diff::read_side(args, command.file.as_str())? else { return Ok(None) };
        let Side::Plan(planned) = side else { bail!("`{}` is a tree: name the fabric file", command.file) };
        let changes = changes(saved, &planned)?;
        return Ok(Some(closc_report::page(&planned.plan, Some(&changes))));
    }
    let input = input::read_again(args, &command.file)?;
    Ok(input.map(|input| closc_report::page(&input.plan, None)))
}

/// Reads a saved difference, and rejects one of another file.
fn changes(saved: &Utf8Path, planned: &PlannedFabric) -> anyhow::Result<Report> {
    let changes = diff::read_saved(saved)?;
    if changes.new.digest != planned.side.digest {
        bail!(
            "the new side of `{saved}` does not match `{}`: compare again with `closc diff OLD {} --out {saved}`",
            planned.side.source,
            planned.side.source
        );
    }
    Ok(changes)
}
