//! The pipeline of P4 switches.

use camino::Utf8Path;

use super::files::{Files, unreadable};
use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::model::pipeline::PipelineNames;
use crate::model::place::Place;
use crate::read::error::text;
use crate::read::p4::entries;
use crate::read::p4::pipeline::{INFO, TABLES};
use crate::read::{p4, pins};
use crate::rules::files::{COMPLETE, KNOWN};

/// The names of the pipelines that the tree has.
pub(crate) struct Pipelines {
    /// Those of `fabric`.
    pub(crate) fabric: Option<PipelineNames>,
    /// Those of `sai`.
    pub(crate) sai: Option<PipelineNames>,
}

impl Pipelines {
    /// Reads the P4Info of each.
    pub(crate) fn read(files: &Files<'_>, findings: &mut Findings) -> Result<Self, VerifyError> {
        Ok(Pipelines {
            fabric: pipeline(files, (INFO, p4::FILE), &TABLES, findings)?,
            sai: pipeline(files, (pins::INFO, pins::FILE), &pins::TABLES, findings)?,
        })
    }
}

/// The names of a P4 pipeline, where the tree has it; it has to where there is such a file with entries.
fn pipeline(
    files: &Files<'_>,
    (info, file): (&str, &str),
    tables: &[&str],
    findings: &mut Findings,
) -> Result<Option<PipelineNames>, VerifyError> {
    let mut bytes = Vec::new();
    let path = Utf8Path::new(info);
    if !files.read(path, &mut bytes, findings)? {
        let entries = |path: &Utf8Path| path.file_name() == Some(file);
        if files.manifest.files.keys().any(|path| entries(path)) {
            let message = format!("there are entries and no `{path}`, which gives them names");
            findings.broken(Violation::new(&COMPLETE, Place::file(path), message));
        }
        return Ok(None);
    }
    match text(&bytes).and_then(entries::names) {
        Ok(names) => {
            findings.checked(&KNOWN, tables.len() as u64);
            for table in tables.iter().filter(|table| !names.has_table(table)) {
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
