//! `closc merge`: the verdict of a fabric from summaries of its parts.
//!
//! In: files that `verify --summary` wrote. Out: the report of the whole. Exits with 0 where everything holds, and with 1 where
//! something does not or the parts make no whole. No tree is read.

use anyhow::Context as _;
use camino::Utf8Path;
use closc_verify::{Summary, merge};

use crate::args::{Args, MergeArgs};
use crate::commands::verify::show;
use crate::output::Outcome;

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
    show(args, Utf8Path::new(""), &report)
}
