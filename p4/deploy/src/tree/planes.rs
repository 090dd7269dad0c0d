//! The planes of the switches of a tree.
//!
//! In: the cable lists of a tree, one or more per plane, and the manifest's switches without cables. Out: planes by
//! switch. Invariants: a list that differs from the manifest is rejected; a tree without lists has no planes.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use closc_artefacts::{Files, Manifest, paths};

use super::TreeError;

/// Reads the planes of all switches that have files in the tree.
pub(super) fn of(files: &dyn Files, manifest: &Manifest) -> Result<BTreeMap<String, u8>, TreeError> {
    let switches: BTreeSet<&str> = manifest.folders(paths::SWITCHES).into_keys().collect();
    let uncabled = manifest.uncabled.iter().filter(|(name, _)| switches.contains(name.as_str()));
    let mut found: BTreeMap<&str, u8> = uncabled.map(|(name, plane)| (name.as_str(), *plane)).collect();
    let mut bytes = Vec::new();
    for list in manifest.files_in(paths::CABLES, "csv") {
        let Some(plane) = plane(list) else { continue };
        let entry = &manifest.files[list];
        bytes.clear();
        files
            .read_within(list, entry.size, &mut bytes)
            .map_err(|error| TreeError::Read { path: list.to_string(), reason: error.to_string() })?;
        if !entry.fits(&bytes) {
            return Err(TreeError::Changed { path: list.to_string() });
        }
        for name in devices(&bytes) {
            if let Some(own) = switches.get(name) {
                found.insert(own, plane);
            }
        }
    }
    Ok(found.into_iter().map(|(name, plane)| (name.to_owned(), plane)).collect())
}

/// Returns the plane of a cable list. A part of a plane has one list per zone, with the zone in its name.
fn plane(list: &Utf8Path) -> Option<u8> {
    list.file_stem()?.strip_prefix("plane-")?.split('-').next()?.parse().ok()
}

/// Returns the devices at both ends of all cables of a list; a device with several consecutive cables is
/// returned once for them.
fn devices(list: &[u8]) -> impl Iterator<Item = &str> {
    let mut last: [&[u8]; 2] = [b"", b""];
    list.split(|byte| *byte == b'\n').skip(1).flat_map(move |line| {
        let mut fields = line.split(|byte| *byte == b',').skip(2);
        let ends = [fields.next().unwrap_or_default(), fields.nth(1).unwrap_or_default()];
        let is_new = [ends[0] != last[0], ends[1] != last[1]];
        last = ends;
        let new = ends.into_iter().zip(is_new).filter(|(_, is_new)| *is_new);
        new.filter_map(|(name, _)| std::str::from_utf8(name).ok())
    })
}
