//! V1202: load balancing matches the manifest.

use closc_platform::Balance;

use crate::check::profile;
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Kind, SwitchId};
use crate::model::device::DeviceBalance;
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::stated::{StatedBalance, StatedValues};
use crate::model::switch::Switch;
use crate::rules::hash::BALANCE;

/// Compares every switch with the manifest.
pub(crate) fn check(fabric: &Fabric, stated: &StatedValues, findings: &mut Findings) {
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let Some(tier) = switch.tier else { continue };
        // V0305 reports a switch that is missing from the manifest.
        let Some(own) = profile::stated_switch(fabric, stated, (id, switch), tier) else { continue };
        let stated = own.balance.as_ref();
        if stated.is_none() && switch.balance.is_none() && !is_on_ports(fabric, switch) {
            continue;
        }
        findings.count_facts(&BALANCE, 1);
        if let Some(message) = fault(switch.balance, stated) {
            let message = format!("`{}` {message}", fabric.cabling.switch(id));
            findings.report(Violation::new(&BALANCE, fabric.place(id, FactKind::Balance), message));
        }
        ports(fabric, (id, switch), stated.is_some(), findings);
    }
}

/// Returns whether at least one port of a switch takes part in load balancing.
fn is_on_ports(fabric: &Fabric, switch: &Switch) -> bool {
    switch.ends.iter().any(|end| end.facts.of(&fabric.facts).balances == Some(true))
}

/// Compares the switch-wide setting.
fn fault(own: Option<DeviceBalance>, stated: Option<&StatedBalance>) -> Option<String> {
    let hash = Balance::Hash.keyword();
    let kind = own.map_or(hash, |own| own.kind.keyword());
    let wanted = stated.map_or(hash, |stated| &stated.kind);
    if kind != wanted {
        return Some(format!("balances by `{kind}`; the manifest states `{wanted}`"));
    }
    let (room, needed) = (own?.groups?, stated?.groups);
    (room < needed).then(|| match room {
        0 => "does not state the size of its flow sets".to_owned(),
        _ => format!(
            "has room for {room} next-hop groups; {needed} are needed if each destination has its own"
        ),
    })
}

/// Compares the ports, if the language configures load balancing per port.
fn ports(fabric: &Fabric, (id, switch): (SwitchId, &Switch), balances: bool, findings: &mut Findings) {
    for (slot, end) in switch.ends.iter().enumerate().filter(|(_, end)| end.configured) {
        let Some(own) = end.facts.of(&fabric.facts).balances else { continue };
        let (cable_id, cable, side) = fabric.slot_cable(id, slot as u16);
        let wanted = balances && cable.kind != Kind::NicT0;
        findings.count_facts(&BALANCE, 1);
        if own == wanted {
            continue;
        }
        let name = fabric.cabling.names.text(cable.ends(side).0.port);
        let does =
            if own { "participates in load balancing" } else { "does not participate in load balancing" };
        let message = format!("`{}`: port `{name}` {does}", fabric.cabling.switch(id));
        let violation =
            Violation::new(&BALANCE, fabric.place(id, FactKind::Setting(name, "load balancing")), message);
        findings.report(violation.and(fabric.cabling.place(cable_id)));
    }
}
