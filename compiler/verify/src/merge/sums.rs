//! Sums over parts, with overflow checks. An overflow is an error that names the field.

use std::collections::BTreeMap;

use closc_diagnostics::Rule;

use super::{MergeError, NamedSummaries};
use crate::finding::Tally;
use crate::interface::nics::Nics;
use crate::proof::chosen::counts::DeliveryCounts;
use crate::proof::count::PathCounts;
use crate::proof::load::LoadSums;
use crate::report::{ReadCounts, RuleCounts};
use crate::summary::Summary;

/// Returns the error for an overflow.
fn too_much<'a>(name: &'a str, field: &'a str) -> impl FnOnce() -> MergeError + use<'a> {
    move || MergeError::Unsound {
        name: name.to_owned(),
        field: field.to_owned(),
        reason: "the sum over all parts is too large".to_owned(),
    }
}

/// Adds a value of all parts.
fn sum<T>(
    parts: NamedSummaries<'_>,
    field: &str,
    of: impl Fn(&Summary) -> Option<T>,
    add: impl Fn(T, T) -> Option<T>,
) -> Result<Option<T>, MergeError> {
    let mut sum = None;
    for (name, part) in parts {
        sum = match (sum, of(part)) {
            (Some(sum), Some(more)) => Some(add(sum, more).ok_or_else(too_much(name, field))?),
            (sum, more) => sum.or(more),
        };
    }
    Ok(sum)
}

/// Adds the path counts of all parts.
pub(super) fn paths(parts: NamedSummaries<'_>) -> Result<Option<PathCounts>, MergeError> {
    sum(parts, "paths", |part| part.paths, PathCounts::checked_add)
}

/// Adds the deliveries of all parts. Deliveries to NICs that only other parts contain are also counted, although they
/// never arrive.
pub(super) fn deliveries(
    parts: NamedSummaries<'_>,
    nics: &Nics,
) -> Result<Option<DeliveryCounts>, MergeError> {
    let all = u128::from(nics.count());
    let whole = |part: &Summary| {
        let mut own = Nics::default();
        part.interface.nics.values().for_each(|nics| _ = own.join(nics));
        let elsewhere = u128::from(part.interface.senders) * (all - u128::from(own.count()));
        let counts = part.delivery?;
        let deliveries = counts.deliveries.saturating_add(elsewhere);
        Some(DeliveryCounts { deliveries, ..counts })
    };
    sum(parts, "delivery", whole, DeliveryCounts::checked_add)
}

/// Adds the loads of all parts.
pub(super) fn load(parts: NamedSummaries<'_>) -> Result<Option<LoadSums>, MergeError> {
    let load = sum(parts, "load", |part| part.load, |sum, more| sum.checked_add(&more))?;
    match load {
        Some(load) if !load.is_sound() => Err(too_much(&parts[0].0, "load")()),
        load => Ok(load),
    }
}

/// Returns the number of NICs: from path tables, or from cables where switches choose the path.
pub(super) fn nics(parts: NamedSummaries<'_>, nics: &Nics) -> u64 {
    if parts[0].1.routing.is_source_routed() {
        parts.iter().map(|(_, part)| part.read.nics).fold(0, u64::saturating_add)
    } else {
        nics.count()
    }
}

/// Adds the counts of files, devices and cables.
pub(super) fn read(parts: NamedSummaries<'_>) -> Result<ReadCounts, MergeError> {
    let add = |sum: ReadCounts, read: ReadCounts| {
        Some(ReadCounts {
            files: sum.files.checked_add(read.files)?,
            bytes: sum.bytes.checked_add(read.bytes)?,
            switches: sum.switches.checked_add(read.switches)?,
            nodes: sum.nodes.checked_add(read.nodes)?,
            cables: sum.cables.checked_add(read.cables)?,
            tables: sum.tables.checked_add(read.tables)?,
            nics: sum.nics.checked_add(read.nics)?,
        })
    };
    Ok(sum(parts, "read", |part| Some(part.read), add)?.unwrap_or_default())
}

/// Adds the tallies of rules in all parts to those of the merge itself.
pub(super) fn rules(
    parts: NamedSummaries<'_>,
    known: &BTreeMap<&str, &'static Rule>,
    found: BTreeMap<&'static str, (&'static Rule, Tally)>,
) -> Result<Vec<RuleCounts>, MergeError> {
    let mut all: BTreeMap<&str, RuleCounts> =
        found.into_values().map(|(rule, tally)| (rule.code, RuleCounts::new(rule, tally))).collect();
    for (name, part) in parts {
        for (code, tally) in &part.rules {
            let Some(rule) = known.get(code.as_str()) else { continue };
            let own =
                &mut all.entry(rule.code).or_insert_with(|| RuleCounts::new(rule, Tally::default())).tally;
            let add = |sum: u64, more: u64| sum.checked_add(more).ok_or_else(too_much(name, "rules"));
            *own = Tally { facts: add(own.facts, tally.facts)?, broken: add(own.broken, tally.broken)? };
        }
    }
    let broken = |rule: &RuleCounts| rule.tally.broken;
    let all: Vec<RuleCounts> = all.into_values().collect();
    all.iter().map(broken).try_fold(0u64, u64::checked_add).ok_or_else(too_much(&parts[0].0, "broken"))?;
    Ok(all)
}

/// Adds the counts of contents that are not judged.
pub(super) fn not_judged(parts: NamedSummaries<'_>) -> Result<BTreeMap<String, u64>, MergeError> {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for (name, part) in parts {
        for (what, count) in &part.not_judged {
            let own = all.entry(what.clone()).or_default();
            *own = own.checked_add(*count).ok_or_else(too_much(name, "not_judged"))?;
        }
    }
    Ok(all)
}
