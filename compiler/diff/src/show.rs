//! Views of a report for terminals and review pages. The view for browsers is in `closc-report`.
//!
//! In: a report. Out: text. Invariants: every view has the same content; only the form differs.

mod fold;
pub mod github;
pub mod human;
pub mod markdown;

use closc_diagnostics::figures::{format_count, number};

use crate::report::Report;
use crate::rollout::Seconds;
use crate::touched_artefacts::Artefacts;

/// Maximum number of kinds of pairs shown. Further ones are only counted.
const PAIRS_SHOWN: usize = 6;

/// Returns the lines about impact, worst first.
pub fn impact(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let all = &report.impact.pairs;
    for pairs in all.iter().take(PAIRS_SHOWN) {
        lines.push(match pairs.pairs {
            1 => format!("{} (`{}` and `{}`)", pairs.text, pairs.example.0, pairs.example.1),
            _ => pairs.text.clone(),
        });
    }
    if all.len() > PAIRS_SHOWN {
        let rest: u64 = all[PAIRS_SHOWN..].iter().map(|pairs| pairs.pairs).sum();
        lines.push(format!(
            "and {} of {}",
            format_count(rest, "more pair"),
            format_count((all.len() - PAIRS_SHOWN) as u64, "other kind")
        ));
    }
    if all.is_empty() && !report.is_empty() && report.rollout.is_some() {
        lines.push("no pair of NICs loses or gains a path".to_owned());
    }
    let is_less = all.iter().any(|pairs| pairs.paths_new < pairs.paths_old);
    // Pairs without a NIC have no paths either.
    if is_less && all.iter().all(|pairs| pairs.paths_new.is_some_and(|paths| paths > 0)) {
        lines.push("no pair is cut off".to_owned());
    }
    lines
}

/// Returns the lines about waves: description, steps and rollback of each.
fn waves(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report.no_waves.iter().map(|why| format!("none: {why}")).collect();
    for (at, wave) in report.waves.iter().enumerate() {
        lines.push(format!("wave {} ({}): {}", at + 1, Seconds(wave.seconds), wave.text));
        lines.extend(wave.steps.iter().map(|step| format!("  {}", step.text)));
        if !wave.back.is_empty() {
            let back: Vec<&str> = wave.back.iter().map(|step| step.text.as_str()).collect();
            lines.push(format!("  rollback: {}", back.join("; ")));
        }
    }
    if !report.waves.is_empty() {
        let seconds = report.waves.iter().map(|wave| wave.seconds).sum();
        lines.push(format!("in all about {}", Seconds(seconds)));
    }
    lines
}

/// Returns one line about artefacts.
pub fn artefacts(report: &Report) -> Option<String> {
    let kind = |kind: &Artefacts| {
        let part = |sign: char, count: u64| (count > 0).then(|| format!("{sign}{}", number(count)));
        let parts = [part('+', kind.added), part('~', kind.changed), part('-', kind.removed)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{} {}", parts.join(" "), kind.kind)
    };
    let kinds: Vec<String> = report.artefacts.iter().map(kind).collect();
    let by_rule = report.artefacts.iter().any(|kind| kind.at_most);
    let limit = if by_rule {
        "; the number of changed ones is an upper limit: there are too many to compare one by one"
    } else {
        ""
    };
    (!kinds.is_empty()).then(|| kinds.join(", ") + limit)
}
