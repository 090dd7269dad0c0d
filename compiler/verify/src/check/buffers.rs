//! V15: buffers: pools fit the chip, headroom holds what a cable does.

use std::collections::BTreeMap;

use closc_diagnostics::Rule;

use crate::check::limits::Limits;
use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::fabric::{About, Fabric};
use crate::model::switch::Switch;

/// Pools fit.
pub(crate) static POOLS: Rule = Rule {
    code: "V1501",
    title: "buffer pools are larger than the chip's buffer",
    what: "The ingress pools of a switch with the headroom beside them are at most as large as the buffer of its \
           chip, where the limits of the hardware are given.",
    why: "The chip refuses the configuration, or takes the room from another pool and loses packets there.",
    example: "\"BUFFER_POOL\": { \"ingress_lossless_pool\": { \"size\": \"999999999\" } } on a chip with 165 MB",
    fix: "Compile again; the buffer is a fact of the platform.",
};

/// Headroom holds what is on its way.
pub(crate) static HEADROOM: Rule = Rule {
    code: "V1502",
    title: "headroom is less than what is on its way when a pause is sent",
    what: "Where a group is paused, its `xoff` holds what the cable holds both ways and one largest packet at \
           each end: 2 x length x 5 ns/m x speed + 2 x MTU. This is the least that physics asks for; what the \
           chip needs besides is in the compiler's formula.",
    why: "Packets that arrive after the pause was sent find no room, and a lossless class loses them.",
    example: "\"xoff\": \"9000\" for 300 m at 100G",
    fix: "Compile again; if the length is right, use a chip with more buffer or a shorter cable.",
};

/// The headroom pool holds a port's headroom.
pub(crate) static SHARED: Rule = Rule {
    code: "V1503",
    title: "the headroom pool is smaller than one port's headroom",
    what: "Where a pool has headroom beside it (`xoff` of the pool), that is at least what the largest group of a \
           port may take.",
    why: "Even a single congested port could not be stopped in time.",
    example: "\"xoff\": \"1000\" of a pool whose groups have 145,796 bytes",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(crate) const RULES: &[&Rule] = &[&POOLS, &HEADROOM, &SHARED];

/// Checks the buffers of all switches.
pub(crate) fn check(fabric: &Fabric, limits: &BTreeMap<String, Limits>, findings: &mut Findings) {
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let limit = switch.hardware.as_deref().and_then(|hardware| limits.get(hardware));
        if let (Some(pools), Some(limit)) = (switch.pools, limit) {
            findings.expect(pools.ingress <= limit.buffer_bytes, &POOLS, || {
                let message = format!(
                    "`{}` has ingress pools of {} bytes, and its chip a buffer of {}",
                    fabric.cabling.switch(id),
                    pools.ingress,
                    limit.buffer_bytes
                );
                Violation::new(&POOLS, fabric.place(id, About::Pools), message)
            });
        }
        headroom(fabric, id, switch, findings);
    }
}

fn headroom(fabric: &Fabric, id: SwitchId, switch: &Switch, findings: &mut Findings) {
    for (slot, end) in switch.ends.iter().enumerate() {
        let facts = end.facts.of(&fabric.facts);
        let Some(qos) = facts.qos.as_ref().filter(|qos| !qos.xoff.is_empty()) else { continue };
        let (cable_id, cable, side) = fabric.plugged(id, slot as u16);
        let port = fabric.cabling.names.text(cable.ends(side).0.port);
        let (Some(speed), Some(mtu)) = (facts.wire.speed, facts.wire.mtu) else { continue };
        let least = in_flight(u64::from(cable.meters), u64::from(speed), u64::from(mtu));
        for (group, xoff) in qos.xoff.iter().filter(|(group, _)| qos.pauses.contains(group)) {
            findings.expect(*xoff >= least, &HEADROOM, || {
                let message = format!(
                    "`{}`: port `{port}` has headroom of {xoff} bytes in group {group}, and {least} are on their \
                     way over {} m when a pause is sent",
                    fabric.cabling.switch(id),
                    cable.meters
                );
                Violation::new(&HEADROOM, fabric.place(id, About::Headroom(port)), message)
                    .and(fabric.cabling.place(cable_id))
            });
            let Some(pool) = switch.pools.and_then(|pools| pools.headroom) else { continue };
            findings.expect(*xoff <= pool, &SHARED, || {
                let message = format!(
                    "`{}`: port `{port}` may take {xoff} bytes of headroom, and the pool has {pool}",
                    fabric.cabling.switch(id)
                );
                Violation::new(&SHARED, fabric.place(id, About::Pools), message)
            });
        }
    }
}

/// Bytes on their way when a pause is sent: both ways over the cable at 5 ns a metre, a packet at each end.
fn in_flight(meters: u64, mbps: u64, mtu: u64) -> u64 {
    let nanoseconds = 2 * meters * 5;
    nanoseconds * mbps / 8000 + 2 * mtu
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 300 m at 100 Gb/s hold 37,500 bytes both ways.
    #[test]
    fn a_cable_holds_its_length() {
        assert_eq!(in_flight(300, 100_000, 9216), 37_500 + 18_432);
        assert_eq!(in_flight(0, 400_000, 1500), 3000);
    }
}
