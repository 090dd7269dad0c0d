//! Findings as GitHub workflow commands, so that they appear beside the line in a pull request.
//!
//! Source: GitHub documentation, "Workflow commands for GitHub Actions" (`::error file=..,line=..::..`).

use crate::{Diagnostic, Diagnostics, Sources};

/// Returns one `::error` or `::warning` line per finding.
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
    let place = diagnostic.span().map(|span| {
        let start = sources.position(span);
        (&*sources.get(span.source).name, start.line, start.column)
    });
    out.push_str(&annotation(diagnostic.severity.keyword(), place, diagnostic.rule.code, &body));
}

/// Returns one annotation: a command such as `error`, a file with line and column, a title, and a text of any
/// number of lines.
pub fn annotation(word: &str, place: Option<(&str, usize, usize)>, title: &str, text: &str) -> String {
    let place = place.map_or(String::new(), |(file, line, column)| {
        format!("file={},line={line},col={column},", property(file))
    });
    format!("::{word} {place}title={}::{}\n", property(title), data(text))
}

/// Escapes text after the `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property, which would otherwise end at a comma or colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
