//! V09: load is equal on all planes, and on all uplinks of a tier.

use crate::finding::{Findings, Violation};
use crate::model::group::Group;
use crate::rules::load::{ORDER, PLANES, T1_UPLINKS, UPLINKS};

/// Checks the entropy sets of a table.
pub(crate) fn check(group: &Group, findings: &mut Findings) {
    let table = group.table();
    let h = *table.header();
    for plane in 0..h.planes {
        let mut order: Vec<u16> = table.order(plane).collect();
        order.sort_unstable();
        let needle = format!("\"plane\": {plane},");
        let place = || group.place(&["\"planes\":", &needle, "\"uplink_order\":"]);
        findings.expect(order.iter().copied().eq(0..h.t0_uplinks), &ORDER, || {
            let message =
                format!("`{}`: the order of uplinks of plane {plane} names some twice", group.name());
            Violation::new(&ORDER, place(), message)
        });
        let mut used = vec![0u64; usize::from(h.t0_uplinks)];
        for downlink in 0..h.nics {
            uses(group, &table, plane, downlink, &mut used, findings);
        }
        let (least, most) = (used.iter().min().copied(), used.iter().max().copied());
        findings.expect(most.unwrap_or(0) - least.unwrap_or(0) <= 1, &UPLINKS, || {
            let message = format!(
                "`{}`: in plane {plane}, one uplink is used {} times and another {} times",
                group.name(),
                least.unwrap_or(0),
                most.unwrap_or(0)
            );
            Violation::new(&UPLINKS, place(), message)
        });
        t1_uplinks(group, &table, plane, findings);
    }
    let active = u32::from(h.active) * u32::from(h.planes);
    findings.expect(u32::from(h.min_active) <= active && active > 0, &PLANES, || {
        let message = format!("`{}`: at least {} of {active} active values", group.name(), h.min_active);
        Violation::new(&PLANES, group.place(&["\"min_active\":"]), message)
    });
}

/// Checks that the T1 uplinks behind each T0 uplink are used in turn.
fn t1_uplinks(group: &Group, table: &closc_paths::Table<'_>, plane: u8, findings: &mut Findings) {
    let h = *table.header();
    if h.t1_uplinks == 0 {
        return;
    }
    let row = usize::from(h.t1_uplinks);
    let mut used = vec![0u64; usize::from(h.t0_uplinks) * row];
    for downlink in 0..h.nics {
        for value in table.entropy_values(plane, downlink).take(usize::from(h.active)) {
            let choice = table.choice(value);
            if table.in_range(choice) {
                used[usize::from(choice.t0_uplink) * row + usize::from(choice.t1_uplink)] += 1;
            }
        }
    }
    for (uplink, used) in used.chunks(row).enumerate() {
        let (least, most) = (used.iter().min().copied(), used.iter().max().copied());
        let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
        findings.expect(most - least <= 1, &T1_UPLINKS, || {
            let message = format!(
                "`{}`: in plane {plane}, over T0 uplink {uplink} one T1 uplink is used {least} times and another \
                 {most} times",
                group.name(),
            );
            Violation::new(&T1_UPLINKS, group.place(&["\"t1_start\":"]), message)
        });
    }
}

/// Counts the uplinks that a NIC uses in a plane, and checks that its backup values differ from the active ones.
fn uses(
    group: &Group,
    table: &closc_paths::Table<'_>,
    plane: u8,
    downlink: u16,
    used: &mut [u64],
    findings: &mut Findings,
) {
    let h = *table.header();
    let values: Vec<u32> = table.entropy_values(plane, downlink).collect();
    let (active, backup) = values.split_at(usize::from(h.active));
    for value in active {
        let choice = table.choice(*value);
        if let Some(used) = used.get_mut(usize::from(choice.t0_uplink)) {
            *used += 1;
        }
        findings.expect(choice.plane == plane && table.in_range(choice), &PLANES, || {
            let message = format!(
                "`{}`: entropy value {value:#x} does not select a path of plane {plane}",
                group.name()
            );
            Violation::new(&PLANES, group.place(&["\"entropy\":"]), message)
        });
    }
    let enough = u32::from(h.active) + u32::from(h.backup) <= u32::from(h.t0_uplinks);
    let same = enough && backup.iter().any(|value| active.contains(value));
    findings.expect(!same, &PLANES, || {
        let message =
            format!("`{}`: downlink {} has a backup value that is also active", group.name(), downlink + 1);
        Violation::new(&PLANES, group.place(&["\"backup_per_plane\":"]), message)
    });
}
