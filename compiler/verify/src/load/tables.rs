//! Path tables: read, and those set apart that do not fit together.

use camino::Utf8Path;
use closc_artefacts::{Routing, paths};
use rayon::prelude::*;

use super::files::{Files, unreadable};
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::model::cabling::Cabling;
use crate::model::group::{Group, common};
use crate::model::place::Place;
use crate::read::path_table::{self, Unreadable};
use crate::rules::files::{COMPLETE, PARSES};

/// Reads all tables: those that can be composed, zone by zone, and the others.
pub(crate) fn groups(
    files: &Files<'_>,
    cabling: &Cabling,
    findings: &mut Findings,
) -> Result<(Vec<Group>, Vec<Group>), VerifyError> {
    let paths: Vec<&Utf8Path> = files.manifest.files_in(paths::PATH_TABLES, "json").collect();
    for binary in files.manifest.files_in(paths::PATH_TABLES, "bin") {
        let beside = binary.with_extension("json");
        if !files.manifest.files.contains_key(&beside) {
            let message = format!("`{binary}` has no `{beside}` beside it");
            findings.broken(Violation::new(&COMPLETE, Place::file(beside), message));
        }
    }
    let read: Vec<(Option<Group>, Findings)> = paths
        .par_iter()
        .map(|path| {
            let mut findings = Findings::default();
            let group = group(files, path, cabling, &mut findings)?;
            Ok((group, findings))
        })
        .collect::<Result<_, VerifyError>>()?;
    let mut groups = Vec::with_capacity(read.len());
    for (group, found) in read {
        groups.extend(group);
        *findings = std::mem::take(findings).merge(found);
    }
    groups.sort_by_key(|group| (group.zone, group.group));
    let Some(first) = common(&groups) else { return Ok((groups, Vec::new())) };
    let (header, layout) = (*first.table().header(), first.layout);
    // A table that disagrees on the numbers of the fabric cannot be composed with the others.
    let fits = |group: &Group| {
        let own = *group.table().header();
        group.layout == layout
            && (own.planes, own.zones, own.groups) == (header.planes, header.zones, header.groups)
            && (own.t0_uplinks, own.t1_uplinks) == (header.t0_uplinks, header.t1_uplinks)
            && (own.parallel0, own.parallel1) == (header.parallel0, header.parallel1)
            && group.planes.len() == usize::from(header.planes)
            && group.zone < header.zones
            && group.group < header.groups
    };
    let (mut fitting, mut apart): (Vec<Group>, Vec<Group>) = (Vec::with_capacity(groups.len()), Vec::new());
    for group in groups {
        let again = fitting.last().is_some_and(|last| (last.zone, last.group) == (group.zone, group.group));
        if fits(&group) && !again { fitting.push(group) } else { apart.push(group) }
    }
    cable_lists(files, header.planes, findings);
    Ok((fitting, apart))
}

/// Where hosts write the path, there are tables.
pub(crate) fn are_there(routing: Routing, groups: &[Group], findings: &mut Findings) {
    if routing.is_source_routed() && groups.is_empty() {
        let message = "hosts write the path, and there is no path table".to_owned();
        findings.broken(Violation::new(&COMPLETE, Place::file(paths::MANIFEST), message));
    }
}

/// Every plane has a list of its cables.
fn cable_lists(files: &Files<'_>, planes: u8, findings: &mut Findings) {
    for plane in 0..planes {
        let list = paths::cables(plane);
        if !files.manifest.files.contains_key(&list) {
            let message = format!("there is no list of the cables of plane {plane}");
            findings.broken(Violation::new(&COMPLETE, Place::file(list), message));
        }
    }
}

fn group(
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
        let message = format!("`{path}` has no binary beside it");
        findings.broken(Violation::new(&COMPLETE, Place::file(path), message));
        return Ok(None);
    }
    findings.checked(&PARSES, 2);
    match path_table::read((path, &beside), &json, binary, &files.manifest.fabric, cabling, findings) {
        Ok(group) => Ok(Some(group)),
        Err(Unreadable { binary, error }) => {
            unreadable(if binary { &beside } else { path }, &error, findings);
            Ok(None)
        }
    }
}
