//! A difference as a page: the verdict first, then the changed elements, before and after.
//!
//! In: a difference. Out: HTML, as a separate page or as a section of the page of a fabric. Invariants: all text is
//! escaped; text in paired backticks is shown as code, and an unpaired backtick stays as it is.

use std::fmt::Write as _;

use closc_diagnostics::figures::number;
use closc_diff::rollout::Seconds;
use closc_diff::{Line, Report, Sign, show};

use crate::drawing;
use crate::text::{escape, fill, inline_html};

const FRAME: &str = include_str!("page/difference.html");
const STYLE: &str = include_str!("page/page.css");

/// Severity of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Severity {
    /// Nothing is lost.
    Good,
    /// Paths are lost, or the rollout affects traffic, or only artefacts were compared.
    Warning,
    /// A pair is cut off.
    Bad,
}

/// Writes a difference as a page.
pub fn difference(report: &Report) -> String {
    let title = title(report);
    fill(
        FRAME,
        &[
            ("{{title}}", &escape(&title)),
            ("{{style}}", STYLE),
            ("{{from}}", &sides(report)),
            ("{{body}}", &body(report)),
        ],
    )
}

/// Writes a difference as a section of a page.
pub(crate) fn section(report: &Report) -> String {
    format!(
        "<section id=\"changes\" aria-labelledby=\"changes-title\">\n<h2 id=\"changes-title\">Changes</h2>\n<p class=\"note\">{}</p>\n{}</section>\n",
        sides(report),
        body(report)
    )
}

fn title(report: &Report) -> String {
    if report.old.fabric == report.new.fabric {
        return format!("{}: changes", report.new.fabric);
    }
    format!("{} to {}: changes", report.old.fabric, report.new.fabric)
}

/// Names the sources of both sides with their digests. If they have the same name, it is written once.
fn sides(report: &Report) -> String {
    let short = |digest: &str| escape(&digest.chars().take(12).collect::<String>());
    let (old, new) = (&report.old, &report.new);
    let (before, after) = (short(&old.digest), short(&new.digest));
    if old.source == new.source {
        return format!("{}, before ({before}) and after ({after})", code(&old.source));
    }
    format!("from {} ({before}) to {} ({after})", code(&old.source), code(&new.source))
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

fn body(report: &Report) -> String {
    let (severity, verdict) = verdict(report);
    let class = match severity {
        Severity::Good => "good",
        Severity::Warning => "warn",
        Severity::Bad => "bad",
    };
    let mut out = format!("<p class=\"verdict {class}\">{}</p>\n", inline_html(&verdict));
    if report.is_empty() && report.texts.is_empty() {
        return out;
    }
    if !report.touched.is_empty() {
        let _ = writeln!(
            out,
            "<h3>Changed tiers</h3>\n<div class=\"scroll\">{}</div>",
            drawing::draw_tiers(&report.touched)
        );
        out.push_str("<p class=\"key\">Each box is a tier of a plane, with its switches before and after: + added, - removed, ~ configuration changes or may change.</p>\n");
    }
    changes(&mut out, &report.changes);
    list(&mut out, "Impact", &show::impact(report));
    list(&mut out, "Rollout", report.rollout.as_ref().map_or(&[], |rollout| &rollout.steps));
    list(&mut out, "Artefacts", show::artefacts(report).as_slice());
    waves(&mut out, report);
    for text in &report.texts {
        let _ = writeln!(out, "<pre class=\"scroll\" tabindex=\"0\">{}</pre>", escape(text));
    }
    out
}

/// Verdict of a difference, in one line.
fn verdict(report: &Report) -> (Severity, String) {
    if report.is_empty() && report.texts.is_empty() {
        return (Severity::Good, "No changes: both sides are equivalent.".to_owned());
    }
    let impact = &report.impact;
    if impact.cut_off > 0 {
        let count = impact.cut_off;
        return (Severity::Bad, format!("Pairs of NICs that lose all paths: {}.", number(count)));
    }
    // Pairs with a removed NIC are not counted as losing paths.
    let fewer =
        impact.pairs.iter().filter(|pairs| pairs.paths_new.is_some() && pairs.paths_new < pairs.paths_old);
    let losing: u64 = fewer.map(|pairs| pairs.pairs).sum();
    let hitless = report.rollout.as_ref().map(|rollout| rollout.hitless);
    match (losing, hitless) {
        (0, Some(true)) => (Severity::Good, "Hitless: no pair of NICs loses a path.".to_owned()),
        (0, Some(false)) => (
            Severity::Warning,
            "Not hitless: no pair of NICs loses a path permanently, but the rollout changes switches in use."
                .to_owned(),
        ),
        (0, None) => {
            let changed: u64 =
                report.artefacts.iter().map(|kind| kind.added + kind.changed + kind.removed).sum();
            (Severity::Warning, format!("Artefacts that differ: {}.", number(changed)))
        }
        (count, _) => {
            let has_paths = impact.pairs.iter().all(|pairs| pairs.paths_new != Some(0));
            let none = if has_paths { " None is cut off." } else { "" };
            (Severity::Warning, format!("Pairs of NICs that lose paths: {}.{none}", number(count)))
        }
    }
}

fn changes(out: &mut String, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    out.push_str("<h3>Before and after</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Before and after\"><table>\n<thead><tr><th scope=\"col\"><span class=\"unseen\">sign</span></th><th scope=\"col\">element</th><th scope=\"col\">before</th><th scope=\"col\">after</th></tr></thead>\n<tbody>\n");
    for line in lines {
        let (sign, class) = match line.sign {
            Sign::Add => ("+", "good"),
            Sign::Change => ("~", "warn"),
            Sign::Remove => ("-", "bad"),
        };
        let (what, before, after) = split_change(line);
        let subject = format!(
            "<b>{}</b>{}",
            escape(&line.subject),
            what.map(|what| format!(" {}", inline_html(what))).unwrap_or_default()
        );
        let warning = line
            .warning
            .as_ref()
            .map_or_else(String::new, |text| format!("<br><span class=\"bad\">{}</span>", inline_html(text)));
        let _ = writeln!(
            out,
            "<tr><td class=\"sign {class}\">{sign}</td><td>{subject}{warning}</td><td>{}</td><td>{}</td></tr>",
            inline_html(before),
            inline_html(after)
        );
    }
    out.push_str("</tbody></table></div>\n");
}

/// Splits a change with one arrow, such as `the downlinks of each T0: 128 -> 256`, into subject, old and new value.
fn split_change(line: &Line) -> (Option<&str>, &str, &str) {
    match line.sign {
        Sign::Add => (None, "", &line.text),
        Sign::Remove => (None, &line.text, ""),
        Sign::Change => match line.text.split_once(" -> ") {
            Some((left, after)) if !after.contains(" -> ") && !left.contains('`') => {
                match left.rsplit_once(": ") {
                    Some((what, before)) => (Some(what), before, after),
                    None => (None, left, after),
                }
            }
            Some(_) | None => (Some(&line.text), "", ""),
        },
    }
}

fn list(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "<h3>{title}</h3>\n<ul>");
    for line in lines {
        let _ = writeln!(out, "<li>{}</li>", inline_html(line));
    }
    out.push_str("</ul>\n");
}

/// Writes waves as nested lists, in which long steps wrap.
fn waves(out: &mut String, report: &Report) {
    if let Some(why) = &report.no_waves {
        list(out, "Waves", &[format!("none: {why}")]);
    }
    if report.waves.is_empty() {
        return;
    }
    out.push_str("<h3>Waves</h3>\n<ol>\n");
    for wave in &report.waves {
        let _ = writeln!(
            out,
            "<li>{} <span class=\"muted\">({})</span>\n<ul>",
            inline_html(&wave.text),
            Seconds(wave.seconds)
        );
        for step in &wave.steps {
            let _ = writeln!(out, "<li>{}</li>", inline_html(&step.text));
        }
        if !wave.back.is_empty() {
            let back: Vec<&str> = wave.back.iter().map(|step| step.text.as_str()).collect();
            let _ = writeln!(out, "<li class=\"muted\">rollback: {}</li>", inline_html(&back.join("; ")));
        }
        out.push_str("</ul></li>\n");
    }
    let all = report.waves.iter().map(|wave| wave.seconds).sum();
    let _ = writeln!(out, "</ol>\n<p>Total: about {}.</p>", Seconds(all));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_with_one_arrow_is_split() {
        let line = |sign, text: &str| Line {
            sign,
            subject: "x".to_owned(),
            text: text.to_owned(),
            count: 1,
            warning: None,
            names: Vec::new(),
        };
        let both = line(Sign::Change, "downlinks in use of each T0: 128 -> 256");
        assert_eq!(split_change(&both), (Some("downlinks in use of each T0"), "128", "256"));
        assert_eq!(split_change(&line(Sign::Change, "200G -> 400G")), (None, "200G", "400G"));
        let renamed = line(Sign::Change, "4 renamed, `a` -> `b` and so on (`x` -> `y`)");
        assert_eq!(split_change(&renamed), (Some(renamed.text.as_str()), "", ""));
        assert_eq!(split_change(&line(Sign::Remove, "2 T1s")), (None, "2 T1s", ""));
    }
}
