//! `closc design --explain`: why the search does not propose a given fabric.
//!
//! In: a need and a fabric file. Out: the designs that beat it, number by number, and the requirements that it does
//! not meet. Invariants: it is compared with the complete Pareto front, not only with the designs that are shown.

use std::fmt::Write as _;

use camino::Utf8Path;
use closc_design::{Design, FrontDesign, Measure, Requirements, breaches};
use closc_diagnostics::figures::{format_count, number};
use schemars::JsonSchema;
use serde::Serialize;

use super::row::Row;
use super::{SearchInput, SearchResult, file_design, page};
use crate::args::Args;
use crate::args::design::DesignArgs;
use crate::input::{self, InputAssumption};
use crate::output::{self, Document, Outcome};

/// The answer.
pub(crate) const EXPLAIN: Document<DesignExplanation> = Document::new("closc-design-explain/1");

/// Why a fabric is not proposed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DesignExplanation {
    /// The fabric file.
    fabric: String,
    /// Whether no design beats it.
    unbeaten: bool,
    /// Whether it meets the need without warnings, and the search proposes a design with the same numbers.
    on_front: bool,
    /// Requirements of the need that it does not meet.
    outside: Vec<String>,
    /// Warnings of `closc check` other than known faults of releases and assumed limits. Designs have only warnings
    /// that their file allows.
    warnings: usize,
    /// Their codes and messages. The search proposes no fabric that has them.
    warning_messages: Vec<String>,
    /// Number of designs of the front that it was compared with.
    front: usize,
    /// The fabric.
    named: Row,
    /// Designs of the front that are better in one number and worse in none.
    beaten_by: Vec<BetterDesign>,
    /// Designs with better numbers that exceed an assumed limit or need a later release, while the fabric does not.
    /// These do not beat it.
    assumed_better: Vec<BetterDesign>,
    /// Designs with better numbers that have less bisection bandwidth per NIC than the fabric. These do not beat it.
    less_bisection: Vec<BetterDesign>,
}

/// A design with better numbers.
#[derive(Serialize, JsonSchema)]
struct BetterDesign {
    /// Numbers that differ.
    numbers: Vec<Difference>,
    design: Row,
}

/// A number that differs, with the values of both fabrics.
#[derive(Serialize, JsonSchema)]
struct Difference {
    number: String,
    named: u64,
    design: u64,
}

/// Explains why a fabric is not proposed.
pub(super) fn run(
    args: &Args,
    command: &DesignArgs,
    (asked, file): (&SearchInput<'_>, &Utf8Path),
) -> anyhow::Result<Outcome> {
    let Some(InputAssumption { input, assumed, other_warnings }) = input::read_with_assumed(args, file)?
    else {
        return Ok(Outcome::Failed);
    };
    let (need, plan) = (asked.need, &input.plan);
    let named = file_design::design(plan, file, asked.catalogue)?;
    // The file has a NIC in each place, and proposals have only the required ones.
    let design = Design { nics: named.nics.min(need.nics), ..named };
    let media = file_design::media(plan.topology());
    let measure = file_design::measure(file, &design, asked.criteria_of_stages(), &media)?;
    let is_priced = asked.criteria.prices.is_some();
    let searched = super::search(args, asked)?;
    let mut outside = breaches(need, &design);
    outside.extend(file_design::hosts(plan.topology(), need.nics_per_node, need.rails));
    let is_firm = assumed.is_none() && !design.needs_later_release();
    let better = searched.front.iter().filter(|found| found.measure.beats(&measure));
    let (narrow, better): (Vec<&FrontDesign<'_>>, Vec<_>) =
        better.partition(|found| found.design.bisection_share() < design.bisection_share());
    let (beats, assumes): (Vec<_>, Vec<_>) =
        better.into_iter().partition(|found| found.beats(&measure, is_firm));
    let rows = |found: Vec<&FrontDesign<'_>>| -> Vec<BetterDesign> {
        let shown = found.into_iter().take(command.show.into());
        shown.map(|found| better_design(found, (&design, &measure), &searched, is_priced)).collect()
    };
    let warnings = other_warnings.len();
    let has_equal =
        searched.front.iter().any(|found| found.measure == measure && (is_firm || !found.is_firm));
    let explained = DesignExplanation {
        fabric: file.to_string(),
        unbeaten: beats.is_empty(),
        on_front: has_equal && outside.is_empty() && warnings == 0,
        outside,
        warnings,
        warning_messages: other_warnings,
        front: searched.front.len(),
        named: file_design::row((plan, assumed, input.known_faults.clone()), &design, &measure, is_priced),
        beaten_by: rows(beats),
        assumed_better: rows(assumes),
        less_bisection: rows(narrow),
    };
    output::result(args.format, &EXPLAIN, &explained, |explained| text(explained, need))?;
    Ok(Outcome::Fine)
}

fn better_design(
    found: &FrontDesign<'_>,
    (fabric, named): (&Design<'_>, &Measure),
    searched: &SearchResult<'_, '_>,
    is_priced: bool,
) -> BetterDesign {
    let bisection = [fabric, &found.design].map(|design| ("bisection, Gb/s", design.bisection()));
    let numbers = named.numbers().into_iter().zip(found.measure.numbers());
    let [(name, own), (_, other)] = bisection;
    let numbers = numbers.chain([((name.to_owned(), own), (name.to_owned(), other))]);
    let numbers = numbers.filter(|((_, named), (_, design))| named != design);
    let numbers = numbers.map(|((number, named), (_, design))| Difference { number, named, design });
    BetterDesign { numbers: numbers.collect(), design: searched.row(found, is_priced) }
}

fn text(explained: &DesignExplanation, need: &Requirements) -> String {
    let mut text = format!("`{}`: {}\n", explained.fabric, page::title(&explained.named));
    for reason in &explained.outside {
        let _ = writeln!(text, "does not meet the requirements: {reason}");
    }
    for fault in &explained.named.known_faults {
        let _ = writeln!(text, "known fault: {fault}");
    }
    if let Some(assumed) = &explained.named.assumed {
        let _ = writeln!(text, "assumed limit exceeded: {assumed}");
    }
    for warning in &explained.warning_messages {
        let _ = writeln!(text, "warning {warning}");
    }
    if explained.warnings > 0 {
        text.push_str(
            "The search does not propose fabrics with these warnings; `closc check` prints them with their lines and fixes\n",
        );
    }
    let _ = writeln!(text, "{}", verdict(explained, need));
    if !explained.beaten_by.is_empty() {
        text.push_str("These are better in one number and worse in none:\n");
        explained.beaten_by.iter().for_each(|better| differences(&mut text, better));
    }
    if !explained.assumed_better.is_empty() {
        text.push_str(
            "These have better numbers, but exceed an assumed limit or need a later release. They do not rule out a fabric \
             that needs neither:\n",
        );
        explained.assumed_better.iter().for_each(|better| differences(&mut text, better));
    }
    if !explained.less_bisection.is_empty() {
        text.push_str(
            "These have better numbers, but less bisection bandwidth per NIC. They do not rule out a fabric that has more:\n",
        );
        explained.less_bisection.iter().for_each(|better| differences(&mut text, better));
    }
    text
}

/// Returns the sentence that reports whether the fabric is on the front.
fn verdict(explained: &DesignExplanation, need: &Requirements) -> String {
    let nics = number(need.nics.into());
    let front =
        format!("the front for {nics} NICs, which has {}", format_count(explained.front as u64, "design"));
    if explained.on_front {
        format!("It is on {front}.")
    } else if !explained.outside.is_empty() {
        format!("It does not meet the requirements, so it is not on {front}.")
    } else if explained.unbeaten {
        format!("No design beats it on {front}.")
    } else {
        format!("It is not on {front}.")
    }
}

fn differences(text: &mut String, BetterDesign { numbers, design }: &BetterDesign) {
    let _ = writeln!(text, "\n    {}", page::title(design));
    for Difference { number: name, named, design } in numbers {
        let _ = writeln!(text, "    {name:<28} {:>12} instead of {}", number(*design), number(*named));
    }
    if let Some(release) = &design.release {
        let _ = writeln!(text, "    release: {release}");
    }
    if let Some(assumed) = &design.assumed {
        let _ = writeln!(text, "    assumed limit exceeded: {assumed}");
    }
}
