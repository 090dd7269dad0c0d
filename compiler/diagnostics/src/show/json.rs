//! Findings as JSON: one object a finding, fields stable.

use serde::Serialize;

use crate::{Diagnostic, Diagnostics, Label, Sources};

/// One finding as tools read it.
#[derive(Debug, Serialize)]
pub struct JsonDiagnostic<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    labels: Vec<JsonLabel<'a>>,
    notes: &'a [String],
    help: &'a [String],
}

#[derive(Debug, Serialize)]
struct JsonLabel<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    text: &'a str,
    primary: bool,
}

/// Returns every finding in the form that `--format json` prints.
pub fn all<'a>(diagnostics: &'a Diagnostics, sources: &'a Sources) -> Vec<JsonDiagnostic<'a>> {
    diagnostics.iter().map(|d| one(d, sources)).collect()
}

fn one<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> JsonDiagnostic<'a> {
    JsonDiagnostic {
        code: diagnostic.rule.code,
        severity: diagnostic.severity.word(),
        message: &diagnostic.message,
        labels: diagnostic.labels.iter().map(|l| label(l, sources)).collect(),
        notes: &diagnostic.notes,
        help: &diagnostic.help,
    }
}

fn label<'a>(label: &'a Label, sources: &'a Sources) -> JsonLabel<'a> {
    let start = sources.position(label.span);
    let end = sources.position_at(label.span.source, label.span.end as usize);
    JsonLabel {
        file: &sources.get(label.span.source).name,
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        text: &label.text,
        primary: label.primary,
    }
}
