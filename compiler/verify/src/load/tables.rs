//! Reads path tables, and separates those that are inconsistent with the others.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::path_table::Destination;
use closc_artefacts::{Files as Source, Manifest, Routing, paths};
use closc_paths::Header;
use rayon::prelude::*;
use serde::de::IgnoredAny;

use super::files::{Files, unreadable};
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::interface::TableSums;
use crate::model::cabling::Cabling;
use crate::model::group::{Group, common};
use crate::model::place::Place;
use crate::model::segment::Layout;
use crate::read::path_table::{self, Destinations, TableError};
use crate::rules::files::{COMPLETE, PARSES};
use crate::rules::tables::HEADER;

use crate::slice::Slice;

/// Reads the judged tables. Returns the tables that can be composed, sorted by zone and group, and all others.
pub(crate) fn groups(
    files: &Files<'_>,
    slice: &Slice,
    cabling: &Cabling,
    findings: &mut Findings,
) -> Result<(Vec<Group>, Vec<Group>), VerifyError> {
    let judged = |path: &&Utf8Path| slice.has_table(path);
    let paths: Vec<&Utf8Path> = files.manifest.files_in(paths::PATH_TABLES, "json").filter(judged).collect();
    for binary in files.manifest.files_in(paths::PATH_TABLES, "bin").filter(judged) {
        let beside = binary.with_extension("json");
        if !files.manifest.files.contains_key(&beside) {
            let message = format!("`{binary}` has no matching `{beside}`");
            findings.report(Violation::new(&COMPLETE, Place::file(beside), message));
        }
    }
    let read = all::<Vec<Destination>>(files, &paths, cabling)?;
    let mut groups = Vec::with_capacity(read.len());
    for (group, found) in read {
        groups.extend(group);
        *findings = std::mem::take(findings).merge(found);
    }
    groups.sort_by_key(|group| (group.zone, group.group));
    let Some(first) = common(&groups) else { return Ok((groups, Vec::new())) };
    let (header, layout) = (*first.table().header(), first.layout);
    let fits = |group: &Group| fits(group, &layout, &header);
    let (mut fitting, mut apart): (Vec<Group>, Vec<Group>) = (Vec::with_capacity(groups.len()), Vec::new());
    for group in groups {
        let again = fitting.last().is_some_and(|last| (last.zone, last.group) == (group.zone, group.group));
        if fits(&group) && !again { fitting.push(group) } else { apart.push(group) }
    }
    cable_lists(files, slice, header.planes, findings);
    Ok((fitting, apart))
}

/// Returns whether a table can be composed with the others. All must have the same dimensions of the fabric.
fn fits(group: &Group, layout: &Layout, header: &Header) -> bool {
    let own = *group.table().header();
    group.layout == *layout
        && (own.planes, own.zones, own.groups) == (header.planes, header.zones, header.groups)
        && (own.t0_uplinks, own.t1_uplinks) == (header.t0_uplinks, header.t1_uplinks)
        && (own.parallel0, own.parallel1) == (header.parallel0, header.parallel1)
        && group.planes.len() == usize::from(header.planes)
        && group.zone < header.zones
        && group.group < header.groups
}

/// Keeps the tables that can be composed, one per group, and reports the others.
fn compose(groups: &mut Vec<Group>, findings: &mut Findings) {
    groups.sort_by_key(|group| (group.zone, group.group));
    let Some(first) = common(&*groups) else { return };
    let (header, layout) = (*first.table().header(), first.layout);
    let mut last = None;
    groups.retain(|group| {
        let at = (group.zone, group.group);
        let kept = fits(group, &layout, &header) && last.replace(at) != Some(at);
        if !kept {
            let message = format!(
                "`{}` is for another fabric than most tables, or for a group that has a table already",
                group.name()
            );
            findings.report(Violation::new(&HEADER, group.place(&["\"segments\":"]), message));
        }
        kept
    });
}

fn all<D: Destinations>(
    files: &Files<'_>,
    paths: &[&Utf8Path],
    cabling: &Cabling,
) -> Result<Vec<(Option<Group>, Findings)>, VerifyError> {
    let read = paths.par_iter().map(|path| {
        let mut findings = Findings::default();
        let group = group::<D>(files, path, cabling, &mut findings)?;
        Ok((group, findings))
    });
    read.collect()
}

/// If only certain planes are judged, also reads the tables of other groups, because paths lead to their NICs. They are
/// in this tree and the trees of `--tables`. Facts about these tables are counted where they are judged; violations are
/// also reported here. Returns sums of the digests of all tables and of the judged ones; `None` if hosts do not choose
/// the path.
pub(crate) fn add_other_tables(
    files: &Files<'_>,
    (beside, slice): (&[&dyn Source], &Slice),
    cabling: &Cabling,
    groups: &mut Vec<Group>,
    findings: &mut Findings,
) -> Result<Option<TableSums>, VerifyError> {
    // This is checked even if the tables are not needed, because parts of a different fabric are a mistake.
    let manifests: Vec<Manifest> =
        beside.iter().map(|tree| Manifest::read(*tree)).collect::<Result<_, _>>()?;
    for manifest in &manifests {
        if (&manifest.source, &manifest.inputs) != (&files.manifest.source, &files.manifest.inputs) {
            let name = manifest.selection.clone().unwrap_or_else(|| manifest.fabric.clone());
            return Err(VerifyError::Other(name));
        }
    }
    if !files.manifest.routing.is_source_routed() {
        return Ok(None);
    }
    let mut digests: BTreeMap<Utf8PathBuf, String> = BTreeMap::new();
    let _ = note(files.manifest, &mut digests);
    if slice.judges_planes() && !slice.is_whole() {
        read_others(files, |path| !slice.has_table(path), cabling, groups, findings)?;
        for (tree, manifest) in beside.iter().zip(&manifests) {
            let known = |path: &Utf8Path| digests.contains_key(path);
            let theirs = Files::new(*tree, manifest, files.digests);
            read_others(&theirs, |path| !known(path), cabling, groups, findings)?;
            if let Some(path) = note(manifest, &mut digests) {
                return Err(VerifyError::Twice(path));
            }
        }
        compose(groups, findings);
        require_all_tables(groups)?;
    }
    let sum = |judged: bool| {
        let some = digests.iter().filter(|(path, _)| !judged || slice.has_table(path));
        some.fold(0u128, |sum, (path, digest)| sum.wrapping_add(number(path, digest)))
    };
    Ok(Some(TableSums { all: slice.judges_planes().then(|| sum(false)), judged_sum: sum(true) }))
}

/// Returns a number for a file and its digest. The numbers of all parts are added.
fn number(path: &Utf8Path, digest: &str) -> u128 {
    let hash = blake3::Hasher::new().update(path.as_str().as_bytes()).update(digest.as_bytes()).finalize();
    hash.as_bytes()[..16].iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}

/// Records the digests of the tables in a tree, which are compared when the files are read. Returns a table that was
/// already recorded with a different digest.
fn note(manifest: &Manifest, digests: &mut BTreeMap<Utf8PathBuf, String>) -> Option<Utf8PathBuf> {
    let mut other = None;
    for path in ["json", "bin"].into_iter().flat_map(|form| manifest.files_in(paths::PATH_TABLES, form)) {
        let digest = &manifest.files[path].blake3;
        if digests.insert(path.to_owned(), digest.clone()).is_some_and(|known| known != *digest) {
            other = Some(path.to_owned());
        }
    }
    other
}

fn read_others(
    files: &Files<'_>,
    wanted: impl Fn(&Utf8Path) -> bool,
    cabling: &Cabling,
    groups: &mut Vec<Group>,
    findings: &mut Findings,
) -> Result<(), VerifyError> {
    let paths: Vec<&Utf8Path> =
        files.manifest.files_in(paths::PATH_TABLES, "json").filter(|path| wanted(path)).collect();
    // These files are not counted: files and bytes are counted where they are judged.
    let apart = Files::new(files.tree, files.manifest, files.digests);
    for (group, found) in all::<IgnoredAny>(&apart, &paths, cabling)? {
        groups.extend(group);
        if !found.is_clean() {
            *findings = std::mem::take(findings).merge(found);
        }
    }
    Ok(())
}

/// Returns an error if a group has no table, because its planes cannot be proved.
fn require_all_tables(groups: &[Group]) -> Result<(), VerifyError> {
    let Some(first) = groups.first() else { return Err(VerifyError::Tables("any group".to_owned())) };
    let h = *first.table().header();
    let there: BTreeSet<(u16, u16)> = groups.iter().map(|group| (group.zone, group.group)).collect();
    let all = (0..h.zones).flat_map(|zone| (0..h.groups).map(move |group| (zone, group)));
    let absent: Vec<(u16, u16)> = all.filter(|at| !there.contains(at)).collect();
    match absent.first() {
        None => Ok(()),
        Some((zone, group)) => {
            let more = match absent.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Err(VerifyError::Tables(format!("group {} of zone {zone}{more}", group + 1)))
        }
    }
}

/// Checks that path tables exist if hosts choose the path.
pub(crate) fn check_tables_exist(routing: Routing, groups: &[Group], findings: &mut Findings) {
    if routing.is_source_routed() && groups.is_empty() {
        let message = "hosts choose the path, but there is no path table".to_owned();
        findings.report(Violation::new(&COMPLETE, Place::file(paths::MANIFEST), message));
    }
}

/// Checks that every judged plane has a cable list, and that planes stated as absent have none.
fn cable_lists(files: &Files<'_>, slice: &Slice, planes: u8, findings: &mut Findings) {
    for plane in (0..planes).filter(|plane| slice.has_plane(*plane)) {
        let list = paths::cables(plane, None);
        let is_absent = files.manifest.absent_planes.contains(&plane);
        let message = match (files.manifest.files.contains_key(&list), is_absent) {
            (false, false) => format!("there is no list of the cables of plane {plane}"),
            (true, true) => {
                format!("plane {plane} is absent in the manifest, but there is a list of its cables")
            }
            (true, false) | (false, true) => continue,
        };
        findings.report(Violation::new(&COMPLETE, Place::file(list), message));
    }
}

fn group<D: Destinations>(
    files: &Files<'_>,
    path: &Utf8Path,
    cabling: &Cabling,
    findings: &mut Findings,
) -> Result<Option<Group>, VerifyError> {
    let (mut json, mut binary) = (Vec::new(), Vec::new());
    let beside = path.with_extension("bin");
    if !files.read(path, &mut json, findings)? {
        return Ok(None);
    }
    if !files.read(&beside, &mut binary, findings)? {
        let message = format!("`{path}` has no matching binary");
        findings.report(Violation::new(&COMPLETE, Place::file(path), message));
        return Ok(None);
    }
    findings.count_facts(&PARSES, 2);
    let fabric = &files.manifest.fabric;
    match path_table::read::<D>((path, &beside), &json, binary, fabric, cabling, findings) {
        Ok(group) => Ok(Some(group)),
        Err(TableError { binary, error }) => {
            unreadable(if binary { &beside } else { path }, &error, findings);
            Ok(None)
        }
    }
}
