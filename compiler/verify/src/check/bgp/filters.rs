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
use crate::model::fact::{FactKind, FilterFact, FilterPart, Term};
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
            let slot = speaker.sessions.iter().position(|session| {
                session.is_some_and(|session| Arc::ptr_eq(&speaker.terms[usize::from(session.terms)], terms))
            });
            let port = slot.and_then(|slot| fabric.cabling.at_switch(id).get(slot)).map_or("", |plug| {
                fabric.cabling.names.text(fabric.cabling.cable(plug.cable()).ends(plug.side()).0.port)
            });
            for Fault { rule, term, message } in faults {
                let message = format!("`{}`: {message}", fabric.cabling.switch(id));
                findings.report(Violation::new(rule, fabric.place(id, FactKind::Terms(port, term)), message));
            }
        }
    }
}

/// A fault in the terms of a session.
struct Fault {
    rule: &'static Rule,
    term: Term,
    message: String,
}

/// Length of the prefix that a T0 announces for its NICs.
const GROUP_BITS: u8 = 64;

/// Returns the length of the shortest announced prefix. If no T0 with BGP was read, a prefix of [`GROUP_BITS`] also
/// counts as announced.
fn shortest(fabric: &Fabric) -> u8 {
    let is_t0 = |id| fabric.switch(id).is_some_and(|switch| switch.tier == Some(Tier::T0));
    let groups = if speakers(fabric).any(|(id, _)| is_t0(id)) { None } else { Some(GROUP_BITS) };
    let announced = speakers(fabric).flat_map(|(_, speaker)| &speaker.networks).map(Prefix::prefix_len);
    announced.chain(groups).min().unwrap_or(GROUP_BITS)
}

/// Returns the faults in the terms of a session.
fn faults(terms: &Terms, is_t0: bool, shortest: u8, meant: Preferences) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut add = |rule, term, message: String| faults.push(Fault { rule, term, message });
    match &terms.accepted {
        None => add(&TAKEN, Term::Filters, "received routes pass no filter".to_owned()),
        Some(policy) => {
            for (at, clause) in policy.0.iter().enumerate().filter(|(_, clause)| clause.permit) {
                let short = clause.prefixes.as_ref().map_or(Some((0, 0)), |list| too_short(list, shortest));
                if let Some((entry, width)) = short {
                    let message = format!(
                        "it accepts prefixes of {width} bits; the fabric announces none below {shortest}"
                    );
                    add(&TAKEN, part(false, at, FilterPart::Prefixes(entry)), message);
                }
            }
            if let Some((at, message)) = preference_fault(policy, meant) {
                add(&STABLE, part(false, at, FilterPart::Preference), message);
            }
        }
    }
    if terms.accepts_own {
        let message = "it accepts paths with its own autonomous system in them".to_owned();
        add(&TAKEN, Term::Filters, message);
    }
    if is_t0 && let Some(term) = terms.announced.as_ref().map_or(Some(Term::Filters), transit_part) {
        add(&TRANSIT, term, "a T0 may announce prefixes that it received from above".to_owned());
    }
    if terms.limit.is_none() {
        add(&LIMIT, Term::Limit, "a session has no prefix limit".to_owned());
    }
    faults
}

/// Returns a part of a filter as a term.
fn part(announced: bool, clause: usize, part: FilterPart) -> Term {
    Term::Filter(FilterFact { announced, clause, part })
}

/// Returns the first part of a filter that differs from another one.
pub(super) fn filter_difference(own: &Terms, other: &Terms) -> Option<FilterFact> {
    let sides = [(false, &own.accepted, &other.accepted), (true, &own.announced, &other.announced)];
    sides.into_iter().find_map(|(announced, own, other)| {
        let [own, other] = [own, other].map(|policy| policy.as_ref().map_or(&[][..], |policy| &policy.0));
        let is_in = |clause: &Clause, clauses: &[Clause]| clauses.contains(clause);
        let is_reordered = own.len() == other.len()
            && own != other
            && own.iter().all(|clause| is_in(clause, other))
            && other.iter().all(|clause| is_in(clause, own));
        if is_reordered {
            return Some(FilterFact { announced, clause: 0, part: FilterPart::Order });
        }
        let longest = own.len().max(other.len());
        (0..longest).find_map(|clause| {
            let part = match (own.get(clause), other.get(clause)) {
                (Some(own), Some(other)) => clause_difference(own, other)?,
                _ => FilterPart::Action,
            };
            Some(FilterFact { announced, clause, part })
        })
    })
}

/// Returns the first part of a clause that differs from another one.
fn clause_difference(own: &Clause, other: &Clause) -> Option<FilterPart> {
    let [entries, expected] = [own, other].map(|clause| clause.prefixes.as_deref().unwrap_or_default());
    let entry = || entries.iter().zip(expected).take_while(|(own, other)| own == other).count();
    let parts = [
        (FilterPart::Action, own.permit != other.permit),
        (FilterPart::Paths, own.lengths != other.lengths),
        (FilterPart::Communities, own.if_drained != other.if_drained),
        (FilterPart::Preference, own.preference != other.preference),
        (FilterPart::Mark, own.drains != other.drains),
        (FilterPart::Bandwidth, own.bandwidth != other.bandwidth),
    ];
    let of_prefixes = || (own.prefixes != other.prefixes).then(|| FilterPart::Prefixes(entry()));
    parts.into_iter().find_map(|(part, differs)| differs.then_some(part)).or_else(of_prefixes)
}

/// Returns the entry of a list that permits the shortest prefix, and its length, if it is shorter than allowed.
fn too_short(list: &[crate::model::bgp::Entry], shortest: u8) -> Option<(usize, u8)> {
    let permitted = list.iter().enumerate().filter(|(_, entry)| entry.permit);
    let lengths = permitted.filter_map(|(at, entry)| match entry.prefix_match {
        PrefixMatch::Own(_) => None,
        PrefixMatch::Within { net, from, to } => {
            let from = from.max(net.prefix_len());
            (from <= to).then_some((at, from))
        }
    });
    lengths.min_by_key(|(_, length)| *length).filter(|(_, length)| *length < shortest)
}

/// Returns the part of a policy that permits prefixes that the switch does not originate.
fn transit_part(policy: &Policy) -> Option<Term> {
    policy.0.iter().enumerate().filter(|(_, clause)| clause.permit).find_map(|(at, clause)| {
        let foreign = |entry: &crate::model::bgp::Entry| {
            entry.permit && !matches!(entry.prefix_match, PrefixMatch::Own(_))
        };
        if clause.lengths.and_then(Lengths::longest) == Some(0) {
            return None;
        }
        let entry = clause.prefixes.as_ref().map_or(Some(0), |list| list.iter().position(foreign))?;
        let is_unlisted = clause.prefixes.is_none() && clause.lengths.is_some();
        Some(part(true, at, if is_unlisted { FilterPart::Paths } else { FilterPart::Prefixes(entry) }))
    })
}

/// Local preference of paths: the first for unmarked paths, the second for paths marked as drained.
pub(crate) type Preferences = [u32; 2];

/// Default local preference of a path.
const PREFERENCE: u32 = 100;

/// Returns the effect of each clause that permits paths: whether a path is marked afterwards, and its preference.
fn outcomes(policy: &Policy) -> impl Iterator<Item = (bool, u32)> + '_ {
    clause_outcomes(policy).map(|(_, outcome)| outcome)
}

/// Returns the effects of clauses with the index of each clause.
fn clause_outcomes(policy: &Policy) -> impl Iterator<Item = (usize, (bool, u32))> + '_ {
    policy.0.iter().enumerate().filter(|(_, clause)| clause.permit).flat_map(|(at, clause)| {
        let preference = clause.preference.unwrap_or(PREFERENCE);
        let shadowed = policy.0[..at].iter().any(|earlier| shadows(earlier, clause));
        let unmarked = (!clause.if_drained).then_some((clause.drains, preference));
        let marked = (!shadowed).then_some((true, preference));
        unmarked.into_iter().chain(marked).map(move |outcome| (at, outcome))
    })
}

/// Returns whether an earlier clause matches every marked path that a later one matches.
fn shadows(earlier: &Clause, later: &Clause) -> bool {
    (earlier.prefixes.is_none() || earlier.prefixes == later.prefixes)
        && (earlier.lengths.is_none() || earlier.lengths == later.lengths)
}

/// Returns the preferences that most filters set; where filters set none, 100 for unmarked paths and 0 for
/// marked ones.
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

/// Returns the clause whose preference differs from that of most filters, and a description.
fn preference_fault(policy: &Policy, [unmarked, marked]: Preferences) -> Option<(usize, String)> {
    if marked >= unmarked {
        return Some((0, format!("drained paths have preference {marked}, and all others {unmarked}")));
    }
    let meant = |is_marked: bool| if is_marked { marked } else { unmarked };
    let (at, (is_marked, found)) =
        clause_outcomes(policy).find(|(_, (is_marked, found))| *found != meant(*is_marked))?;
    let what = if is_marked { "that are drained" } else { "that are not drained" };
    Some((at, format!("it gives paths {what} preference {found}; most switches give {}", meant(is_marked))))
}

/// Returns whether every permitted path becomes a last resort.
pub(super) fn is_last_resort(policy: &Policy) -> bool {
    let mut permitted = policy.0.iter().filter(|clause| clause.permit).peekable();
    permitted.peek().is_some() && permitted.all(|clause| clause.drains || clause.if_drained)
}
