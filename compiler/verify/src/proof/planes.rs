//! V10: planes are alike, apart from what is declared; nothing is left over.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Findings, Violation};
use crate::model::cabling::{CableId, Kind, Party};
use crate::model::fabric::Fabric;
use crate::model::segment::{Layout, Usid};
use crate::proof::bits::Bits;
use crate::proof::path_cables::PathCables;
use crate::rules::delivery::UNUSED;
use crate::rules::planes::ALIKE;

/// A cable as it looks in any plane: the uSIDs by which its two ends are reached, without plane bits. A NIC
/// is reached by the T0's own uSID and its downlink's.
pub(crate) type Shape = (Kind, Usid, Usid);

/// Returns the cables of each plane as they look, sorted.
pub(crate) fn shapes(
    fabric: &Fabric,
    layout: &Layout,
    nic_usids: &[Option<Usid>],
) -> BTreeMap<u8, Vec<(Shape, u32)>> {
    let mut planes: BTreeMap<u8, Vec<(Shape, u32)>> = BTreeMap::new();
    for (at, cable) in fabric.cabling.cables.iter().enumerate() {
        if let Some(shape) = shape(fabric, layout, nic_usids, CableId(at as u32)) {
            planes.entry(cable.plane).or_default().push((shape, at as u32));
        }
    }
    for cables in planes.values_mut() {
        cables.sort_unstable();
    }
    planes
}

/// Compares the planes and looks for cables that no list names.
pub(crate) fn check(
    fabric: &Fabric,
    layout: &Layout,
    nic_usids: &[Option<Usid>],
    ways: &PathCables,
    findings: &mut Findings,
) {
    let planes = shapes(fabric, layout, nic_usids);
    for cables in planes.values() {
        findings.checked(&ALIKE, cables.len() as u64);
    }
    let mut all: Vec<(Shape, u32)> = planes.values().flatten().copied().collect();
    all.sort_unstable();
    all.dedup_by_key(|cable| cable.0);
    // Where a switch is at fault its cables look otherwise than they are, and the fault is reported there.
    let compared = findings.is_clean() && fabric.slice.is_whole();
    let planes_wanted = if compared { ways.numbers.planes as u8 } else { 0 };
    for plane in 0..planes_wanted {
        let cables = planes.get(&plane).map_or(&[][..], Vec::as_slice);
        if cables.len() != all.len() && !declares(fabric, plane) {
            missing(fabric, plane, cables, &all, findings);
        }
    }
    unused(fabric, &ways.used, findings);
}

/// Tells whether some table says that something is absent from a plane. What exactly is compared with the paths
/// that are lost.
pub(crate) fn declares(fabric: &Fabric, plane: u8) -> bool {
    let absent =
        |denied: closc_paths::Denied| denied.plane == plane && denied.reason == closc_paths::Reason::Absent;
    fabric.groups.iter().any(|group| group.table().denied().any(absent))
}

/// Reports the cables that other planes have and this one has not.
fn missing(
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
            "plane {plane} has no counterpart of `{}`, and nothing declares it absent",
            fabric.cabling.describe(fabric.cabling.cable(twin))
        );
        findings.broken(Violation::new(&ALIKE, fabric.cabling.place(twin), message));
    }
}

fn shape(fabric: &Fabric, layout: &Layout, nic_usids: &[Option<Usid>], id: CableId) -> Option<Shape> {
    let cable = fabric.cabling.cable(id);
    let over = |party: Party, slot: u16| match party {
        Party::Switch(switch) => fabric.switch(switch)?.usid_over(slot),
        Party::Node(_) => None,
    };
    let plain = |usid: Usid| layout.without_plane(usid);
    let to_upper = match cable.kind {
        Kind::NicT0 => match cable.upper.party {
            Party::Switch(t0) => fabric.switch(t0)?.usids.first().copied()?,
            Party::Node(_) => return None,
        },
        Kind::T0T1 | Kind::T1T2 => over(cable.lower.party, cable.lower.slot)?,
    };
    let to_lower = match cable.kind {
        Kind::NicT0 => nic_usids[id.0 as usize]?,
        Kind::T0T1 | Kind::T1T2 => over(cable.upper.party, cable.upper.slot)?,
    };
    Some((cable.kind, plain(to_upper), plain(to_lower)))
}

/// Every cable is named by some list.
fn unused(fabric: &Fabric, used: &Bits, findings: &mut Findings) {
    for (at, cable) in fabric.cabling.cables.iter().enumerate() {
        findings.expect(used.get(at), &UNUSED, || {
            let message = format!("no path uses `{}`", fabric.cabling.describe(cable));
            Violation::new(&UNUSED, fabric.cabling.place(CableId(at as u32)), message)
        });
    }
}
