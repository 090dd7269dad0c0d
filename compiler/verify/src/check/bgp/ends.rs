//! The two ends of a session.
//!
//! In: a cable between switches. Out: contradictions between its ends.

use std::sync::Arc;

use super::filters::is_last_resort;
use crate::finding::{Findings, Violation};
use crate::model::bgp::{Remote, Session, Speaker, Terms};
use crate::model::cabling::{Cable, CableId, DeviceId, End};
use crate::model::fabric::Fabric;
use crate::model::fact::{FactKind, Term};
use crate::model::language::{Language, UnsupportedSetting};
use crate::rules::bgp::{NUMBERS, REMOTE, RESORT, SILENCE};

/// Compares both ends of a cable between switches.
pub(super) fn check(fabric: &Fabric, id: CableId, cable: &Cable, findings: &mut Findings) {
    let both = [(cable.lower, cable.upper), (cable.upper, cable.lower)];
    for (own, far) in both {
        if let (Some(own_talk), Some(far_talk)) = (talk(fabric, own), talk(fabric, far)) {
            end(fabric, (id, cable), (own, own_talk), (far, far_talk), findings);
        }
    }
    let [Some((lower, _, low)), Some((upper, _, high))] =
        [cable.lower, cable.upper].map(|end| talk(fabric, end))
    else {
        return;
    };
    findings.count_facts(&SILENCE, 1);
    let says = |end: End| language(fabric, end).is_some_and(|own| own.says(UnsupportedSetting::Connects));
    // The connect time is not compared if either language cannot express it.
    let both_say = says(cable.lower) && says(cable.upper);
    let times = |speaker: &Speaker, terms: &Terms| {
        (speaker.process.timers, terms.bfd, terms.interval_s, terms.connect_s.filter(|_| both_say))
    };
    let (a, b) = (times(lower, low), times(upper, high));
    if a != b || a.0.is_none() || a.1.is_none() {
        let (term, difference) = difference(&a, &b);
        let message = format!("`{}`: {difference}", fabric.cabling.describe(cable));
        let place =
            |end: End| session_place(fabric, end, FactKind::Terms(fabric.cabling.names.text(end.port), term));
        findings.report(Violation::new(&SILENCE, place(cable.lower), message).and(place(cable.upper)));
    }
}

type Times = (Option<(u16, u16)>, Option<crate::model::bgp::Bfd>, Option<u16>, Option<u16>);

/// Returns the first term that differs, and describes the difference.
fn difference(a: &Times, b: &Times) -> (Term, String) {
    let seconds = |time: Option<u16>| time.map_or("none".to_owned(), |time| format!("{time} s"));
    if a.0 != b.0 || a.0.is_none() {
        let text = |times: Option<(u16, u16)>| {
            times.map_or("none".to_owned(), |(keepalive, hold)| format!("{keepalive} and {hold} s"))
        };
        (
            Term::Times,
            format!("keepalive and hold times are {}, but {} at the upper end", text(a.0), text(b.0)),
        )
    } else if a.1 != b.1 || a.1.is_none() {
        let text = |bfd: Option<crate::model::bgp::Bfd>| {
            bfd.map_or("none".to_owned(), |bfd| {
                format!("{} x {} / {} ms", bfd.multiplier, bfd.transmit_ms, bfd.receive_ms)
            })
        };
        (Term::Bfd, format!("BFD is {}, but {} at the upper end", text(a.1), text(b.1)))
    } else if a.2 != b.2 {
        let message = format!(
            "the time between announcements is {}, but {} at the upper end",
            seconds(a.2),
            seconds(b.2)
        );
        (Term::Interval, message)
    } else {
        let [a, b] = [a, b].map(|times| seconds(times.3));
        (Term::Connect, format!("the time between attempts to connect is {a}, but {b} at the upper end"))
    }
}

/// Returns the language of the switch at one end of a cable.
fn language(fabric: &Fabric, end: End) -> Option<&'static Language> {
    let DeviceId::Switch(id) = end.party else { return None };
    Some(fabric.switch(id)?.language)
}

/// The session at one end: the switch, the session, and its terms.
pub(crate) type SessionEnd<'a> = (&'a Speaker, Session, &'a Arc<Terms>);

/// Returns the session over a cable at one end.
pub(crate) fn talk(fabric: &Fabric, end: End) -> Option<SessionEnd<'_>> {
    let DeviceId::Switch(id) = end.party else { return None };
    let speaker = fabric.switch(id)?.speaker.as_ref()?;
    let (session, terms) = speaker.session(end.slot)?;
    Some((speaker, session, terms))
}

/// Returns whether the session over a cable comes up, provided that the cable carries frames.
pub(crate) fn comes_up(fabric: &Fabric, own: End, far: End) -> bool {
    let (Some((here, session, _)), Some((there, back, _))) = (talk(fabric, own), talk(fabric, far)) else {
        return false;
    };
    let agrees = |remote: Remote, other: &Speaker, own: &Speaker| match remote {
        Remote::As(asn) => asn == other.asn,
        Remote::Any => other.asn != own.asn,
    };
    agrees(session.remote, there, here) && agrees(back.remote, here, there)
}

fn session_place(fabric: &Fabric, end: End, about: FactKind<'_>) -> crate::model::place::Place {
    match end.party {
        DeviceId::Switch(id) => fabric.place(id, about),
        DeviceId::Node(_) => crate::model::place::Place::file("cables"),
    }
}

/// Compares the session at one end with the cable and the other end.
fn end(
    fabric: &Fabric,
    (id, cable): (CableId, &Cable),
    (own, (speaker, session, terms)): (End, SessionEnd<'_>),
    (far, (other, ..)): (End, SessionEnd<'_>),
    findings: &mut Findings,
) {
    let port = fabric.cabling.names.text(own.port);
    let place = || session_place(fabric, own, FactKind::Session(port));
    findings.expect(session.remote == Remote::As(other.asn), &REMOTE, || {
        let expected = match session.remote {
            Remote::As(asn) => asn.to_string(),
            Remote::Any => "any".to_owned(),
        };
        let message = format!(
            "`{}` expects autonomous system {expected}, but `{}` has {}",
            fabric.cabling.end(own),
            fabric.cabling.end(far),
            other.asn
        );
        Violation::new(&REMOTE, place(), message).and(session_place(fabric, far, FactKind::Bgp))
    });
    findings.expect(speaker.asn != other.asn, &NUMBERS, || {
        let message =
            format!("both ends of `{}` are autonomous system {}", fabric.cabling.describe(cable), other.asn);
        Violation::new(&NUMBERS, place(), message).and(session_place(fabric, far, FactKind::Bgp))
    });
    let last = terms.accepted.as_ref().is_some_and(is_last_resort);
    findings.expect(last == cable.drained, &RESORT, || {
        let (is, takes) = if last { ("in use", "as the last resort") } else { ("drained", "like any other") };
        let message = format!(
            "`{}` is {is}, and `{}` accepts what it receives over it {takes}",
            fabric.cabling.describe(cable),
            fabric.cabling.end(own)
        );
        Violation::new(&RESORT, place(), message).and(fabric.cabling.place(id))
    });
}
