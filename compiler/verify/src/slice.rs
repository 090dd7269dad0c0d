//! Selection of the judged part of a fabric: complete planes, and the path tables of certain T0 groups.
//!
//! In: the request, and the manifest of the tree. Out: [`Slice`]. Invariants: no path leaves its plane, so paths are
//! proved plane by plane, and only for complete planes. Tables of other groups are read, because paths lead to their
//! NICs, but judged only on request.

use std::collections::BTreeSet;

use camino::Utf8Path;
use closc_artefacts::manifest::{GroupRun, Manifest};
use closc_artefacts::paths;

use crate::error::VerifyError;

/// Selected parts of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TreeSelection {
    /// The complete tree.
    #[default]
    All,
    /// One of several shards.
    Shard {
        /// Index of the shard, from 0.
        index: u32,
        /// Number of shards.
        of: u32,
    },
    /// Selected planes and zones.
    Selected {
        /// Planes; empty for all.
        planes: Vec<u8>,
        /// Zones whose path tables are judged; empty for all.
        zones: Vec<u16>,
        /// Whether planes are judged.
        switches: bool,
        /// Whether path tables are judged.
        hosts: bool,
    },
}

/// Planes and T0 groups that are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Slice {
    /// Planes; `None` for all.
    planes: Option<BTreeSet<u8>>,
    /// T0 groups whose tables are judged; `None` for all.
    groups: Option<Vec<GroupRun>>,
    /// Whether the tree contains more than the judged part.
    cut: bool,
}

impl Slice {
    /// Computes the judged part of a tree.
    pub(crate) fn of(judged: &TreeSelection, manifest: &Manifest) -> Result<Slice, VerifyError> {
        let own = match (&manifest.selection, &manifest.part) {
            (None, _) => Slice::default(),
            (Some(selection), None) => return Err(VerifyError::Partial(selection.clone())),
            (Some(selection), Some(part)) => {
                let planes: BTreeSet<u8> = part.planes.iter().copied().collect();
                // An absent plane has no cable list. Its denials are proved with the part that would contain the plane.
                let absent = manifest.absent_planes.iter().copied().filter(|plane| planes.contains(plane));
                let lists: BTreeSet<u8> = lists(manifest).chain(absent).collect();
                let cut = part.t0 + part.t1 + part.t2 > 0 && planes.is_empty();
                if cut || lists != planes || manifest.files_in(paths::CABLES, "csv").count() > planes.len() {
                    return Err(VerifyError::Cut(selection.clone()));
                }
                Slice { planes: Some(planes), groups: Some(part.groups.clone()), cut: false }
            }
        };
        let all: Vec<GroupRun> = tables(manifest).collect();
        let there: Vec<u8> = match &own.planes {
            Some(planes) => planes.iter().copied().collect(),
            None => (0..manifest.counts.planes).map(|plane| plane as u8).collect(),
        };
        let (n_planes, n_tables) = (there.len(), all.len());
        let asked = match judged {
            TreeSelection::All => return Ok(own),
            TreeSelection::Shard { index, of } => shard((*index, *of), manifest.counts.planes, &there, all)?,
            TreeSelection::Selected { planes, zones, switches, hosts } => {
                if let Some(plane) = planes.iter().find(|plane| !there.contains(plane)) {
                    return Err(VerifyError::Absent(format!("plane {plane}")));
                }
                if let Some(zone) = zones.iter().find(|zone| all.iter().all(|run| run.zone != **zone)) {
                    return Err(VerifyError::Absent(format!("path table of zone {zone}")));
                }
                let own = there.into_iter().filter(|plane| planes.is_empty() || planes.contains(plane));
                let of_zones = all.into_iter().filter(|run| zones.is_empty() || zones.contains(&run.zone));
                Slice {
                    planes: Some(own.filter(|_| *switches).collect()),
                    groups: Some(of_zones.filter(|_| *hosts).collect()),
                    cut: true,
                }
            }
        };
        let planes = asked.planes.as_ref().map_or(0, BTreeSet::len);
        let is_all = planes == n_planes && asked.groups.as_ref().map_or(0, Vec::len) == n_tables;
        Ok(if is_all { own } else { own.and(asked) })
    }

    /// Returns the intersection of two slices.
    fn and(self, other: Slice) -> Slice {
        let planes = match (self.planes, other.planes) {
            (Some(own), Some(other)) => Some(own.intersection(&other).copied().collect()),
            (own, other) => own.or(other),
        };
        let groups = match (self.groups, other.groups) {
            (Some(own), Some(other)) => {
                let within = |run: &GroupRun| {
                    own.iter()
                        .any(|own| own.zone == run.zone && own.first <= run.first && run.last <= own.last)
                };
                Some(other.into_iter().filter(within).collect())
            }
            (own, other) => own.or(other),
        };
        Slice { planes, groups, cut: true }
    }

    /// Returns whether the complete fabric is judged.
    pub(crate) fn is_whole(&self) -> bool {
        self.planes.is_none() && self.groups.is_none()
    }

    /// Returns whether the complete tree is judged, even if the tree is only a part of the fabric.
    pub(crate) fn is_all(&self) -> bool {
        !self.cut
    }

    /// Returns whether nothing is judged.
    pub(crate) fn is_empty(&self) -> bool {
        !self.judges_planes() && self.groups.as_ref().is_some_and(Vec::is_empty)
    }

    /// Returns whether any plane is judged.
    pub(crate) fn judges_planes(&self) -> bool {
        self.planes.as_ref().is_none_or(|planes| !planes.is_empty())
    }

    /// Returns whether a plane is judged.
    pub(crate) fn has_plane(&self, plane: u8) -> bool {
        self.planes.as_ref().is_none_or(|planes| planes.contains(&plane))
    }

    /// Returns whether the table of a group is judged; groups count from 0.
    pub(crate) fn has_group(&self, zone: u16, group: u16) -> bool {
        self.groups.as_ref().is_none_or(|runs| {
            runs.iter().any(|run| run.zone == zone && (run.first..=run.last).contains(&(group + 1)))
        })
    }

    /// Returns whether a path table is judged, by its file.
    pub(crate) fn has_table(&self, path: &Utf8Path) -> bool {
        self.groups.is_none() || table(path).is_none_or(|run| self.has_group(run.zone, run.first - 1))
    }

    /// Returns the judged planes and groups for a summary; `None` for all.
    pub(crate) fn judged_parts(&self) -> (Option<Vec<u8>>, Option<Vec<GroupRun>>) {
        (self.planes.as_ref().map(|planes| planes.iter().copied().collect()), self.groups.clone())
    }

    /// Returns the judged planes among the planes 0 to `count` - 1.
    pub(crate) fn planes(&self, count: usize) -> Vec<usize> {
        (0..count).filter(|plane| self.has_plane(*plane as u8)).collect()
    }
}

/// Returns a shard of a tree. Planes are assigned by number, as in `compile`. Path tables are divided among
/// the shards that have a plane of the tree. A tree that is itself a shard therefore keeps all its tables.
fn shard(
    (index, of): (u32, u32),
    planes: u64,
    there: &[u8],
    tables: Vec<GroupRun>,
) -> Result<Slice, VerifyError> {
    if u64::from(of) > planes {
        return Err(VerifyError::Shards { of, planes });
    }
    let shard = |plane: &u8| (u64::from(*plane) * u64::from(of) / planes.max(1)) as u32;
    let mut shards: Vec<u32> = there.iter().map(shard).collect();
    shards.dedup();
    if shards.is_empty() {
        shards.extend(0..of);
    }
    let count = tables.len().max(1);
    let groups = (0..).zip(tables).filter(|(at, _)| shards[at * shards.len() / count] == index);
    Ok(Slice {
        planes: Some(there.iter().copied().filter(|plane| shard(plane) == index).collect()),
        groups: Some(groups.map(|(_, group)| group).collect()),
        cut: true,
    })
}

/// Returns the planes with a cable list in the tree.
fn lists(manifest: &Manifest) -> impl Iterator<Item = u8> {
    manifest.files_in(paths::CABLES, "csv").filter_map(paths::plane_of)
}

/// Returns the groups with a table in the tree, each as a run of one.
fn tables(manifest: &Manifest) -> impl Iterator<Item = GroupRun> {
    manifest.files_in(paths::PATH_TABLES, "json").filter_map(table)
}

/// Returns the group of a path table.
fn table(path: &Utf8Path) -> Option<GroupRun> {
    let stem = path.file_stem()?;
    let (zone, group) = match stem.strip_prefix('z') {
        Some(rest) => {
            let (zone, group) = rest.split_once('-')?;
            (zone.parse().ok()?, group)
        }
        None => (0, stem),
    };
    let group = group.strip_prefix("group-")?.parse().ok().filter(|group| *group > 0)?;
    Some(GroupRun { zone, first: group, last: group })
}

#[cfg(test)]
mod tests {
    use closc_artefacts::Routing;
    use closc_artefacts::manifest::{Counts, Entry, StatedPart};

    use super::*;

    fn manifest() -> Manifest {
        let mut manifest = Manifest::new("f", Routing::Srv6Static);
        manifest.counts = Counts { planes: 4, ..Counts::default() };
        for plane in 0..4 {
            manifest.files.insert(paths::cables(plane, None), Entry::of(b""));
        }
        for group in 1..=6 {
            manifest.files.insert(paths::path_table(Some(group % 2), group)[0].clone(), Entry::of(b""));
        }
        manifest
    }

    #[test]
    fn every_plane_and_table_is_judged_by_one_shard() {
        let manifest = manifest();
        for of in 1..=4 {
            let slices: Vec<Slice> = (0..of)
                .map(|index| Slice::of(&TreeSelection::Shard { index, of }, &manifest).unwrap())
                .collect();
            for plane in 0..4 {
                assert_eq!(slices.iter().filter(|slice| slice.has_plane(plane)).count(), 1);
            }
            for run in tables(&manifest) {
                let judged = slices.iter().filter(|slice| slice.has_group(run.zone, run.first - 1));
                assert_eq!(judged.count(), 1);
            }
        }
        let error = Slice::of(&TreeSelection::Shard { index: 0, of: 5 }, &manifest).unwrap_err().to_string();
        assert!(error.contains("5 shards") && error.contains("4 planes"), "{error}");
    }

    #[test]
    fn the_shard_that_a_part_is_has_all_of_it() {
        let mut manifest = manifest();
        for plane in 2..4 {
            manifest.files.remove(&paths::cables(plane, None));
        }
        manifest.selection = Some("shard=0/2".to_owned());
        let groups = tables(&manifest).collect();
        manifest.part = Some(StatedPart { planes: vec![0, 1], t0: 2, groups, ..StatedPart::default() });
        let all = Slice::of(&TreeSelection::All, &manifest).unwrap();
        assert!(all.is_all());
        assert_eq!(Slice::of(&TreeSelection::Shard { index: 0, of: 2 }, &manifest).unwrap(), all);
        assert_eq!(Slice::of(&TreeSelection::Shard { index: 0, of: 1 }, &manifest).unwrap(), all);
        assert!(Slice::of(&TreeSelection::Shard { index: 1, of: 2 }, &manifest).unwrap().is_empty());
        let quarters =
            [0, 1].map(|index| Slice::of(&TreeSelection::Shard { index, of: 4 }, &manifest).unwrap());
        for run in tables(&manifest) {
            assert_eq!(quarters.iter().filter(|part| part.has_group(run.zone, run.first - 1)).count(), 1);
        }
        assert!(quarters.iter().all(|part| !part.is_all()));
        let selected = |planes: &[u8], zones: &[u16]| {
            let (planes, zones) = (planes.to_vec(), zones.to_vec());
            Slice::of(&TreeSelection::Selected { planes, zones, switches: true, hosts: true }, &manifest)
        };
        assert_eq!(selected(&[], &[]).unwrap(), all);
        assert!(matches!(selected(&[0, 2], &[]), Err(VerifyError::Absent(what)) if what == "plane 2"));
        assert!(matches!(selected(&[], &[2]), Err(VerifyError::Absent(what)) if what.contains("zone 2")));
    }

    #[test]
    fn a_part_that_cuts_a_plane_is_not_judged() {
        let mut manifest = manifest();
        manifest.selection = Some("shard=0/8".to_owned());
        manifest.part = Some(StatedPart { t0: 1, ..StatedPart::default() });
        assert!(matches!(Slice::of(&TreeSelection::All, &manifest), Err(VerifyError::Cut(_))));
        manifest.part = None;
        assert!(matches!(Slice::of(&TreeSelection::All, &manifest), Err(VerifyError::Partial(_))));
    }
}
