//! V15: buffer pools fit the chip, and headroom covers the cable length.

use std::collections::BTreeMap;

use closc_platform::Hardware;

use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::switch::Switch;
use crate::rules::buffers::{HEADROOM, POOLS, SHARED};

/// Checks the buffers of all switches.
pub(crate) fn check(fabric: &Fabric, known: &BTreeMap<String, Hardware>, findings: &mut Findings) {
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let limit = switch.hardware.as_deref().and_then(|hardware| known.get(hardware));
        if let (Some(pools), Some(limit)) = (switch.pools, limit) {
            findings.expect(pools.ingress <= limit.buffer.0, &POOLS, || {
                let message = format!(
                    "`{}` has ingress pools of {} bytes, but its chip has a buffer of {}",
                    fabric.cabling.switch(id),
                    pools.ingress,
                    limit.buffer.0
                );
                Violation::new(&POOLS, fabric.place(id, FactKind::Pools), message)
            });
        }
        headroom(fabric, id, switch, findings);
    }
}

fn headroom(fabric: &Fabric, id: SwitchId, switch: &Switch, findings: &mut Findings) {
    for (slot, end) in switch.ends.iter().enumerate() {
        let facts = end.facts.of(&fabric.facts);
        let Some(qos) = facts.qos.as_ref().filter(|qos| !qos.xoff.is_empty()) else { continue };
        let (cable_id, cable, side) = fabric.slot_cable(id, slot as u16);
        let port = fabric.cabling.names.text(cable.ends(side).0.port);
        let (Some(speed), Some(mtu)) = (facts.wire.speed, facts.wire.mtu) else { continue };
        let least = in_flight(u64::from(cable.meters), u64::from(speed), u64::from(mtu));
        for (group, xoff) in qos.xoff.iter().filter(|(group, _)| qos.pauses.contains(group)) {
            findings.expect(*xoff >= least, &HEADROOM, || {
                let message = format!(
                    "`{}`: port `{port}` has headroom of {xoff} bytes in group {group}, but {least} are in \
                     flight over {} m when a pause is sent",
                    fabric.cabling.switch(id),
                    cable.meters
                );
                Violation::new(&HEADROOM, fabric.place(id, FactKind::Headroom(port)), message)
                    .and(fabric.cabling.place(cable_id))
            });
            // Without a shared pool, the headroom is part of the group's own buffer.
            let (room, whose) = match switch.pools.and_then(|pools| pools.headroom).filter(|pool| *pool > 0) {
                Some(pool) => (pool, "the shared pool has only"),
                None => (
                    qos.reserved.get(group).copied().unwrap_or(0),
                    "there is no shared pool, and its own group has only",
                ),
            };
            findings.expect(*xoff <= room, &SHARED, || {
                let message = format!(
                    "`{}`: port `{port}` may use {xoff} bytes of headroom, but {whose} {room}",
                    fabric.cabling.switch(id)
                );
                Violation::new(&SHARED, fabric.place(id, FactKind::Pools), message)
            });
        }
    }
}

/// Returns the bytes that arrive after a pause is sent: those on the cable in both directions at 5 ns per metre, plus
/// one packet at each end.
fn in_flight(meters: u64, mbps: u64, mtu: u64) -> u64 {
    let nanoseconds = 2 * meters * 5;
    nanoseconds * mbps / 8000 + 2 * mtu
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 100 Gb/s, 300 m of cable hold 37,500 bytes in both directions together.
    #[test]
    fn a_cable_holds_its_length() {
        assert_eq!(in_flight(300, 100_000, 9216), 37_500 + 18_432);
        assert_eq!(in_flight(0, 400_000, 1500), 3000);
    }
}
