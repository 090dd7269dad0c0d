//! V18: BGP sessions, and the routes that they announce and accept.
//!
//! In: the BGP settings of each switch. Out: violations of single switches, between the two ends of a cable, and across
//! all switches. [`crate::proof::converge`] derives the resulting routes.

mod ends;
mod filters;
mod majority;
mod speakers;
pub(crate) mod stated;

use std::collections::HashMap;
use std::net::Ipv4Addr;

use closc_artefacts::Prefix;
use rayon::prelude::*;

pub(crate) use ends::comes_up;
pub(crate) use speakers::speakers;

use crate::finding::{Findings, Violation};
use crate::model::cabling::{CableId, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::fact::{FactKind, Term};
use crate::model::segment::Tier;
use crate::model::switch::Switch;
use crate::rules::bgp::{IDENTIFIER, NUMBERS, OWNED};

/// Compares the BGP settings of all switches.
pub(crate) fn check(fabric: &Fabric, findings: &mut Findings) {
    if fabric.switches.iter().flatten().all(|switch| switch.speaker.is_none()) {
        return;
    }
    numbers(fabric, findings);
    identifiers(fabric, findings);
    check_announcements(fabric, findings);
    filters::check(fabric, findings);
    majority::check(fabric, findings);
    let of_cables = (0..fabric.cabling.cables().len() as u32)
        .into_par_iter()
        .map(CableId)
        .with_min_len(1 << 12)
        .fold(Findings::default, |mut findings, id| {
            ends::check(fabric, id, &fabric.cabling.cable(id), &mut findings);
            findings
        })
        .reduce(Findings::default, Findings::merge);
    *findings = std::mem::take(findings).merge(of_cables);
}

/// Returns whether two switches may have the same AS number. The position of a switch without cables is unknown, so it
/// may share a number with any switch except T0s.
fn allows_shared_asn(fabric: &Fabric, one: SwitchId, other: SwitchId) -> bool {
    let place = |id| fabric.switch(id).and_then(Switch::place);
    match (place(one), place(other)) {
        (Some(one), Some(other)) => one == other && one.0 != Tier::T0,
        (Some(known), None) | (None, Some(known)) => known.0 != Tier::T0,
        (None, None) => true,
    }
}

/// Checks that only switches of one plane and one tier above T0 share an AS number.
fn numbers(fabric: &Fabric, findings: &mut Findings) {
    let mut first: HashMap<u32, SwitchId> = HashMap::new();
    for (id, speaker) in speakers(fabric) {
        findings.count_facts(&NUMBERS, 1);
        let other = *first.entry(speaker.asn).or_insert(id);
        if other != id && !allows_shared_asn(fabric, other, id) {
            let names = [other, id].map(|id| fabric.cabling.switch(id));
            let message =
                format!("`{}` and `{}` are both autonomous system {}", names[0], names[1], speaker.asn);
            let violation = Violation::new(&NUMBERS, fabric.place(id, FactKind::Bgp), message);
            findings.report(violation.and(fabric.place(other, FactKind::Bgp)));
        }
    }
}

fn identifiers(fabric: &Fabric, findings: &mut Findings) {
    let mut owners: HashMap<Ipv4Addr, SwitchId> = HashMap::new();
    for (id, speaker) in speakers(fabric) {
        let Some(own) = speaker.router_id else { continue };
        findings.count_facts(&IDENTIFIER, 1);
        if let Some(other) = owners.insert(own, id) {
            let names = [other, id].map(|id| fabric.cabling.switch(id));
            let message = format!("`{}` and `{}` both have router id {own}", names[0], names[1]);
            let place = |id| fabric.place(id, FactKind::Terms("", Term::Identifier));
            findings.report(Violation::new(&IDENTIFIER, place(id), message).and(place(other)));
        }
    }
}

/// Checks that only one switch of a plane announces each prefix.
fn check_announcements(fabric: &Fabric, findings: &mut Findings) {
    let mut owners: HashMap<(Option<u8>, Prefix), SwitchId> = HashMap::new();
    for (id, speaker) in speakers(fabric) {
        let plane = fabric.switch(id).and_then(|switch| switch.stated_plane);
        for network in &speaker.networks {
            findings.count_facts(&OWNED, 1);
            if let Some(other) = owners.insert((plane, *network), id) {
                let text = network.to_string();
                let names = [other, id].map(|id| fabric.cabling.switch(id));
                let message = format!("`{}` and `{}` both announce `{text}`", names[0], names[1]);
                let violation = Violation::new(&OWNED, fabric.place(id, FactKind::Network(&text)), message);
                findings.report(violation.and(fabric.place(other, FactKind::Network(&text))));
            }
        }
    }
}
