//! Findings as JSON: one object per finding, with stable fields.

use serde::Serialize;

use crate::{Change, Diagnostic, Diagnostics, Fix, Label, Sources, Span, Trust};

/// One finding as tools read it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JsonDiagnostic<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    labels: Vec<JsonLabel<'a>>,
    notes: &'a [String],
    help: &'a [String],
    fixes: Vec<JsonFix<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct JsonLabel<'a> {
    #[serde(flatten)]
    place: JsonPlace<'a>,
    text: &'a str,
    primary: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct JsonPlace<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

/// A suggestion that can be applied automatically.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct JsonFix<'a> {
    help: &'a str,
    /// Whether `closc fix` applies the fix without being asked.
    sure: bool,
    changes: Vec<JsonChange<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum JsonChange<'a> {
    /// Replaces a text.
    Replace {
        #[serde(flatten)]
        place: JsonPlace<'a>,
        text: &'a str,
    },
    /// Sets the field at a path.
    Set { path: &'a str, value: &'a str },
}

/// Returns every finding in the form that `--format json` prints.
pub fn all<'a>(diagnostics: &'a Diagnostics, sources: &'a Sources) -> Vec<JsonDiagnostic<'a>> {
    diagnostics.iter().map(|d| one(d, sources)).collect()
}

fn one<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> JsonDiagnostic<'a> {
    JsonDiagnostic {
        code: diagnostic.rule.code,
        severity: diagnostic.severity.keyword(),
        message: &diagnostic.message,
        labels: diagnostic.labels.iter().map(|l| label(l, sources)).collect(),
        notes: &diagnostic.notes,
        help: &diagnostic.help,
        fixes: diagnostic.fixes.iter().map(|f| fix(f, sources)).collect(),
    }
}

fn label<'a>(label: &'a Label, sources: &'a Sources) -> JsonLabel<'a> {
    JsonLabel { place: place(label.span, sources), text: &label.text, primary: label.primary }
}

fn place(span: Span, sources: &Sources) -> JsonPlace<'_> {
    let start = sources.position(span);
    let end = sources.position_at(span.source, span.end as usize);
    JsonPlace {
        file: &sources.get(span.source).name,
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}

fn fix<'a>(fix: &'a Fix, sources: &'a Sources) -> JsonFix<'a> {
    let change = |change: &'a Change| match change {
        Change::Replace { span, text } => JsonChange::Replace { place: place(*span, sources), text },
        Change::Set { path, value } => JsonChange::Set { path, value },
    };
    JsonFix {
        help: &fix.help,
        sure: fix.trust == Trust::Sure,
        changes: fix.changes.iter().map(change).collect(),
    }
}
