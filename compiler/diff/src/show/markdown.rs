//! A report for a review page or a pull request.
//!
//! Invariants: text from other sources cannot become HTML, a link or an image, or end a code block. A page that would
//! be too long ends with a complete section.

use std::fmt::Write as _;

use closc_diagnostics::figures::format_count;
use closc_diagnostics::printable;

use super::fold;
use crate::report::{Line, Report};
use crate::rollout::Seconds;
use crate::words::plural;

/// The largest page in bytes: a comment on GitHub has at most 65,536 characters.
const PAGE_MAX: usize = 60_000;

/// The largest section in bytes.
const SECTION_MAX: usize = 20_000;

/// Maximum number of rows in the first table. Further rows are collapsed.
const ROWS_SHOWN: usize = 30;

/// Maximum number of rollout steps shown. Further ones are collapsed.
const STEPS_SHOWN: usize = 8;

/// Writes a report as Markdown: the verdict, the impact and the main changes, with the rest collapsed.
pub fn draw(report: &Report) -> String {
    let title = format!("### {} -> {}\n\n", code(&report.old.source), code(&report.new.source));
    if report.is_empty() && report.texts.is_empty() {
        return title + "Both describe the same fabric.\n";
    }
    let mut page = Page { text: title, omitted: 0 };
    let _ = writeln!(page.text, "{}", plain(&headline(report)));
    page.add(&section("Impact", &super::impact(report)));
    let (main, rest) = fold::rank_lines(&report.changes);
    let shown = main.len().min(ROWS_SHOWN);
    page.add(&table("\n**Changes**\n\n", &main[..shown]));
    let steps = report.rollout.as_ref().map_or(&[][..], |rollout| &rollout.steps);
    page.add(&section("Rollout", &steps[..steps.len().min(STEPS_SHOWN)]));
    page.add(&section("Artefacts", super::artefacts(report).as_slice()));
    let hidden: Vec<Line> = main[shown..].iter().cloned().chain(rest).collect();
    if !hidden.is_empty() {
        let title = format_count(hidden.len() as u64, "more change");
        page.add(&details(&title, &table("", &hidden)));
    }
    if steps.len() > STEPS_SHOWN {
        let more = &steps[STEPS_SHOWN..];
        page.add(&details(&(format_count(more.len() as u64, "more step") + " of the rollout"), &list(more)));
    }
    let waves = fold::waves(report);
    if !waves.is_empty() {
        page.add(&details(&waves_title(report), &block("", &waves.join("\n"))));
    }
    for text in &report.texts {
        let file = text.lines().next().unwrap_or_default().trim_start_matches(['-', ' ']);
        page.add(&details(&format!("changed lines: {file}"), &block("diff", text)));
    }
    page.end()
}

/// A page of limited length that always ends with a complete section.
struct Page {
    text: String,
    omitted: usize,
}

impl Page {
    /// Adds a section if it fits completely.
    fn add(&mut self, section: &str) {
        if self.text.len() + section.len() <= PAGE_MAX {
            self.text.push_str(section);
        } else {
            self.omitted += 1;
        }
    }

    fn end(mut self) -> String {
        if self.omitted > 0 {
            let _ = writeln!(
                self.text,
                "\ntoo long for a comment: {}; `closc diff OLD NEW --waves` prints everything.",
                format_count(self.omitted as u64, "section")
            );
        }
        self.text
    }
}

/// Returns the verdict in one line.
fn headline(report: &Report) -> String {
    let changes = format_count(report.changes.len() as u64, "change");
    let verdict = match &report.rollout {
        Some(rollout) if rollout.hitless => "**Hitless**".to_owned(),
        Some(_) => "**Not hitless**".to_owned(),
        None => format!("**{changes}**"),
    };
    let mut facts = Vec::new();
    if report.impact.cut_off > 0 {
        facts.push(format!("{} of NICs cut off", format_count(report.impact.cut_off, "pair")));
    }
    let moves = |line: &&Line| line.subject == "cables" && line.warning.is_some();
    facts.extend(report.changes.iter().filter(moves).map(|line| line.text.clone()));
    let touched: u64 = report.touched.iter().map(|tier| tier.added + tier.removed + tier.changed).sum();
    if touched > 0 {
        facts.push(plural(touched, "switch changes", "switches change"));
    }
    if !report.waves.is_empty() {
        facts.push(waves_title(report));
    }
    facts.extend(report.no_waves.iter().map(|why| format!("no rollout order: {why}")));
    if facts.is_empty() { verdict } else { format!("{verdict}: {}", facts.join(", ")) }
}

/// Returns the number and duration of the waves.
fn waves_title(report: &Report) -> String {
    let seconds = report.waves.iter().map(|wave| wave.seconds).sum();
    match (report.waves.len(), fold::equal_planes(report)) {
        (1, _) => format!("one wave, about {}", Seconds(seconds)),
        (count, 0 | 1) => format!("{count} waves, about {}", Seconds(seconds)),
        (count, planes) => {
            format!("{count} waves, about {} ({planes} equal planes, one at a time)", Seconds(seconds))
        }
    }
}

fn section(title: &str, lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("\n**{title}**\n\n{}", list(lines)) }
}

fn list(lines: &[String]) -> String {
    join_to_limit(lines.iter().map(|line| format!("- {}\n", plain(line))), |more| {
        format!("- and {more} more\n")
    })
}

fn table(title: &str, lines: &[Line]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let row = |line: &Line| {
        let warning =
            line.warning.as_ref().map_or_else(String::new, |warning| format!(" **{}**", plain(warning)));
        let (subject, text) = (plain(&line.subject), plain(&line.text));
        format!("| `{}` | {subject} | {text}{warning} |\n", line.sign.symbol())
    };
    let rows = join_to_limit(lines.iter().map(row), |more| format!("| | | and {more} more |\n"));
    format!("{title}| | what | change |\n|---|---|---|\n{rows}")
}

/// Writes a collapsed part. Its title is plain text.
fn details(title: &str, content: &str) -> String {
    let title = printable::line(title).replace('&', "&amp;").replace('<', "&lt;");
    format!("\n<details><summary>{title}</summary>\n\n{content}\n</details>\n")
}

/// Joins lines up to the maximum size of a section. `rest` describes the number of further ones.
fn join_to_limit(lines: impl Iterator<Item = String>, rest: impl FnOnce(usize) -> String) -> String {
    let (mut out, mut more) = (String::new(), 0);
    for line in lines {
        if more == 0 && out.len() + line.len() <= SECTION_MAX {
            out.push_str(&line);
        } else {
            more += 1;
        }
    }
    if more > 0 { out + &rest(more) } else { out }
}

/// Escapes a line so that it contains no HTML, link or table cell. Code in single backticks stays code.
fn plain(text: &str) -> String {
    let text = printable::line(text);
    // Runs of backticks, or an unpaired one, would move other text into or out of code.
    let mut parts: Vec<&str> = text.split('`').collect();
    let is_paired = parts.len() % 2 == 1 && parts[1..].iter().step_by(2).all(|code| !code.is_empty());
    let adjacent = parts.len() > 2 && parts[1..parts.len() - 1].iter().any(|part| part.is_empty());
    if !is_paired || adjacent {
        return escape_markdown(&text.replace('`', "'"));
    }
    let last = parts.pop().unwrap_or_default();
    let mut out = String::new();
    for (at, part) in parts.into_iter().enumerate() {
        out.push_str(&if at % 2 == 0 { escape_markdown(part) } else { part.replace('|', "\\|") });
        out.push('`');
    }
    out + &escape_markdown(last)
}

/// Escapes Markdown syntax outside of code.
fn escape_markdown(text: &str) -> String {
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

/// Writes lines as a code block, with a fence longer than any fence in the text.
fn block(language: &str, text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(runs + 1));
    let text = printable::lines(text);
    let lines = join_to_limit(text.lines().map(|line| format!("{line}\n")), |more| {
        format!("... {more} more lines\n")
    });
    format!("{fence}{language}\n{lines}{fence}\n")
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
        assert_eq!(block("diff", "+ ````\n<img>\n"), "`````diff\n+ ````\n<img>\n`````\n");
    }

    #[test]
    fn long_sections_end_complete() {
        let text = "`x`\n".repeat(40_000);
        let cut = block("diff", &text);
        assert!(cut.len() < SECTION_MAX + 100 && cut.ends_with(" more lines\n```\n"), "{}", cut.len());
        let mut page = Page { text: String::new(), omitted: 0 };
        for _ in 0..5 {
            page.add(&details("<b>", &cut));
        }
        let page = page.end();
        assert!(page.len() < PAGE_MAX + 200);
        assert_eq!(page.matches("<details>").count(), page.matches("</details>").count());
        assert!(
            page.contains("too long for a comment: 3 sections") && page.contains("<summary>&lt;b></summary>")
        );
    }
}
