//! Findings as GitHub workflow commands, so that they appear beside the line in a pull request.
//!
//! Source: GitHub documentation, "Workflow commands for GitHub Actions" (`::error file=..,line=..::..`).

use std::fmt::Write as _;

use crate::{Diagnostic, Diagnostics, Sources};

/// Returns one `::error` or `::warning` line a finding.
pub fn all(diagnostics: &Diagnostics, sources: &Sources) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        line(&mut out, diagnostic, sources);
    }
    out
}

fn line(out: &mut String, diagnostic: &Diagnostic, sources: &Sources) {
    let mut body = diagnostic.message.clone();
    for text in diagnostic.notes.iter().chain(&diagnostic.help) {
        body.push('\n');
        body.push_str(text);
    }
    let _ = write!(out, "::{} ", diagnostic.severity.word());
    if let Some(span) = diagnostic.span() {
        let start = sources.position(span);
        let file = property(&sources.get(span.source).name);
        let _ = write!(out, "file={file},line={},col={},", start.line, start.column);
    }
    let _ = writeln!(out, "title={}::{}", property(diagnostic.rule.code), data(&body));
}

/// Escapes text after the `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property, which commas and colons would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
