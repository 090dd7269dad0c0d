//! V0305: ports and hardware match the manifest.

use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cable, Kind, Side, SwitchId};
use crate::model::device::Wire;
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::segment::Tier;
use crate::model::stated::{StatedPort, StatedSwitch, StatedValues};
use crate::model::switch::{EndState, Switch};
use crate::rules::ports::PROFILE;

/// Minimum speed of a serial lane that needs a Reed-Solomon code: clause 91 of IEEE 802.3 for 25G lanes, clause 119 for
/// PAM4.
const RS_LANE_MBPS: u32 = 25_000;

/// Compares every switch with the manifest.
pub(crate) fn check(fabric: &Fabric, stated: &StatedValues, findings: &mut Findings) {
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let Some(tier) = switch.tier else { continue };
        findings.count_facts(&PROFILE, 1);
        let Some(own) = stated_switch(fabric, stated, (id, switch), tier) else {
            let message = format!(
                "`{}` is of hardware `{}` (`{}`), which the manifest does not state for a {tier} of {}",
                fabric.cabling.switch(id),
                switch.hardware.as_deref().unwrap_or_default(),
                switch.platform.as_deref().unwrap_or_default(),
                switch.language.name,
            );
            findings.report(Violation::new(&PROFILE, fabric.place(id, FactKind::Settings), message));
            continue;
        };
        ports(fabric, id, (switch, own), findings);
    }
}

/// Returns the stated values of a switch, by its tier, language and hardware. If zones break out the cages of the same
/// hardware differently, the breakout that fits most of the ports is used.
pub(crate) fn stated_switch<'s>(
    fabric: &Fabric,
    stated: &'s StatedValues,
    switch: (SwitchId, &Switch),
    tier: Tier,
) -> Option<&'s StatedSwitch> {
    candidates(fabric, stated, switch, tier).into_iter().next()
}

/// Returns all candidates for the stated values of a switch. There are several if its language does not state port
/// speeds.
pub(crate) fn candidates<'s>(
    fabric: &Fabric,
    stated: &'s StatedValues,
    (id, switch): (SwitchId, &Switch),
    tier: Tier,
) -> Vec<&'s StatedSwitch> {
    let word = match tier {
        Tier::T0 => "t0",
        Tier::T1 => "t1",
        Tier::T2 => "t2",
    };
    let fits = |own: &&StatedSwitch| {
        own.tier == word
            && own.os == switch.language.os()
            && switch.hardware.as_ref().is_none_or(|hardware| **hardware == *own.hardware)
            && switch.platform.as_ref().is_none_or(|platform| Some(&**platform) == own.platform.as_deref())
    };
    let all: Vec<&StatedSwitch> = stated.switches.iter().filter(fits).collect();
    if all.len() < 2 {
        return all;
    }
    let counts: Vec<usize> = all.iter().map(|own| matching_port_count(fabric, (id, switch), own)).collect();
    let most = counts.iter().copied().max();
    all.into_iter().zip(counts).filter(|(_, count)| Some(*count) == most).map(|(own, _)| own).collect()
}

/// Counts the ports that have the stated speed.
fn matching_port_count(fabric: &Fabric, (id, switch): (SwitchId, &Switch), own: &StatedSwitch) -> usize {
    let agrees = |(slot, end): &(usize, EndState)| {
        let (_, cable, side) = fabric.slot_cable(id, *slot as u16);
        let speed = end.facts.of(&fabric.facts).wire.speed;
        speed.is_some() && speed == port(own, &cable, side).map(|port| port.speed_mbps)
    };
    switch.ends.iter().enumerate().filter(|(_, end)| end.configured).filter(agrees).count()
}

/// Returns the stated values of the port at one end of a cable: those for the cable's length, or else the
/// first ones of that side.
pub(crate) fn port<'s>(own: &'s StatedSwitch, cable: &Cable, side: Side) -> Option<&'s StatedPort> {
    let down = match (cable.kind, side) {
        (Kind::NicT0, _) | (_, Side::Upper) => true,
        (Kind::T0T1 | Kind::T1T2, Side::Lower) => false,
    };
    let of_side = || own.ports.iter().filter(|port| port.down == down);
    of_side().find(|port| port.meters == u64::from(cable.meters)).or_else(|| of_side().next())
}

fn ports(fabric: &Fabric, id: SwitchId, (switch, own): (&Switch, &StatedSwitch), findings: &mut Findings) {
    for (slot, end) in switch.ends.iter().enumerate().filter(|(_, end)| end.configured) {
        let (cable_id, cable, side) = fabric.slot_cable(id, slot as u16);
        let wires = switch.language.wire.contains(&true);
        let stated = port(own, &cable, side);
        if stated.is_none() && !wires {
            continue;
        }
        findings.count_facts(&PROFILE, 1);
        let wire = end.facts.of(&fabric.facts).wire;
        let fault = match stated {
            None => Some("is on a side for which the manifest states no ports".to_owned()),
            Some(stated) => differs(wire, stated, cable.uncoded, switch.language.wire)
                .or_else(|| lane_mismatch(end.facts.of(&fabric.facts).lane_count, stated)),
        };
        if let Some(message) = fault {
            let name = fabric.cabling.names.text(cable.ends(side).0.port);
            let message = format!("`{}`: port `{name}` {message}", fabric.cabling.switch(id));
            let violation = Violation::new(&PROFILE, fabric.place(id, FactKind::Port(name)), message);
            findings.report(violation.and(fabric.cabling.place(cable_id)));
        }
    }
}

/// Checks the number of lanes: the same speed over more or fewer lanes is a different signal on the cable.
fn lane_mismatch(found: Option<u8>, stated: &StatedPort) -> Option<String> {
    let found = found.filter(|found| *found != stated.lanes)?;
    Some(format!("uses {found} lanes; expected {}", stated.lanes))
}

fn differs(wire: Wire, stated: &StatedPort, uncoded: bool, [speed, mtu, fec]: [bool; 3]) -> Option<String> {
    let show = |value: Option<u32>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
    if speed && wire.speed != Some(stated.speed_mbps) {
        return Some(format!("has speed {}; expected {}", show(wire.speed), stated.speed_mbps));
    }
    if mtu && wire.mtu != Some(stated.mtu) {
        return Some(format!("has MTU {}; expected {}", show(wire.mtu.map(u32::from)), stated.mtu));
    }
    let is_clause_88 = uncoded && (stated.speed_mbps, stated.lanes) == (4 * RS_LANE_MBPS, 4);
    let coded = stated.speed_mbps / u32::from(stated.lanes.max(1)) >= RS_LANE_MBPS && !is_clause_88;
    (fec && wire.fec != Some(coded)).then(|| {
        let meant = if coded { "Reed-Solomon" } else { "no" };
        format!(
            "does not set {meant} error correction, which {} lanes for {} Mb/s need",
            stated.lanes, stated.speed_mbps
        )
    })
}
