//! V09: load is equal, over planes and over uplinks.

use closc_diagnostics::Rule;

use crate::finding::{Findings, Violation};
use crate::model::group::Group;

/// Orders are permutations.
pub(crate) static ORDER: Rule = Rule {
    code: "V0901",
    title: "an order of uplinks is no order",
    what: "For each plane a table's order of uplinks names every uplink exactly once.",
    why: "An uplink that is named twice carries twice its share, and one that is left out carries nothing.",
    example: "\"uplink_order\": [0, 1, 1, 3]",
    fix: "Compile again.",
};

/// Uplinks are used alike.
pub(crate) static UPLINKS: Rule = Rule {
    code: "V0902",
    title: "uplinks are not used equally often",
    what: "Over the active sets of all downlinks of a group, no uplink of a plane is used more than once more \
           often than any other.",
    why: "The busiest uplink sets the speed of the slowest flow.",
    example: "every NIC's active set starting at the same place of the order",
    fix: "Compile again; use a number of active entropy values that divides evenly.",
};

/// Planes are used alike.
pub(crate) static PLANES: Rule = Rule {
    code: "V0903",
    title: "planes are not used equally",
    what: "Every plane has the same number of active and of backup entropy values, a NIC's active and backup \
           values are different as long as there are uplinks enough, and the floor below which no more are \
           retired is not above the number of active values.",
    why: "A NIC keeps its planes equally loaded; a plane with fewer values slows all of them down.",
    example: "\"min_active\": 512 with 256 active values",
    fix: "Compile again; numbers are set in `entropy`.",
};

/// The family, in the order of codes.
pub(crate) const RULES: &[&Rule] = &[&ORDER, &UPLINKS, &PLANES];

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
                "`{}`: in plane {plane} one uplink is used {} times and another {} times",
                group.name(),
                least.unwrap_or(0),
                most.unwrap_or(0)
            );
            Violation::new(&UPLINKS, place(), message)
        });
    }
    let active = u32::from(h.active) * u32::from(h.planes);
    findings.expect(u32::from(h.min_active) <= active && active > 0, &PLANES, || {
        let message = format!("`{}`: at least {} of {active} active values", group.name(), h.min_active);
        Violation::new(&PLANES, group.place(&["\"min_active\":"]), message)
    });
}

/// Counts the uplinks that a NIC uses in a plane, and checks that what it holds in reserve is something else.
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
            let message =
                format!("`{}`: entropy value {value:#x} is of no path of plane {plane}", group.name());
            Violation::new(&PLANES, group.place(&["\"entropy\":"]), message)
        });
    }
    let enough = u32::from(h.active) + u32::from(h.backup) <= u32::from(h.t0_uplinks);
    let same = enough && backup.iter().any(|value| active.contains(value));
    findings.expect(!same, &PLANES, || {
        let message =
            format!("`{}`: downlink {} holds an active value in reserve", group.name(), downlink + 1);
        Violation::new(&PLANES, group.place(&["\"backup_per_plane\":"]), message)
    });
}
