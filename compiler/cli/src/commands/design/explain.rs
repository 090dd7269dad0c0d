//! `closc design --explain`: why the search does not propose a fabric that a user names.
//!
//! In: a need and a fabric file. Out: the designs that beat it, number by number, and the points in which it misses the
//! need. Invariants: it is compared with the complete Pareto front, not only with the designs that are shown.

use std::fmt::Write as _;

use camino::Utf8Path;
use closc_design::{Found, Measure, Need, breaches};
use closc_diagnostics::figures::{counted, number};
use schemars::JsonSchema;
use serde::Serialize;

use super::row::Row;
use super::{Asked, Searched, named, page};
use crate::args::Args;
use crate::args::design::DesignArgs;
use crate::input;
use crate::output::{self, Document, Outcome};

/// The answer.
pub(crate) const EXPLAIN: Document<Explained> = Document::new("closc-design-explain/1");

/// Why a fabric is not proposed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Explained {
    /// The fabric file.
    fabric: String,
    /// Whether no design beats it.
    unbeaten: bool,
    /// Whether the search proposes a design with the same numbers.
    on_front: bool,
    /// Points in which it misses the need.
    outside: Vec<String>,
    /// Warnings of `closc check` other than known faults of releases. A design has none, except those that its file
    /// allows.
    warnings: usize,
    /// Size of the front that it was compared with.
    front: usize,
    /// The fabric.
    named: Row,
    /// Designs of the front that are better in one number and worse in none.
    beaten_by: Vec<Better>,
}

/// A design that beats it.
#[derive(Serialize, JsonSchema)]
struct Better {
    /// Numbers that differ.
    numbers: Vec<Difference>,
    design: Row,
}

/// A number that differs, with the values of both fabrics.
#[derive(Serialize, JsonSchema)]
struct Difference {
    number: &'static str,
    named: u64,
    design: u64,
}

/// Explains why a fabric is not proposed.
pub(super) fn run(
    args: &Args,
    command: &DesignArgs,
    (asked, file): (&Asked<'_>, &Utf8Path),
) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, file)? else { return Ok(Outcome::Failed) };
    let need = asked.need;
    let design = named::design(&input.plan, file, asked.catalogue)?;
    let Ok(measure) = design.measure(asked.compared, &named::media(input.plan.topology())) else {
        anyhow::bail!("an item of `{file}` has no price, or no published power");
    };
    let is_priced = asked.compared.prices.is_some();
    let searched = super::search(args, asked)?;
    let mut outside = breaches(need, &design, &searched.underused);
    outside.extend(named::hosts(input.plan.topology(), need.nics_per_node, need.rails));
    let better = searched.front.iter().filter(|found| found.measure.beats(&measure));
    let better = better.take(command.show.into());
    let beaten_by: Vec<Better> =
        better.map(|found| self::better(found, &measure, &searched, is_priced)).collect();
    let explained = Explained {
        fabric: file.to_string(),
        unbeaten: beaten_by.is_empty(),
        on_front: searched.front.iter().any(|found| found.measure == measure),
        outside,
        warnings: input.warnings.saturating_sub(input.known_faults),
        front: searched.front.len(),
        named: named::row(&input.plan, &design, &measure, is_priced),
        beaten_by,
    };
    output::result(args.format, &EXPLAIN, &explained, |explained| text(explained, need))?;
    Ok(Outcome::Fine)
}

fn better(found: &Found<'_>, named: &Measure, searched: &Searched<'_, '_>, is_priced: bool) -> Better {
    let numbers = named.numbers().into_iter().zip(found.measure.numbers());
    let numbers = numbers.filter(|((_, named), (_, design))| named != design);
    let numbers = numbers.map(|((number, named), (_, design))| Difference { number, named, design });
    Better { numbers: numbers.collect(), design: searched.row(found, is_priced) }
}

fn text(explained: &Explained, need: &Need) -> String {
    let mut text = format!("`{}`: {}\n", explained.fabric, page::title(&explained.named));
    for reason in &explained.outside {
        let _ = writeln!(text, "outside of the need: {reason}");
    }
    if explained.warnings > 0 {
        let _ = writeln!(
            text,
            "`closc check` has {} for it besides known faults of releases; designs have none that they do not accept by name",
            counted(explained.warnings as u64, "warning")
        );
    }
    let nics = number(need.nics.into());
    let front = format!("the front for {nics} NICs, which is {}", counted(explained.front as u64, "design"));
    let verdict = if explained.on_front {
        format!("It is on {front}.")
    } else if explained.unbeaten {
        format!("No design beats it on {front}.")
    } else {
        format!("It is not on {front}. These are better in one number and worse in none:")
    };
    let _ = writeln!(text, "{verdict}");
    for better in &explained.beaten_by {
        let _ = writeln!(text, "\n    {}", page::title(&better.design));
        for Difference { number: name, named, design } in &better.numbers {
            let _ = writeln!(text, "    {name:<28} {:>12} instead of {}", number(*design), number(*named));
        }
    }
    text
}
