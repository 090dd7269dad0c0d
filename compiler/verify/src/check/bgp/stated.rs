//! Checks that session timers match the manifest.
//!
//! In: all switches with BGP, and the manifest. Out: a violation for each switch whose timers differ. Invariants: a
//! missing restart time or time between announcements counts as FRR's default. All other times must be set. Settings
//! that a language cannot express are not compared.

use std::sync::Arc;

use super::speakers::speakers;
use crate::finding::{Findings, Violation};
use crate::model::bgp::{Bfd, Process, Restart, Terms};
use crate::model::fabric::Fabric;
use crate::model::fact::{FactKind, Term};
use crate::model::language::{Language, UnsupportedSetting};
use crate::model::place::Place;
use crate::model::stated::{BgpTimers, StatedValues};
use crate::rules::bgp::TIMES;

/// Default seconds that a restart may take.
const RESTART_S: u16 = 120;

/// Compares the times of every switch with the manifest.
pub(crate) fn check(fabric: &Fabric, stated: &StatedValues, findings: &mut Findings) {
    for (id, speaker) in speakers(fabric) {
        findings.count_facts(&TIMES, 1);
        let Some(meant) = &stated.sessions else {
            let message = "the tree has BGP sessions, but the manifest does not state their times";
            let place = Place::file(closc_artefacts::paths::MANIFEST);
            findings.report(Violation::new(&TIMES, place, message).and(fabric.place(id, FactKind::Bgp)));
            return;
        };
        let Some(language) = fabric.switch(id).map(|switch| switch.language) else { continue };
        let own = process(&speaker.process, meant, language);
        let of_sessions = || speaker.terms.iter().find_map(|terms| self::terms(terms, meant, language));
        if let Some((term, message)) = own.or_else(of_sessions) {
            let message = format!("`{}`: {message}", fabric.cabling.switch(id));
            let violation = Violation::new(&TIMES, fabric.place(id, FactKind::Terms("", term)), message);
            findings.report(
                violation
                    .and(Place::text(closc_artefacts::paths::MANIFEST, vec!["\"sessions\":".to_owned()])),
            );
        }
    }
}

/// Returns the first fault of the values that all sessions share.
fn process(process: &Process, meant: &BgpTimers, language: &Language) -> Option<(Term, String)> {
    let (keepalive, hold) = (meant.keepalive_s, meant.hold_s);
    if process.timers != Some((keepalive, hold)) {
        let found = process.timers.map_or_else(
            || "keepalive and hold times are not set".to_owned(),
            |(own, silence)| format!("keepalive and hold times are {own} and {silence} s"),
        );
        return Some((Term::Times, format!("{found}; the manifest states {keepalive} and {hold} s")));
    }
    let Restart { graceful, preserves, max_duration_s: within_s, stale_s } = process.restart;
    let restart =
        Restart { graceful, preserves, max_duration_s: Some(within_s.unwrap_or(RESTART_S)), stale_s };
    let wanted = Restart {
        graceful: true,
        preserves: language.says(UnsupportedSetting::Forwarding),
        max_duration_s: Some(meant.restart_s),
        stale_s: Some(meant.stale_s),
    };
    (restart != wanted).then(|| {
        let preserved = if wanted.preserves { " with forwarding preserved" } else { "" };
        let message = format!(
            "graceful restart{preserved} is not set to {} s for the restart and {} s for stale paths",
            meant.restart_s, meant.stale_s
        );
        (Term::Restart, message)
    })
}

/// Returns the first fault in the terms of a session.
fn terms(terms: &Arc<Terms>, meant: &BgpTimers, language: &Language) -> Option<(Term, String)> {
    let interval = meant.bfd_interval_ms;
    let wanted = Bfd { multiplier: meant.bfd_multiplier, transmit_ms: interval, receive_ms: interval };
    if terms.bfd != Some(wanted) {
        let show = |bfd: Bfd| format!("{} x {} / {} ms", bfd.multiplier, bfd.transmit_ms, bfd.receive_ms);
        let found = terms.bfd.map_or_else(|| "off".to_owned(), show);
        return Some((Term::Bfd, format!("BFD is {found}; the manifest states {}", show(wanted))));
    }
    let times = [
        (
            Term::Interval,
            "the time between announcements",
            Some(terms.interval_s.unwrap_or(0)),
            meant.announce_s,
            "s",
        ),
        (Term::Connect, "the time between attempts to connect", terms.connect_s, meant.connect_s, "s"),
        (
            Term::Rest,
            "the restart time after a prefix limit is exceeded",
            terms.retry_min,
            meant.retry_min,
            "min",
        ),
    ];
    let is_said = |term: Term| term != Term::Connect || language.says(UnsupportedSetting::Connects);
    let (term, what, found, stated, unit) =
        times.into_iter().find(|(term, _, found, stated, _)| *found != Some(*stated) && is_said(*term))?;
    let found = found.map_or_else(|| "not set".to_owned(), |found| format!("{found} {unit}"));
    Some((term, format!("{what} is {found}; the manifest states {stated} {unit}")))
}
