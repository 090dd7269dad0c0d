//! Common settings of switches of a tier.
//!
//! In: all switches with BGP. Out: a violation for each switch that differs from most of its tier.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{Debug, Display};
use std::sync::Arc;

use super::filters::filter_difference;
use super::speakers::speakers;
use crate::finding::{Findings, Violation};
use crate::model::bgp::{Process, Terms};
use crate::model::cabling::{Side, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::fact::{FactKind, Term};
use crate::model::language::Language;
use crate::model::segment::Tier;
use crate::rules::bgp::ALIKE;

/// Compares the settings of switches of a tier.
pub(super) fn check(fabric: &Fabric, findings: &mut Findings) {
    type Kind = (Option<Tier>, &'static Language);
    let mut processes: BTreeMap<Kind, Votes<Process>> = BTreeMap::new();
    let mut terms: BTreeMap<(Kind, Side, bool), Votes<Arc<Terms>>> = BTreeMap::new();
    for (id, speaker) in speakers(fabric) {
        let Some(switch) = fabric.switch(id) else { continue };
        let kind = (switch.tier, switch.language);
        // The number of next hops that a switch uses depends on its hardware.
        let process = Process { width: None, ..*speaker.process };
        processes.entry(kind).or_default().add(process, Owner { id, slot: None });
        let mut seen = HashSet::new();
        for (slot, plug) in fabric.cabling.at_switch(id).iter().enumerate() {
            let Some((session, agreed)) = speaker.session(slot as u16) else { continue };
            let drained = fabric.cabling.cable(plug.cable()).drained;
            if seen.insert((plug.side(), drained, session.terms)) {
                let owner = Owner { id, slot: Some(slot) };
                terms.entry((kind, plug.side(), drained)).or_default().add(Arc::clone(agreed), owner);
            }
        }
    }
    let named = |(tier, language): Kind| {
        let tier = tier.map_or("switches without a cable".to_owned(), |tier| format!("{tier}s"));
        format!("of {tier} that run {}", language.name)
    };
    for (kind, votes) in processes {
        votes.note(format_args!("BGP {}", named(kind)), findings);
        votes.judge(fabric, ("its settings are", FactKind::Bgp), process_difference, findings);
    }
    for ((kind, side, drained), votes) in terms {
        let over = if drained { "drained cables" } else { "cables" };
        let of = named(kind);
        votes.note(format_args!("sessions over {over} to their {side:?} side {of}"), findings);
        let what = if side == Side::Lower {
            "its sessions with those above are"
        } else {
            "its sessions with those below are"
        };
        votes.judge(fabric, (what, FactKind::Filters), terms_difference, findings);
    }
}

/// Returns the first setting of a process that differs: times or restart.
fn process_difference(a: &Process, b: &Process) -> Option<Term> {
    let differs = [(Term::Times, a.timers != b.timers), (Term::Restart, a.restart != b.restart)];
    differs.into_iter().find_map(|(term, differs)| differs.then_some(term))
}

/// Returns the first term of a session that differs.
fn terms_difference(a: &Arc<Terms>, b: &Arc<Terms>) -> Option<Term> {
    let is_none = |terms: &Terms| (terms.accepted.is_none(), terms.announced.is_none());
    let differs = [
        (Term::Bfd, a.bfd != b.bfd),
        (Term::Interval, a.interval_s != b.interval_s),
        (Term::Connect, a.connect_s != b.connect_s),
        (Term::Limit, a.limit != b.limit),
        (Term::Rest, a.retry_min != b.retry_min),
        (Term::Filters, is_none(a) != is_none(b)),
    ];
    let of_filters = || filter_difference(a, b).map(Term::Filter);
    differs.into_iter().find_map(|(term, differs)| differs.then_some(term)).or_else(of_filters)
}

/// A switch with a value, and the slot of one of its sessions with this value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Owner {
    id: SwitchId,
    slot: Option<usize>,
}

impl Owner {
    /// Returns the name of the port in the slot.
    fn port(self, fabric: &Fabric) -> &str {
        let plug = self.slot.and_then(|slot| fabric.cabling.at_switch(self.id).get(slot));
        plug.map_or("", |plug| {
            fabric.cabling.names.text(fabric.cabling.cable(plug.cable()).ends(plug.side()).0.port)
        })
    }
}

/// The owners of each value.
struct Votes<T>(HashMap<T, Vec<Owner>>);

impl<T> Default for Votes<T> {
    fn default() -> Self {
        Votes(HashMap::new())
    }
}

impl<T: std::hash::Hash + Eq> Votes<T> {
    fn add(&mut self, value: T, owner: Owner) {
        self.0.entry(value).or_default().push(owner);
    }

    /// Records the most frequent value, so that slices can be compared when they are merged.
    fn note(&self, of: impl Display, findings: &mut Findings)
    where
        T: Debug,
    {
        if let Some((meant, _)) = self.0.iter().min_by_key(|(_, ids)| (Reverse(ids.len()), ids[0])) {
            findings.record_common_value(&ALIKE, of, meant);
        }
    }

    /// Reports all switches that differ from the most frequent value. If several values are equally frequent, that of
    /// the first switch counts.
    fn judge(
        self,
        fabric: &Fabric,
        (what, about): (&str, FactKind<'_>),
        other: impl Fn(&T, &T) -> Option<Term>,
        findings: &mut Findings,
    ) {
        let mut parties: Vec<(T, Vec<Owner>)> = self.0.into_iter().collect();
        parties.sort_by_key(|(_, ids)| (Reverse(ids.len()), ids[0]));
        findings.count_facts(&ALIKE, parties.iter().map(|(_, ids)| ids.len() as u64).sum());
        let Some((most, most_ids)) = parties.first() else { return };
        let more = match most_ids.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        for (value, owners) in parties.iter().skip(1) {
            let term = other(value, most);
            let place = |owner: Owner| {
                let port = owner.port(fabric);
                fabric.place(owner.id, term.map_or(about, |term| FactKind::Terms(port, term)))
            };
            for owner in owners {
                let [own, other] = [*owner, most_ids[0]].map(|owner| fabric.cabling.switch(owner.id));
                let message = format!("`{own}`: {what} different from those of `{other}`{more}");
                let violation = Violation::new(&ALIKE, place(*owner), message);
                findings.report(violation.and(place(most_ids[0])));
            }
        }
    }
}
