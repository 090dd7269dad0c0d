//! V0405: the values that switches configure for their neighbours match the neighbours' own configuration.
//!
//! In: switches. Out: violations. Invariants: a table that many switches share is checked once. Values that the
//! neighbour's language cannot express are not compared.

use std::collections::HashSet;
use std::sync::Arc;

use closc_artefacts::Prefix;

use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::peer::Peer;
use crate::model::switch::Switch;
use crate::rules::addresses::PEER;

/// Checks all values about neighbours.
pub(crate) fn check(fabric: &Fabric, findings: &mut Findings) {
    let mut seen: HashSet<*const Peer> = HashSet::new();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        if !seen.insert(Arc::as_ptr(&switch.peers).cast()) {
            continue;
        }
        for peer in switch.peers.iter() {
            findings.count_facts(&PEER, 1);
            let Some(message) = fault(fabric, switch, peer) else { continue };
            let message = format!("`{}`: {message}", fabric.cabling.switch(id));
            findings.report(Violation::new(&PEER, fabric.place(id, FactKind::Stated(&peer.name)), message));
        }
    }
}

/// Returns the first wrong value that a switch lists for a neighbour, as a message.
fn fault(fabric: &Fabric, switch: &Switch, peer: &Peer) -> Option<String> {
    let name = &peer.name;
    let Some(other) = fabric.cabling.switch_named(name) else {
        return Some(format!("it lists addresses of `{name}`, which is not in a cable list"));
    };
    let other: (SwitchId, &Switch) = (other, fabric.switch(other)?);
    let own = of(name, other.1);
    let wrong =
        |what: &str, value: String| Some(format!("it lists a wrong {what} for `{name}`, which has {value}"));
    if let Some(loopback) = other.1.loopbacks.first()
        && own.loopback != peer.loopback
    {
        return wrong("loopback", loopback.addr().to_string());
    }
    if let Some((management, _)) = other.1.management.first()
        && own.management != peer.management
    {
        return wrong("management address", management.addr().to_string());
    }
    let is_alike = other.1.language.name == switch.language.name;
    if is_alike && own.hardware != peer.hardware {
        return wrong("hardware", format!("`{}`", other.1.hardware.as_deref().unwrap_or_default()));
    }
    (is_alike && own.kind != peer.kind)
        .then(|| wrong("type", format!("`{}`", other.1.kind.as_deref().unwrap_or_default())))
        .flatten()
}

/// Returns the values that other switches should list for this one.
fn of(name: &str, switch: &Switch) -> Peer {
    let loopback = switch.loopbacks.first().map(Prefix::addr);
    let management = switch.management.first().map(|(net, _)| net.addr());
    Peer::new(name, loopback, management, (switch.hardware.as_deref(), switch.kind.as_deref()))
}
