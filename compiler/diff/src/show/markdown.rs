//! A report for a review page or a pull request.

use std::fmt::Write as _;

use crate::report::Report;

/// Writes a report as Markdown.
pub fn draw(report: &Report) -> String {
    let mut out = format!("### `{}` -> `{}`\n\n", report.old.source, report.new.source);
    if report.is_empty() && report.texts.is_empty() {
        out.push_str("Both mean the same.\n");
        return out;
    }
    if !report.changes.is_empty() {
        out.push_str("| | what | change |\n|---|---|---|\n");
    }
    for line in &report.changes {
        let warning = line.warning.as_ref().map_or_else(String::new, |warning| format!(" **{warning}**"));
        let text = line.text.replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | {} | {text}{warning} |", line.sign.symbol(), line.subject);
    }
    section(&mut out, "Impact", &super::impact(report));
    section(&mut out, "Rollout", report.rollout.as_ref().map_or(&[], |rollout| &rollout.steps));
    section(&mut out, "Artefacts", super::artefacts(report).as_slice());
    let waves = super::waves(report);
    if !waves.is_empty() {
        let _ = writeln!(out, "\n**Waves**\n\n```\n{}\n```", waves.join("\n"));
    }
    for text in &report.texts {
        let _ = write!(out, "\n```diff\n{text}```\n");
    }
    out
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n**{title}**\n");
    for line in lines {
        let _ = writeln!(out, "- {line}");
    }
}
