//! A report for a review page or a pull request.
//!
//! Invariants: what others wrote is text: no HTML, link, image or end of a code block comes of it.

use std::fmt::Write as _;

use closc_diagnostics::printable;

use crate::report::Report;

/// Writes a report as Markdown.
pub fn draw(report: &Report) -> String {
    let mut out = format!("### {} -> {}\n\n", code(&report.old.source), code(&report.new.source));
    if report.is_empty() && report.texts.is_empty() {
        out.push_str("Both mean the same.\n");
        return out;
    }
    if !report.changes.is_empty() {
        out.push_str("| | what | change |\n|---|---|---|\n");
    }
    for line in &report.changes {
        let warning =
            line.warning.as_ref().map_or_else(String::new, |warning| format!(" **{}**", plain(warning)));
        let (subject, text) = (plain(&line.subject), plain(&line.text));
        let _ = writeln!(out, "| `{}` | {subject} | {text}{warning} |", line.sign.symbol());
    }
    section(&mut out, "Impact", &super::impact(report));
    section(&mut out, "Rollout", report.rollout.as_ref().map_or(&[], |rollout| &rollout.steps));
    section(&mut out, "Artefacts", super::artefacts(report).as_slice());
    let waves = super::waves(report);
    if !waves.is_empty() {
        out.push_str("\n**Waves**\n\n");
        block(&mut out, "", &waves.join("\n"));
    }
    for text in &report.texts {
        out.push('\n');
        block(&mut out, "diff", text);
    }
    out
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n**{title}**\n");
    for line in lines {
        let _ = writeln!(out, "- {}", plain(line));
    }
}

/// Writes one line so that nothing in it is HTML, a link or a table cell. Code in single backticks stays code.
fn plain(text: &str) -> String {
    let text = printable::line(text);
    // Runs of backticks, and one without a partner, would take other text into code or out of it.
    let mut parts: Vec<&str> = text.split('`').collect();
    let is_paired = parts.len() % 2 == 1 && parts[1..].iter().step_by(2).all(|code| !code.is_empty());
    let adjacent = parts.len() > 2 && parts[1..parts.len() - 1].iter().any(|part| part.is_empty());
    if !is_paired || adjacent {
        return escaped(&text.replace('`', "'"));
    }
    let last = parts.pop().unwrap_or_default();
    let mut out = String::new();
    for (at, part) in parts.into_iter().enumerate() {
        out.push_str(&if at % 2 == 0 { escaped(part) } else { part.replace('|', "\\|") });
        out.push('`');
    }
    out + &escaped(last)
}

/// Escapes what Markdown would read outside of code.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '|' | '[' | '\\' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// Writes a name as code.
fn code(text: &str) -> String {
    format!("`{}`", printable::line(text).replace('`', "'"))
}

/// Writes lines as a block of code, whose fence is longer than any in it.
fn block(out: &mut String, language: &str, text: &str) {
    let runs = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(runs + 1));
    let text = printable::lines(text);
    let _ = writeln!(out, "{fence}{language}\n{}\n{fence}", text.strip_suffix('\n').unwrap_or(&text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_text() {
        assert_eq!(plain("`p0-t0-001` 4 -> 5"), "`p0-t0-001` 4 -> 5");
        assert_eq!(plain("`a|b` c|d"), "`a\\|b` c\\|d");
        for hostile in
            ["<img src=x onerror=y>", "```<img>`", "`a``<img>`", "`<img>", "``<img>``", "<script>`x`"]
        {
            let shown = plain(hostile);
            let outside: String = shown.split('`').step_by(2).collect();
            assert!(!outside.contains('<'), "{hostile}: {shown}");
            assert!(!shown.contains("``"), "{hostile}: {shown}");
        }
        assert_eq!(plain("\u{1b}[2J[x](y)"), "\u{fffd}\\[2J\\[x](y)");
    }

    #[test]
    fn code_does_not_end_its_block() {
        let mut out = String::new();
        block(&mut out, "diff", "+ ````\n<img>\n");
        assert_eq!(out, "`````diff\n+ ````\n<img>\n`````\n");
    }
}
