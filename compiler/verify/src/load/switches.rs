//! Reads switches in their languages, and binds them to the cable lists.

use camino::Utf8Path;
use rayon::prelude::*;

use super::files::{BUFFERS, Files, unreadable};
use crate::bind::binding::Context;
use crate::bind::switch::bind;
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cabling, SwitchId};
use crate::model::language::NeighbourResolution;
use crate::model::pipeline::Pipelines;
use crate::model::place::Place;
use crate::model::switch::Switch;
use crate::read;
use crate::read::language_reader::{FILES_MAX, Files as SwitchFiles, LanguageReader, ReaderContext};
use crate::read::sections::SectionCache;
use crate::rules::files::{COMPLETE, PARSES};

/// Returns for each switch whether its language resolves every neighbour. Neighbours also resolve such a
/// switch.
pub(crate) fn factory_macs(files: &Files<'_>, cabling: &Cabling) -> Vec<bool> {
    let own = |id: u32| {
        let folder = Utf8Path::new(closc_artefacts::paths::SWITCHES).join(cabling.switch(SwitchId(id)));
        let room = read::reader_of(|file| files.manifest.files.contains_key(&folder.join(file)));
        room.is_some_and(|room| room.language.asks == NeighbourResolution::All)
    };
    (0..cabling.switches.len() as u32).into_par_iter().map(own).collect()
}

type Switches = (Vec<Option<Switch>>, Findings);

/// Reads all switches.
pub(crate) fn switches(
    files: &Files<'_>,
    context: &Context<'_>,
    names: &Pipelines,
) -> Result<Switches, VerifyError> {
    let tables = SectionCache::default();
    let isolates = files.manifest.profile.as_ref().is_some_and(|stated| stated.isolation);
    let read: Vec<(Option<Switch>, Findings)> = (0..context.cabling.switches.len() as u32)
        .into_par_iter()
        .map(|id| {
            let mut findings = Findings::default();
            let circumstances =
                ReaderContext { routing: context.routing, pipelines: names, tables: &tables, isolates };
            let switch = BUFFERS.with_borrow_mut(|buffers| {
                switch(files, context, &circumstances, SwitchId(id), buffers, &mut findings)
            })?;
            Ok((switch, findings))
        })
        .collect::<Result<_, VerifyError>>()?;
    let mut all = Findings::default();
    let mut switches = Vec::with_capacity(read.len());
    for (switch, findings) in read {
        switches.push(switch);
        all = all.merge(findings);
    }
    Ok((switches, all))
}

fn switch(
    files: &Files<'_>,
    context: &Context<'_>,
    circumstances: &ReaderContext<'_>,
    id: SwitchId,
    buffers: &mut [Vec<u8>; FILES_MAX],
    findings: &mut Findings,
) -> Result<Option<Switch>, VerifyError> {
    let name = context.cabling.switch(id);
    let folder = Utf8Path::new(closc_artefacts::paths::SWITCHES).join(name);
    let has = |file: &str| files.manifest.files.contains_key(&folder.join(file));
    findings.count_facts(&COMPLETE, 1);
    let Some(room) = read::reader_of(has) else {
        let message = format!("`{name}` has no configuration of a known kind");
        findings.report(Violation::new(&COMPLETE, Place::file(folder), message));
        return Ok(None);
    };
    for (wanted, buffer) in room.files.iter().zip(&mut *buffers) {
        buffer.clear();
        let path = folder.join(wanted.name);
        if !(wanted.with)(context.routing) {
            continue;
        }
        findings.count_facts(&COMPLETE, 1);
        if !has(wanted.name) {
            let message = format!("`{name}` runs {}, but has no `{}`", room.language.name, wanted.name);
            findings.report(Violation::new(&COMPLETE, Place::file(path), message));
        } else if !files.read(&path, buffer, findings)? && wanted.name == room.main() {
            return Ok(None);
        }
    }
    foreign(files, &folder, room, findings);
    findings.count_facts(&PARSES, 1);
    match (room.read)(&SwitchFiles::new(room, buffers), circumstances) {
        Ok(device) => Ok(Some(bind(context, id, device, findings))),
        Err(error) => {
            unreadable(&folder.join(room.main()), &error, findings);
            Ok(None)
        }
    }
}

/// Reports files of a different language, and files that belong to a different routing mode.
fn foreign(files: &Files<'_>, folder: &Utf8Path, room: &LanguageReader, findings: &mut Findings) {
    let routing = files.manifest.routing;
    for path in files.manifest.files_below(folder) {
        let name = path.file_name().unwrap_or_default();
        let own = room.files.iter().any(|file| file.name == name && (file.with)(routing));
        if !own && read::is_known(name) {
            let message = format!(
                "`{folder}` runs {}, which has no `{name}` with routing {}",
                room.language.name,
                routing.keyword()
            );
            let violation = Violation::new(&COMPLETE, Place::file(path), message);
            findings.report(violation.and(Place::file(folder)));
        }
    }
}
