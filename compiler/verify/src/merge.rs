//! Merges the summaries of all parts of a fabric into a report, without any tree.
//!
//! In: summaries, by name. Out: the [`Report`] of the complete fabric, or an error: parts have different sources, a
//! part is missing or duplicate, or a value is impossible. Invariants: results about planes and tables are added, with
//! overflow checks. Facts that span parts are judged only in [`spanning_rules`], from the interfaces.

mod cover;
mod spanning_rules;
mod sums;

use std::collections::BTreeMap;

use closc_diagnostics::Rule;

use crate::finding::{Findings, Violation};
use crate::model::place::Place;
use crate::proof::load::LoadSums;
use crate::report::{ReadCounts, Report, not_proved};
use crate::rules::rules;
use crate::summary::Summary;

/// Reason why parts cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The list of parts is empty.
    #[error("there is no part")]
    Nothing,
    /// Two parts belong to different fabrics.
    #[error(
        "`{one}` and `{other}` are parts of different fabrics: {differences} differ; compile and verify both from one file, with one \
         version"
    )]
    Other {
        /// The first part.
        one: String,
        /// The other part.
        other: String,
        /// The differences.
        differences: &'static str,
    },
    /// None of the parts contains a plane or path table.
    #[error("no part has {0}")]
    Missing(String),
    /// Two parts contain the same plane or path table.
    #[error("{item} is in `{one}` and in `{other}`")]
    Twice {
        /// The duplicate.
        item: String,
        /// The first part.
        one: String,
        /// The other part.
        other: String,
    },
    /// Planes were proved with path tables other than the judged ones.
    #[error("`{0}` was not proved with the path tables of the parts: verify it again, with their tables")]
    Tables(String),
    /// The values of a summary are impossible.
    #[error("`{name}`: `{field}`: {reason}")]
    Unsound {
        /// The part.
        name: String,
        /// The field.
        field: String,
        /// The error.
        reason: String,
    },
}

/// Summaries of parts with their names.
type NamedSummaries<'a> = &'a [(String, Summary)];

/// Merges the summaries of all parts into one report.
pub fn merge(parts: &[(String, Summary)]) -> Result<Report, MergeError> {
    let (_, first) = parts.first().ok_or(MergeError::Nothing)?;
    of_one_fabric(parts)?;
    for (name, part) in parts {
        part.sound().map_err(|(field, why)| MergeError::Unsound {
            name: name.clone(),
            field,
            reason: why,
        })?;
    }
    cover::check(parts)?;
    cover::check_same_tables(parts)?;
    let mut findings = Findings::default();
    let read = sums::read(parts)?;
    let nics = spanning_rules::judge(parts, &mut findings);
    let (found, mut violations) = findings.finish();
    let known: BTreeMap<&str, &'static Rule> = rules().into_iter().map(|rule| (rule.code, rule)).collect();
    let rules = sums::rules(parts, &known, found)?;
    for (name, part) in parts {
        for broken in &part.violations {
            let Some(rule) = known.get(broken.rule.as_str()) else { continue };
            let place = Place::file(format!("{name}: {}", broken.place));
            violations.push(Violation::new(rule, place, &broken.message));
        }
    }
    Ok(Report {
        fabric: first.fabric.clone(),
        routing: first.routing.keyword().to_owned(),
        not_proved: not_proved(first.routing),
        not_judged: sums::not_judged(parts)?,
        read: ReadCounts { nics: sums::nics(parts, &nics), ..read },
        paths: sums::paths(parts)?,
        load: sums::load(parts)?.map(LoadSums::counts),
        walk: None,
        delivery: sums::deliveries(parts, &nics)?,
        choices: None,
        broken: rules.iter().map(|rule| rule.tally.broken).sum(),
        rules,
        violations,
    })
}

/// Rejects parts of different fabrics.
fn of_one_fabric(parts: NamedSummaries<'_>) -> Result<(), MergeError> {
    let (one, first) = &parts[0];
    for (other, part) in &parts[1..] {
        let differ = [
            (first.fabric != part.fabric, "their names"),
            (first.routing != part.routing, "their routing modes"),
            (first.source != part.source, "their sources"),
            (first.inputs != part.inputs, "the fabric files that they were compiled from"),
            (first.counts != part.counts, "the numbers of their manifests"),
            (first.uncabled != part.uncabled, "their switches without a cable"),
            (first.closc != part.closc, "the versions that proved them"),
        ];
        if let Some((_, what)) = differ.iter().find(|(differs, _)| *differs) {
            return Err(MergeError::Other { one: one.clone(), other: other.clone(), differences: what });
        }
    }
    let headers =
        parts.iter().filter_map(|(name, part)| Some((name, &part.interface.tables.as_ref()?.header)));
    let headers: Vec<_> = headers.collect();
    match headers.iter().find(|(_, header)| *header != headers[0].1) {
        None => Ok(()),
        Some((other, _)) => Err(MergeError::Other {
            one: headers[0].0.clone(),
            other: (*other).clone(),
            differences: "the data of their path tables about the fabric",
        }),
    }
}
