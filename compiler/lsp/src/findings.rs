//! Findings of a text, as an editor underlines them.

use closc_compile::front::Reading;
use closc_diagnostics::{Diagnostic, Label, Severity, SourceId};
use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Uri};

use crate::text::Text;

/// Returns all findings of a reading, for display in the text `file`.
pub(crate) fn all(
    reading: &Reading,
    file: Option<SourceId>,
    text: &Text,
    uri: &Uri,
) -> Vec<lsp_types::Diagnostic> {
    reading.diagnostics.iter().map(|finding| one(finding, file, text, uri, reading)).collect()
}

fn one(
    finding: &Diagnostic,
    file: Option<SourceId>,
    text: &Text,
    uri: &Uri,
    reading: &Reading,
) -> lsp_types::Diagnostic {
    let is_here = |label: &&Label| Some(label.span.source) == file;
    let bytes = |label: &Label| label.span.start as usize..label.span.end as usize;
    let span = finding.span().filter(|span| Some(span.source) == file);
    // A finding in another file, or without a place, is shown at the top of this file.
    let range = span.map_or(text.range(0..0), |span| text.range(span.start as usize..span.end as usize));
    let mut message = finding.message.clone();
    if let (None, Some(span)) = (span, finding.span()) {
        let place = reading.sources.position(span);
        message = format!("{}:{}: {message}", reading.sources.get(span.source).name, place.line);
    }
    for label in finding.labels.iter().filter(|label| label.primary && !label.text.is_empty()) {
        message = format!("{message}\n{}", label.text);
    }
    for note in &finding.notes {
        message = format!("{message}\nnote: {note}");
    }
    for help in &finding.help {
        message = format!("{message}\nhelp: {help}");
    }
    let related = finding.labels.iter().filter(is_here).filter(|label| !label.primary);
    let related: Vec<_> = related
        .map(|label| DiagnosticRelatedInformation {
            location: Location::new(uri.clone(), text.range(bytes(label))),
            message: label.text.clone(),
        })
        .collect();
    lsp_types::Diagnostic {
        range,
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(finding.rule.code.to_owned())),
        source: Some("closc".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    }
}
