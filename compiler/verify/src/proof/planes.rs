//! V10: planes are equal except for declared absences, and every cable is used.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Findings, Violation};
use crate::model::cabling::{CableId, DeviceId, Kind};
use crate::model::fabric::Fabric;
use crate::model::segment::{Layout, Usid};
use crate::proof::bits::Bits;
use crate::proof::path_cables::PathCables;
use crate::rules::delivery::UNUSED;
use crate::rules::planes::ALIKE;

/// A cable independent of its plane: the uSIDs that address its two ends, without plane bits. For a NIC cable, these
/// are the uSID of the T0 and that of the downlink.
pub(crate) type Shape = (Kind, Usid, Usid);

/// Returns the shapes of the cables of a plane, sorted.
pub(crate) fn shapes(
    fabric: &Fabric,
    layout: &Layout,
    nic_usids: &[Option<Usid>],
    plane: u8,
) -> Vec<(Shape, u32)> {
    let look = |id: CableId| Some((shape(fabric, layout, nic_usids, id)?, id.0));
    let mut cables: Vec<(Shape, u32)> = Vec::with_capacity(fabric.cabling.in_plane(plane).count());
    cables.extend(fabric.cabling.in_plane(plane).filter_map(look));
    cables.sort_unstable();
    cables
}

/// Compares the planes one by one, and finds cables that no segment list uses.
pub(crate) fn check(
    fabric: &Fabric,
    layout: &Layout,
    nic_usids: &[Option<Usid>],
    ways: &PathCables,
    findings: &mut Findings,
) {
    let shapes = |plane| shapes(fabric, layout, nic_usids, plane);
    // If a switch is at fault, its cables have wrong shapes; only the fault is reported.
    let compared = findings.is_clean() && fabric.slice.is_whole();
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    let mut all: Vec<(Shape, u32)> = Vec::new();
    for plane in fabric.cabling.planes() {
        let count = if compared {
            let cables = shapes(plane);
            join(&mut all, &cables);
            cables.len()
        } else {
            let looks = |id: &CableId| shape(fabric, layout, nic_usids, *id).is_some();
            fabric.cabling.in_plane(plane).filter(looks).count()
        };
        findings.count_facts(&ALIKE, count as u64);
        counts.insert(plane, count);
    }
    let planes_wanted = if compared { ways.numbers.planes as u8 } else { 0 };
    for plane in 0..planes_wanted {
        let count = counts.get(&plane).copied().unwrap_or(0);
        if count != all.len() && !declares(fabric, plane) {
            report_missing(fabric, plane, &shapes(plane), &all, findings);
        }
    }
    report_unused(fabric, &ways.used, findings);
}

/// Adds the cables of a plane to those of others, keeping the first of each shape. Both lists are sorted.
fn join(all: &mut Vec<(Shape, u32)>, cables: &[(Shape, u32)]) {
    let mut known = all.iter().map(|cable| cable.0).peekable();
    let mut last = None;
    let mut new: Vec<(Shape, u32)> = Vec::new();
    for cable in cables {
        while known.next_if(|shape| *shape < cable.0).is_some() {}
        if known.peek() != Some(&cable.0) && last.replace(cable.0) != Some(cable.0) {
            new.push(*cable);
        }
    }
    if !new.is_empty() {
        all.extend(new);
        all.sort_unstable();
    }
}

/// Returns whether any table declares an absence in a plane. Exact denials are compared with lost paths elsewhere.
pub(crate) fn declares(fabric: &Fabric, plane: u8) -> bool {
    let absent = |denied: closc_paths::TableDenial| {
        denied.plane == plane && denied.reason == closc_paths::Reason::Absent
    };
    fabric.groups.iter().any(|group| group.table().denials().any(absent))
}

/// Reports cables that exist in other planes but not in this one.
fn report_missing(
    fabric: &Fabric,
    plane: u8,
    cables: &[(Shape, u32)],
    all: &[(Shape, u32)],
    findings: &mut Findings,
) {
    let own: BTreeSet<Shape> = cables.iter().map(|cable| cable.0).collect();
    for (_, twin) in all.iter().filter(|(shape, _)| !own.contains(shape)) {
        let twin = CableId(*twin);
        let message = format!(
            "plane {plane} has no counterpart of `{}`, and it is not declared absent",
            fabric.cabling.describe(&fabric.cabling.cable(twin))
        );
        findings.report(Violation::new(&ALIKE, fabric.cabling.place(twin), message));
    }
}

fn shape(fabric: &Fabric, layout: &Layout, nic_usids: &[Option<Usid>], id: CableId) -> Option<Shape> {
    let cable = fabric.cabling.cable(id);
    let over = |party: DeviceId, slot: u16| match party {
        DeviceId::Switch(switch) => fabric.switch(switch)?.usid_over(slot),
        DeviceId::Node(_) => None,
    };
    let plain = |usid: Usid| layout.strip_plane(usid);
    let to_upper = match cable.kind {
        Kind::NicT0 => match cable.upper.party {
            DeviceId::Switch(t0) => fabric.switch(t0)?.usids.first().copied()?,
            DeviceId::Node(_) => return None,
        },
        Kind::T0T1 | Kind::T1T2 => over(cable.lower.party, cable.lower.slot)?,
    };
    let to_lower = match cable.kind {
        Kind::NicT0 => nic_usids[id.0 as usize]?,
        Kind::T0T1 | Kind::T1T2 => over(cable.upper.party, cable.upper.slot)?,
    };
    Some((cable.kind, plain(to_upper), plain(to_lower)))
}

/// Checks that at least one segment list uses every cable.
fn report_unused(fabric: &Fabric, used: &Bits, findings: &mut Findings) {
    for (at, cable) in fabric.cabling.cables().enumerate() {
        findings.expect(used.get(at), &UNUSED, || {
            let message = format!("no path uses `{}`", fabric.cabling.describe(&cable));
            Violation::new(&UNUSED, fabric.cabling.place(CableId(at as u32)), message)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_each_look_the_first_cable_is_kept() {
        let shape = |number| (Kind::T0T1, Usid(number), Usid(7));
        let mut all = Vec::new();
        join(&mut all, &[(shape(1), 4), (shape(3), 2), (shape(3), 3)]);
        assert_eq!(all, [(shape(1), 4), (shape(3), 2)]);
        join(&mut all, &[(shape(1), 9)]);
        assert_eq!(all.len(), 2, "nothing is new");
        join(&mut all, &[(shape(0), 8), (shape(2), 7), (shape(2), 9), (shape(3), 5), (shape(4), 6)]);
        assert_eq!(all, [(shape(0), 8), (shape(1), 4), (shape(2), 7), (shape(3), 2), (shape(4), 6)]);
    }
}
