//! The pipeline of P4 switches.

use camino::Utf8Path;

use super::files::{Files, unreadable};
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::model::pipeline::PipelineNames;
use crate::model::place::Place;
use crate::read::error::text;
use crate::read::p4;
use crate::read::p4::entries;
use crate::read::p4::pipeline::{INFO, TABLES};
use crate::rules::files::{COMPLETE, KNOWN};

/// The names of the P4 pipeline, where the tree has one.
pub(crate) fn pipeline(
    files: &Files<'_>,
    findings: &mut Findings,
) -> Result<Option<PipelineNames>, VerifyError> {
    let mut bytes = Vec::new();
    let path = Utf8Path::new(INFO);
    if !files.read(path, &mut bytes, findings)? {
        let entries = |path: &Utf8Path| path.file_name() == Some(p4::FILE);
        if files.manifest.files.keys().any(|path| entries(path)) {
            let message = format!("there are entries and no `{path}`, which gives them names");
            findings.broken(Violation::new(&COMPLETE, Place::file(path), message));
        }
        return Ok(None);
    }
    match text(&bytes).and_then(entries::names) {
        Ok(names) => {
            findings.checked(&KNOWN, TABLES.len() as u64);
            for table in TABLES.iter().filter(|table| !names.has_table(table)) {
                let message = format!("`{path}`: the pipeline has no table `{table}`");
                findings.broken(Violation::new(&KNOWN, Place::file(path), message));
            }
            Ok(Some(names))
        }
        Err(error) => {
            unreadable(path, &error, findings);
            Ok(None)
        }
    }
}
