//! `closc merge`: merges partial results of `verify`, or of `whatif`, into the result for the fabric.
//!
//! In: files that `verify --summary` or `whatif --shard` wrote. Out: the report of the fabric. Exits with 1 if a rule
//! is violated, pairs are cut off, or a part is missing. No tree is read.

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_verify::{Summary, merge};
use closc_whatif::report::EachReport;
use serde::Deserialize;

use crate::args::{Args, MergeArgs};
use crate::commands::verify::show;
use crate::commands::whatif;
use crate::objects;
use crate::output::{self, Outcome};

/// Maximum size of a summary in bytes. Most have a few kilobytes. If switches choose the path, summaries also contain
/// names of T0 groups.
const SUMMARY_MAX: u64 = 64 << 20;

/// Merges the parts.
pub fn run(args: &Args, command: &MergeArgs) -> anyhow::Result<Outcome> {
    let (mut parts, mut answers) = (Vec::with_capacity(command.summaries.len()), Vec::new());
    for place in &command.summaries {
        let text = if place == output::STANDARD {
            output::read(place, SUMMARY_MAX)?
        } else {
            objects::text(place, SUMMARY_MAX)?
        };
        if is_answer(&text) {
            let each: EachReport = serde_json::from_str(&text).with_context(|| format!("`{place}`"))?;
            answers.push((place.to_string(), each));
        } else {
            let summary = Summary::parse(text.as_bytes()).with_context(|| format!("`{place}`"))?;
            parts.push((place.to_string(), summary));
        }
    }
    match (parts.first(), answers.first()) {
        (Some((proof, _)), Some((answer, _))) => {
            bail!("`{proof}` is from `verify` and `{answer}` from `whatif`: merge them separately")
        }
        (None, Some(_)) => whatif::print_impact(args, &EachReport::merge(answers)?),
        (_, None) => show(args, Utf8Path::new(""), &merge(&parts)?),
    }
}

/// Returns whether a document is output of `whatif`.
fn is_answer(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Form {
        schema: String,
    }
    serde_json::from_str::<Form>(text).is_ok_and(|form| form.schema == whatif::EACH.name)
}
