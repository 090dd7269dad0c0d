//! Edits the YAML of an entry and keeps everything else, including comments.
//!
//! In: an entry as text, its values, and measured values. Out: the text with new `limits`, `facts` and `features`.
//! Invariants: only these blocks change.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use closc_platform::{Claim, HwskuFacts, Limit, Platform, Provenance};
use serde::Serialize;

/// Formats a value as JSON, which is YAML on one line.
fn inline(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns the key of a limit in the file.
pub(super) fn key(limit: Limit) -> String {
    inline(&limit).trim_matches('"').to_owned()
}

/// Returns an entry with measured values.
pub(super) fn write_measurements(
    text: &str,
    base: &Platform,
    hwsku: &str,
    limits: &BTreeMap<Limit, (u32, Provenance)>,
    facts: &HwskuFacts,
) -> String {
    let text = with_limits(text, base, limits);
    let mut known = base.sonic.as_ref().and_then(|sonic| sonic.facts.get(hwsku)).cloned().unwrap_or_default();
    if limits.contains_key(&Limit::EcmpWidth) {
        known.ecmp_width = None;
    }
    let text = with_facts(&text, base, (hwsku, known), facts);
    if base.features.un || !matches!(facts.un, Some(Claim::Measured(_))) {
        return text;
    }
    text.replacen("\nfeatures: [", "\nfeatures: [un, ", 1).replacen("[un, ]", "[un]", 1)
}

/// Returns an entry with measured limits.
pub(super) fn with_limits(
    text: &str,
    base: &Platform,
    limits: &BTreeMap<Limit, (u32, Provenance)>,
) -> String {
    replace(text, "limits", &limits_block(base, limits))
}

fn limits_block(base: &Platform, limits: &BTreeMap<Limit, (u32, Provenance)>) -> String {
    let mut numbers = String::from("limits:\n");
    let mut sources = String::from("  provenance:\n");
    for limit in Limit::ALL {
        let own = (base.limits.get(limit), base.limits.provenance.get(&limit));
        let (number, source) = limits.get(&limit).map_or(own, |(number, source)| (*number, Some(source)));
        let _ = writeln!(numbers, "  {}: {number}", key(limit));
        let sizes = &base.limits.ecmp_sizes;
        if limit == Limit::EcmpWidth && !limits.contains_key(&limit) && !sizes.is_empty() {
            let _ = writeln!(numbers, "  ecmp_sizes: {}", inline(sizes));
        }
        if let Some(source) = source {
            let _ = writeln!(sources, "    {}: {}", key(limit), inline(source));
        }
    }
    numbers + &sources
}

/// Replaces the facts about a hwsku. Facts that were not measured are kept.
fn with_facts(text: &str, base: &Platform, (hwsku, known): (&str, HwskuFacts), facts: &HwskuFacts) -> String {
    let own = HwskuFacts {
        since: known.since,
        un: facts.un.clone().or(known.un),
        trimming: facts.trimming.clone().or(known.trimming),
        trimming_since: known.trimming_since.filter(|_| facts.trimming.is_none()),
        ecmp_width: known.ecmp_width,
    };
    let line = format!("    {}: {}\n", inline(&hwsku), inline(&own));
    let mut all = base.sonic.as_ref().map(|sonic| sonic.facts.clone()).unwrap_or_default();
    all.remove(hwsku);
    let mut block = format!("  facts:\n{line}");
    for (name, facts) in &all {
        let _ = writeln!(block, "    {}: {}", inline(name), inline(facts));
    }
    if text.contains("\n  facts:\n") {
        return replace(text, "  facts", &block);
    }
    // The facts are the last part of `sonic`.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(start) = lines.iter().position(|line| line.starts_with("sonic:")) else {
        return text.to_owned();
    };
    let end = start + 1 + lines[start + 1..].iter().take_while(|line| is_below(line, 0)).count();
    [lines[..end].concat(), block, lines[end..].concat()].concat()
}

/// Replaces a block: the line of its key and all lines below it that are indented more.
fn replace(text: &str, key: &str, block: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = format!("{key}:");
    let Some(start) = lines.iter().position(|line| line.trim_end() == head) else { return text.to_owned() };
    let indent = key.len() - key.trim_start().len();
    let end = start + 1 + lines[start + 1..].iter().take_while(|line| is_below(line, indent)).count();
    [lines[..start].concat(), block.to_owned(), lines[end..].concat()].concat()
}

/// Returns whether a line belongs to a block whose key has this indentation.
fn is_below(line: &str, indent: usize) -> bool {
    let own = line.len() - line.trim_start().len();
    own > indent && !line.trim().is_empty()
}
