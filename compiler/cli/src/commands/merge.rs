//! `closc merge`: the verdict of a fabric from summaries of its parts.
//!
//! In: files that `verify --summary` wrote. Out: the report of the whole. Exits with 0 where everything holds, and with 1 where
//! something does not or the parts make no whole. No tree is read.

use anyhow::Context as _;
use camino::Utf8Path;
use closc_verify::{Report, Summary, merge};

use crate::args::{Args, Format, MergeArgs};
use crate::commands::verify::annotations;
use crate::output::{self, Outcome};

/// The most bytes of a summary: kilobytes, and names of T0 groups where switches choose the way.
const SUMMARY_MAX: u64 = 64 << 20;

/// Puts parts together.
pub fn run(args: &Args, command: &MergeArgs) -> anyhow::Result<Outcome> {
    let mut parts = Vec::with_capacity(command.summaries.len());
    for place in &command.summaries {
        let text = closc_files::given_text(place, SUMMARY_MAX)?;
        let summary = Summary::parse(text.as_bytes()).with_context(|| format!("`{place}`"))?;
        parts.push((place.to_string(), summary));
    }
    let report = merge(&parts)?;
    match args.format {
        Format::Human | Format::Json | Format::Markdown | Format::Html => {
            output::result(args.format, "closc-verify/1", &report, Report::text)?;
        }
        Format::Github => output::print(&annotations(Utf8Path::new(""), &report))?,
    }
    Ok(if report.holds() { Outcome::Fine } else { Outcome::Failed })
}
