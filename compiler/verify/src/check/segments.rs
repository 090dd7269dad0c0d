//! V05: checks the own segments of switches.

use std::collections::HashMap;

use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::segment::{Layout, Tier, Usid};
use crate::rules::segments::{COUNT, OWNER};

/// Checks the owners and numbers of all segments in the fabric.
pub(crate) fn check(fabric: &Fabric, findings: &mut Findings) {
    let Some(layout) = &fabric.layout else { return };
    let mut owners: HashMap<(u8, Usid), SwitchId> = HashMap::new();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        count(fabric, layout, id, findings);
        let Some(plane) = switch.plane else { continue };
        for usid in &switch.usids {
            findings.count_facts(&OWNER, 1);
            if let Some(other) = owners.insert((plane, *usid), id) {
                let message = format!(
                    "uSID {usid} is a segment of `{}` and of `{}`, both in plane {plane}",
                    fabric.cabling.switch(other),
                    fabric.cabling.switch(id)
                );
                let prefix = layout.prefix(plane, *usid).to_string();
                let place = |id| fabric.place(id, FactKind::Segment(&prefix));
                findings.report(Violation::new(&OWNER, place(id), message).and(place(other)));
            }
        }
    }
}

fn count(fabric: &Fabric, layout: &Layout, id: SwitchId, findings: &mut Findings) {
    let Some(switch) = fabric.switch(id) else { return };
    let Some(tier) = switch.tier else { return };
    let needed = per_switch(layout, tier);
    let rising = switch.usids.windows(2).all(|pair| pair[1].0 - pair[0].0 == 1);
    findings.expect(switch.usids.len() == usize::from(needed) && rising, &COUNT, || {
        let list: Vec<String> = switch.usids.iter().map(Usid::to_string).collect();
        let message = format!(
            "`{}` has {} ({}), but needs {needed}",
            fabric.cabling.switch(id),
            segments(list.len()),
            list.join(", ")
        );
        Violation::new(&COUNT, fabric.place(id, FactKind::Segment("")), message)
    });
}

fn segments(count: usize) -> String {
    if count == 1 { "1 segment".to_owned() } else { format!("{count} segments") }
}

/// Returns the number of uSIDs of each switch of a tier: one per parallel cable to the same neighbour.
pub(crate) fn per_switch(layout: &Layout, tier: Tier) -> u16 {
    let (lower, upper) = (layout.parallel_t0_t1.max(1), layout.parallel_t1_t2.max(1));
    match tier {
        Tier::T0 => lower,
        Tier::T1 => layout.usids_per_t1.max(1),
        Tier::T2 => upper,
    }
}
