//! Reads the P4Info of the pipelines that P4 switches use.

use camino::Utf8Path;

use super::files::{Files, unreadable};
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::model::pipeline::{PipelineNames, Pipelines};
use crate::model::place::Place;
use crate::read;
use crate::read::error::text;
use crate::read::language_reader::Pipeline;
use crate::read::p4::entries;
use crate::rules::files::{COMPLETE, KNOWN};

/// Reads the P4Info of every pipeline that switches in the tree use.
pub(crate) fn pipelines(files: &Files<'_>, findings: &mut Findings) -> Result<Pipelines, VerifyError> {
    let mut all = Pipelines::new();
    for (pipeline, file) in read::pipelines() {
        if let Some(names) = names(files, pipeline, file, findings)? {
            all.insert(pipeline.info, names);
        }
    }
    Ok(all)
}

/// Returns the names in a P4 pipeline. If there are entries for the pipeline, the P4Info must exist.
fn names(
    files: &Files<'_>,
    pipeline: &Pipeline,
    file: &str,
    findings: &mut Findings,
) -> Result<Option<PipelineNames>, VerifyError> {
    let mut bytes = Vec::new();
    let path = Utf8Path::new(pipeline.info);
    if !files.read(path, &mut bytes, findings)? {
        let entries = |path: &Utf8Path| path.file_name() == Some(file);
        if files.manifest.files.keys().any(|path| entries(path)) {
            let message = format!("there are entries, but no `{path}` with their names");
            findings.report(Violation::new(&COMPLETE, Place::file(path), message));
        }
        return Ok(None);
    }
    match text(&bytes).and_then(entries::names) {
        Ok(names) => {
            findings.count_facts(&KNOWN, pipeline.tables.len() as u64);
            for table in pipeline.tables.iter().filter(|table| !names.has_table(table)) {
                let message = format!("`{path}`: the pipeline has no table `{table}`");
                findings.report(Violation::new(&KNOWN, Place::file(path), message));
            }
            Ok(Some(names))
        }
        Err(error) => {
            unreadable(path, &error, findings);
            Ok(None)
        }
    }
}
