//! A report as annotations of a GitHub workflow.

use std::fmt::Write as _;

use closc_diagnostics::printable;

use crate::report::Report;

/// Writes one annotation per line of a report. Lines with a warning become warnings.
pub fn draw(report: &Report) -> String {
    let mut out = String::new();
    for line in &report.changes {
        let level = if line.warning.is_some() { "warning" } else { "notice" };
        let warning = line.warning.as_ref().map_or_else(String::new, |warning| format!(" ({warning})"));
        let text = escape(&format!("{} {}: {}{warning}", line.sign.symbol(), line.subject, line.text));
        let _ = writeln!(out, "::{level} title=fabric difference::{text}");
    }
    for pairs in &report.impact.pairs {
        let _ = writeln!(out, "::notice title=impact::{}", escape(&pairs.text));
    }
    let waves = super::waves(report);
    if !waves.is_empty() {
        let _ = writeln!(out, "::notice title=rollout::{}", escape(&waves.join("\n")));
    }
    out
}

/// Escapes characters that would end an annotation.
fn escape(text: &str) -> String {
    printable::lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
