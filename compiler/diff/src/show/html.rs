//! A report as one page without anything to load.

use std::fmt::Write as _;

use closc_diagnostics::printable;

use crate::report::{Report, Sign};

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Fabric difference</title>\n\
<style>\nbody { font: 15px/1.5 sans-serif; margin: 2em; max-width: 70em }\ntd { padding: 0 1em 0 0; vertical-align: top }\n\
.add { color: #176f2c } .change { color: #8a6100 } .remove { color: #b3261e }\nstrong { color: #b3261e }\n\
pre { background: #f4f4f4; padding: 1em; overflow-x: auto }\n</style>\n";

/// Writes a report as a page.
pub fn draw(report: &Report) -> String {
    let mut out = String::from(HEAD);
    let _ = writeln!(out, "<h1>{} &rarr; {}</h1>", escape(&report.old.source), escape(&report.new.source));
    if report.is_empty() && report.texts.is_empty() {
        out.push_str("<p>Both mean the same.</p>\n");
        return out;
    }
    out.push_str("<table>\n");
    for line in &report.changes {
        let class = match line.sign {
            Sign::Add => "add",
            Sign::Change => "change",
            Sign::Remove => "remove",
        };
        let warning = line.warning.as_ref();
        let warning =
            warning.map_or_else(String::new, |warning| format!(" <strong>{}</strong>", escape(warning)));
        let _ = writeln!(
            out,
            "<tr class=\"{class}\"><td>{}<td>{}<td>{}{warning}",
            line.sign.symbol(),
            escape(&line.subject),
            escape(&line.text)
        );
    }
    out.push_str("</table>\n");
    section(&mut out, "Impact", &super::impact(report));
    section(&mut out, "Rollout", report.rollout.as_ref().map_or(&[], |rollout| &rollout.steps));
    section(&mut out, "Artefacts", super::artefacts(report).as_slice());
    let waves = super::waves(report);
    if !waves.is_empty() {
        let _ = writeln!(out, "<h2>Waves</h2>\n<pre>{}</pre>", escape(&waves.join("\n")));
    }
    for text in &report.texts {
        let _ = writeln!(out, "<pre>{}</pre>", escape(text));
    }
    out
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "<h2>{title}</h2>\n<ul>");
    for line in lines {
        let _ = writeln!(out, "<li>{}", escape(line));
    }
    out.push_str("</ul>\n");
}

fn escape(text: &str) -> String {
    printable::lines(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
