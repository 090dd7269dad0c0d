//! Routes accepted and announced by switches.
//!
//! In: the filters of all sessions. Out: violations. Invariants: filters that many switches share are checked once.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use closc_artefacts::Prefix;
use closc_diagnostics::Rule;

use super::speakers::speakers;
use crate::finding::{Findings, Violation};
use crate::model::bgp::{Clause, Lengths, Policy, PrefixMatch, Terms};
use crate::model::fabric::Fabric;
use crate::model::fact::{FactKind, Term};
use crate::model::segment::Tier;
use crate::rules::bgp::{LIMIT, STABLE, TAKEN, TRANSIT};

/// Checks that filters reject prefixes shorter than the announced ones, and that T0s announce only their own prefixes.
/// Also checks prefix limits and preferences.
pub(super) fn check(fabric: &Fabric, findings: &mut Findings) {
    let shortest = shortest(fabric);
    let meant = preferences(fabric);
    for (preference, of) in
        frequent_preferences(fabric).iter().zip(["paths that are not drained", "drained paths"])
    {
        if let Some(preference) = preference {
            findings.record_common_value(&STABLE, format_args!("preference of {of}"), preference);
        }
    }
    // Most switches share their filters, so each filter is checked once.
    let mut sound: HashSet<(*const Terms, bool)> = HashSet::new();
    for (id, speaker) in speakers(fabric) {
        let is_t0 = fabric.switch(id).is_some_and(|switch| switch.tier == Some(Tier::T0));
        for terms in &speaker.terms {
            for rule in [&TAKEN, &TRANSIT, &LIMIT, &STABLE] {
                findings.count_facts(rule, 1);
            }
            let key = (Arc::as_ptr(terms), is_t0);
            if sound.contains(&key) {
                continue;
            }
            let faults = faults(terms, is_t0, shortest, meant);
            if faults.is_empty() {
                sound.insert(key);
            }
            for (rule, fault) in faults {
                let message = format!("`{}`: {fault}", fabric.cabling.switch(id));
                let about = if rule.code == LIMIT.code {
                    FactKind::Terms("", Term::Limit)
                } else if terms.accepted.is_none() || terms.announced.is_none() {
                    FactKind::Terms("", Term::Filters)
                } else {
                    FactKind::Filters
                };
                findings.report(Violation::new(rule, fabric.place(id, about), message));
            }
        }
    }
}

/// Length of the prefix that a T0 announces for its NICs.
const GROUP_BITS: u8 = 64;

/// Returns the length of the shortest announced prefix. Switches above absent T0s also accept the prefixes of these
/// T0s.
fn shortest(fabric: &Fabric) -> u8 {
    let is_t0 = |id| fabric.switch(id).is_some_and(|switch| switch.tier == Some(Tier::T0));
    let groups = if speakers(fabric).any(|(id, _)| is_t0(id)) { None } else { Some(GROUP_BITS) };
    let announced = speakers(fabric).flat_map(|(_, speaker)| &speaker.networks).map(Prefix::prefix_len);
    announced.chain(groups).min().unwrap_or(GROUP_BITS)
}

/// Returns the faults in the terms of a session.
fn faults(terms: &Terms, is_t0: bool, shortest: u8, meant: Preferences) -> Vec<(&'static Rule, String)> {
    let mut faults = Vec::new();
    match &terms.accepted {
        None => faults.push((&TAKEN, "received routes pass no filter".to_owned())),
        Some(policy) => {
            for clause in policy.0.iter().filter(|clause| clause.permit) {
                if let Some(width) =
                    clause.prefixes.as_ref().map_or(Some(0), |list| too_short(list, shortest))
                {
                    faults.push((
                        &TAKEN,
                        format!(
                            "it accepts prefixes of {width} bits; the fabric announces none below {shortest}"
                        ),
                    ));
                }
            }
            faults.extend(preference_fault(policy, meant).map(|fault| (&STABLE, fault)));
        }
    }
    if terms.accepts_own {
        faults.push((&TAKEN, "it accepts paths with its own autonomous system in them".to_owned()));
    }
    if is_t0 && !terms.announced.as_ref().is_some_and(is_local_only) {
        faults.push((&TRANSIT, "a T0 may announce prefixes that it received from above".to_owned()));
    }
    if terms.limit.is_none() {
        faults.push((&LIMIT, "a session has no prefix limit".to_owned()));
    }
    faults
}

/// Returns the length of the shortest prefix that a list permits, if it is shorter than allowed.
fn too_short(list: &[crate::model::bgp::Entry], shortest: u8) -> Option<u8> {
    let lengths = list.iter().filter(|entry| entry.permit).filter_map(|entry| match entry.prefix_match {
        PrefixMatch::Own(_) => None,
        PrefixMatch::Within { net, from, to } => {
            let from = from.max(net.prefix_len());
            (from <= to).then_some(from)
        }
    });
    lengths.min().filter(|length| *length < shortest)
}

/// Returns whether the policy permits only prefixes that the switch originates.
fn is_local_only(policy: &Policy) -> bool {
    policy.0.iter().filter(|clause| clause.permit).all(|clause| {
        let own = |entry: &crate::model::bgp::Entry| {
            !entry.permit || matches!(entry.prefix_match, PrefixMatch::Own(_))
        };
        clause.lengths.and_then(Lengths::longest) == Some(0)
            || clause.prefixes.as_ref().is_some_and(|list| list.iter().all(own))
    })
}

/// Local preference of paths: the first for unmarked paths, the second for paths marked as drained.
pub(crate) type Preferences = [u32; 2];

/// Default local preference of a path.
const PREFERENCE: u32 = 100;

/// Returns the effect of each clause that permits paths: whether a path is marked afterwards, and its preference.
fn outcomes(policy: &Policy) -> impl Iterator<Item = (bool, u32)> + '_ {
    policy.0.iter().enumerate().filter(|(_, clause)| clause.permit).flat_map(|(at, clause)| {
        let preference = clause.preference.unwrap_or(PREFERENCE);
        let shadowed = policy.0[..at].iter().any(|earlier| shadows(earlier, clause));
        let unmarked = (!clause.if_drained).then_some((clause.drains, preference));
        let marked = (!shadowed).then_some((true, preference));
        unmarked.into_iter().chain(marked)
    })
}

/// Returns whether an earlier clause matches every marked path that a later one matches.
fn shadows(earlier: &Clause, later: &Clause) -> bool {
    (earlier.prefixes.is_none() || earlier.prefixes == later.prefixes)
        && (earlier.lengths.is_none() || earlier.lengths == later.lengths)
}

/// Returns the preferences that most filters set.
pub(crate) fn preferences(fabric: &Fabric) -> Preferences {
    let [unmarked, marked] = frequent_preferences(fabric);
    [unmarked.unwrap_or(PREFERENCE), marked.unwrap_or(0)]
}

/// Returns the most frequent preferences, or `None` where filters set none.
fn frequent_preferences(fabric: &Fabric) -> [Option<u32>; 2] {
    let mut votes: BTreeMap<(bool, u32), u64> = BTreeMap::new();
    for (_, speaker) in speakers(fabric) {
        for terms in &speaker.terms {
            let all: HashSet<(bool, u32)> = terms.accepted.iter().flat_map(outcomes).collect();
            for outcome in all {
                *votes.entry(outcome).or_default() += 1;
            }
        }
    }
    let most = |marked: bool| {
        let of = votes.iter().filter(|((is, _), _)| *is == marked);
        of.max_by_key(|(_, count)| **count).map(|((_, preference), _)| *preference)
    };
    [most(false), most(true)]
}

/// Describes how the preferences of a policy differ from those of most filters.
fn preference_fault(policy: &Policy, [unmarked, marked]: Preferences) -> Option<String> {
    if marked >= unmarked {
        return Some(format!("drained paths have preference {marked}, and all others {unmarked}"));
    }
    let meant = |is_marked: bool| if is_marked { marked } else { unmarked };
    let (is_marked, found) = outcomes(policy).find(|(is_marked, found)| *found != meant(*is_marked))?;
    let what = if is_marked { "that are drained" } else { "that are not drained" };
    Some(format!("it gives paths {what} preference {found}; most switches give {}", meant(is_marked)))
}

/// Returns whether every permitted path becomes a last resort.
pub(super) fn is_last_resort(policy: &Policy) -> bool {
    let mut permitted = policy.0.iter().filter(|clause| clause.permit).peekable();
    permitted.peek().is_some() && permitted.all(|clause| clause.drains || clause.if_drained)
}
