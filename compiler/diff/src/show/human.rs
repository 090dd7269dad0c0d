//! A report for a terminal: signs in colour, lines as wide as the terminal.
//!
//! Invariants: control characters in text from other sources (names, contents of files) are replaced. Only
//! this module emits colours.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use closc_diagnostics::printable;

use crate::report::{Report, Sign};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const LOUD: Style = AnsiColor::Red.on_default().bold();

fn style(sign: Sign) -> Style {
    match sign {
        Sign::Add => AnsiColor::Green.on_default(),
        Sign::Change => AnsiColor::Yellow.on_default(),
        Sign::Remove => AnsiColor::Red.on_default(),
    }
}

/// Draws a report with colours, `width` columns wide. The caller strips colours if the output is not a terminal.
pub fn draw(report: &Report, width: usize, list: bool) -> String {
    let mut out = String::new();
    if report.is_empty() && report.texts.is_empty() {
        let (old, new) = (printable::line(&report.old.source), printable::line(&report.new.source));
        let _ = writeln!(out, "{old} and {new} describe the same fabric");
        return out;
    }
    for (at, line) in report.changes.iter().enumerate() {
        let paint = style(line.sign);
        let head = format!("{} ", line.sign.symbol());
        let text =
            wrap(&printable::line(&format!("{}  {}", line.subject, line.text)), width.saturating_sub(2), 6);
        let _ = writeln!(out, "{paint}{head}{paint:#}{text}");
        // Consecutive lines with the same warning share it.
        let next = report.changes.get(at + 1).and_then(|next| next.warning.as_ref());
        if let Some(warning) = line.warning.as_ref().filter(|own| list || next != Some(*own)) {
            let text = wrap(&printable::line(warning), width.saturating_sub(6), 6);
            let _ = writeln!(out, "      {LOUD}{text}{LOUD:#}");
        }
        if list && line.count > 1 {
            for name in &line.names {
                let _ = writeln!(out, "      {}", printable::line(name));
            }
        }
    }
    section(&mut out, "impact", &super::impact(report), width);
    section(&mut out, "rollout", report.rollout.as_ref().map_or(&[], |rollout| &rollout.steps), width);
    section(&mut out, "artefacts", super::artefacts(report).as_slice(), width);
    section(&mut out, "waves", &super::waves(report), width);
    for text in &report.texts {
        out.push('\n');
        for line in text.lines() {
            text_line(&mut out, line);
        }
    }
    out
}

fn section(out: &mut String, title: &str, lines: &[String], width: usize) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "{BOLD}{title}{BOLD:#}");
    for line in lines {
        let words = line.trim_start();
        let inset = 2 + line.len() - words.len();
        let text = wrap(&printable::line(words), width.saturating_sub(inset), inset + 2);
        let _ = writeln!(out, "{:inset$}{text}", "");
    }
}

fn text_line(out: &mut String, line: &str) {
    let paint = match line.as_bytes().first() {
        Some(b'+') => style(Sign::Add),
        Some(b'-') => style(Sign::Remove),
        Some(b'@') => DIM,
        Some(_) | None => Style::new(),
    };
    let _ = writeln!(out, "{paint}{}{paint:#}", printable::line(line));
}

/// Breaks a line at spaces. Continuation lines are indented.
fn wrap(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width.max(indent + 20) {
            let _ = write!(out, "\n{:indent$}", "");
            column = indent;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}
