//! Path tables: read, checked each for itself, and reduced to those that fit together.

use std::collections::BTreeMap;

use camino::Utf8Path;
use closc_artefacts::paths;
use rayon::prelude::*;

use super::files::{Files, unreadable};
use crate::check::{load as balance, tables};
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::model::cabling::Cabling;
use crate::model::group::Group;
use crate::model::place::Place;
use crate::read::path_table::{self, Unreadable};
use crate::rules::files::{COMPLETE, PARSES};
use crate::rules::tables::HEADER;

/// Reads all tables.
pub(crate) fn groups(
    files: &Files<'_>,
    cabling: &Cabling,
    findings: &mut Findings,
) -> Result<Vec<Group>, VerifyError> {
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
            if let Some(group) = &group {
                tables::check(group, &mut findings);
                balance::check(group, &mut findings);
            }
            Ok((group, findings))
        })
        .collect::<Result<_, VerifyError>>()?;
    let mut groups = Vec::with_capacity(read.len());
    for (group, found) in read {
        groups.extend(group);
        *findings = std::mem::take(findings).merge(found);
    }
    groups.sort_by_key(|group| (group.zone, group.group));
    if let Some(first) = common(&groups) {
        let (zones, count) = (first.table().header().zones, first.table().header().groups);
        for group in &groups {
            tables::agree(first, group, findings);
        }
        let wanted = usize::from(zones) * usize::from(count);
        findings.expect(groups.len() == wanted, &HEADER, || {
            let message = format!("there are {} path tables and {wanted} groups", groups.len());
            Violation::new(&HEADER, first.place(&["\"group\":"]), message)
        });
        // A table that disagrees on the numbers of the fabric cannot be composed with the others.
        let header = *first.table().header();
        let layout = first.layout;
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
        groups.retain(fits);
        cable_lists(files, header.planes, findings);
    }
    groups.dedup_by_key(|group| (group.zone, group.group));
    Ok(groups)
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

/// The first of the tables that most agree with.
fn common(groups: &[Group]) -> Option<&Group> {
    let key = |group: &Group| {
        let h = *group.table().header();
        let numbers =
            [h.planes.into(), h.zones, h.groups, h.t0_uplinks, h.t1_uplinks, h.parallel0, h.parallel1];
        (numbers, format!("{:?}", group.layout))
    };
    let mut votes: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        votes.entry(key(group)).or_insert((0, at)).0 += 1;
    }
    votes.into_values().max_by_key(|(count, _)| *count).map(|(_, at)| &groups[at])
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
