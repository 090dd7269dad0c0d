//! Reports of jobs as text and tables.
//!
//! In: reports of one scenario, side by side. Out: text. Invariants: unknown values are shown as a dash.

use std::fmt::Write as _;

use super::report::{Report, Setting, SwitchCounters};

/// Style of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Markdown,
}

/// Writes jobs for a terminal.
pub fn human(title: &str, reports: &[Report]) -> String {
    write(title, reports, Style::Plain)
}

/// Writes jobs in Markdown.
pub fn markdown(title: &str, reports: &[Report]) -> String {
    write(title, reports, Style::Markdown)
}

fn write(title: &str, reports: &[Report], style: Style) -> String {
    let mut out = String::new();
    let Some(first) = reports.first() else { return out };
    let setting = &first.setting;
    let mut what = format!(
        "{} of {} NICs, messages of {} bytes, ports of {} Mb/s",
        setting.pattern, setting.nics, setting.message_bytes, setting.port_mbps
    );
    what += &circumstances(setting);
    let _ = match (style, title) {
        (Style::Plain, "") => writeln!(out, "{what}"),
        (Style::Plain, title) => writeln!(out, "{title}: {what}"),
        (Style::Markdown, "") => writeln!(out, "## Job\n\n{what}\n"),
        (Style::Markdown, title) => writeln!(out, "## {title}\n\n{what}\n"),
    };
    out += &table(style, &jobs(reports));
    for report in reports {
        let name = &report.setting.transport;
        if report.phases.len() > 1 {
            heading(&mut out, style, &format!("{name}: goodput between steps"));
            out += &table(style, &phases(report));
        }
        if !report.steps.is_empty() {
            heading(&mut out, style, &format!("{name}: impact of steps"));
            out += &table(style, &steps(report));
        }
        let states: Vec<String> = report.states.by.iter().map(|(what, n)| format!("{what} {n}")).collect();
        if !states.is_empty() {
            let paths = if report.states.paths == 1 {
                "1 path".to_owned()
            } else {
                format!("{} paths", report.states.paths)
            };
            let list = states.join(", ");
            let _ = writeln!(out, "{}{name}: states of {paths} changed: {list}", gap(style));
        }
        if let Some(switched) = &report.switches {
            let _ = writeln!(out, "{}{name}: {}", gap(style), queues(switched));
        }
        if report.messages.resent > 0 || report.messages.lost_packets > 0 {
            let _ = writeln!(out, "{}{name}: {}", gap(style), format_retransmissions(report));
        }
        if report.forgotten > 0 {
            let _ =
                writeln!(out, "{}{name}: {} losses or changes were not seen", gap(style), report.forgotten);
        }
    }
    for report in reports {
        let name = &report.setting.transport;
        for unmet in &report.unmet {
            let (gap, expected) = (gap(style), unmet.expected);
            let _ = writeln!(out, "{gap}{name}: expectation not met: {expected}: {}", unmet.found);
        }
        if report.is_met() {
            let _ = writeln!(out, "{}{name}: all expectations are met", gap(style));
        }
    }
    out
}

/// Bursts, pauses of agents, and the seed of virtual time.
fn circumstances(setting: &Setting) -> String {
    let mut what = String::new();
    if let Some(every_ms) = setting.every_ms {
        let _ = write!(what, ", {} per NIC every {every_ms} ms", setting.outstanding);
    }
    if let Some(stall_ms) = setting.stall_ms {
        let _ = write!(what, ", agents that stall for up to {stall_ms} ms at random");
    }
    if setting.virtual_time {
        let _ = write!(what, ", virtual time, seed {}", setting.seed);
    }
    what
}

fn format_retransmissions(report: &Report) -> String {
    let m = &report.messages;
    let (lost, resent, repeated) = (m.lost_packets, m.resent, m.repeated);
    let probes = match m.lost_probes {
        0 => String::new(),
        probes => format!(" ({probes} of them probes without data)"),
    };
    format!("{lost} packets were lost{probes}, {resent} were retransmitted, {repeated} of them arrived twice")
}

fn gap(style: Style) -> &'static str {
    if style == Style::Markdown { "\n" } else { "" }
}

fn heading(out: &mut String, style: Style, text: &str) {
    let _ = match style {
        Style::Plain => writeln!(out, "{text}"),
        Style::Markdown => writeln!(out, "\n### {text}\n"),
    };
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn jobs(reports: &[Report]) -> Vec<Vec<String>> {
    let mut rows = vec![row([
        "transport",
        "messages",
        "lost",
        "Mb/s",
        "before",
        "lowest %",
        "p50 ms",
        "p99 ms",
        "p99.9 ms",
        "slowest",
        "resent",
        "job s",
    ])];
    for report in reports {
        let m = &report.messages;
        rows.push(vec![
            report.setting.transport.clone(),
            m.sent.to_string(),
            m.lost.to_string(),
            number(report.mean_mbps, 1),
            number(report.before_mbps, 1),
            number(report.lowest_percent, 1),
            number(m.p50_ms, 1),
            number(m.p99_ms, 1),
            number(m.p999_ms, 1),
            number(m.slowest_ms, 1),
            m.resent.to_string(),
            format!("{:.2}", report.job_s),
        ]);
    }
    rows
}

/// Effects of queues in switches: ECN marking, trimming, drops.
fn queues(SwitchCounters { ecn_marked, trimmed, dropped, full }: &SwitchCounters) -> String {
    let ports: Vec<String> = full.iter().map(|(port, n)| format!("{port} {n}")).collect();
    let most = if ports.is_empty() { String::new() } else { format!(" (most at {})", ports.join(", ")) };
    format!(
        "switches marked {ecn_marked} packets with ECN, trimmed {trimmed} and dropped {dropped} at full \
         queues{most}"
    )
}

fn phases(report: &Report) -> Vec<Vec<String>> {
    let mut rows = vec![row(["from s", "to s", "paths %", "plan %", "measured %", "after"])];
    for phase in &report.phases {
        rows.push(vec![
            format!("{:.1}", phase.span_s.0),
            format!("{:.1}", phase.span_s.1),
            format!("{:.2}", phase.paths_percent),
            format!("{:.2}", phase.plan_percent),
            number(phase.percent, 2),
            phase.after.clone().unwrap_or_else(|| "the first message".to_owned()),
        ]);
    }
    rows
}

fn steps(report: &Report) -> Vec<Vec<String>> {
    let mut rows =
        vec![row(["at s", "lost packets", "last lost ms", "after signal us", "back after ms", "step"])];
    for step in &report.steps {
        let what = match &step.failed {
            Some(why) => format!("{}: NOT DONE: {why}", step.what),
            None => step.what.clone(),
        };
        rows.push(vec![
            format!("{:.1}", step.at_s),
            step.lost_packets.to_string(),
            number(step.last_lost_ms, 1),
            number(step.after_signal_us, 0),
            number(step.recovered_ms, 0),
            what,
        ]);
    }
    rows
}

/// Aligns rows; the first is the heading. Columns of numbers are right-aligned.
fn table(style: Style, rows: &[Vec<String>]) -> String {
    let count = rows.first().map_or(0, Vec::len);
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let is_text =
        |at: usize| rows[1..].iter().any(|row| row[at].starts_with(|sign: char| sign.is_alphabetic()));
    let mut out = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let width = widths[at];
            if is_text(at) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        let cells: Vec<String> = cells.collect();
        let _ = match style {
            Style::Plain => writeln!(out, "  {}", cells.join("  ").trim_end()),
            Style::Markdown => writeln!(out, "| {} |", cells.join(" | ")),
        };
        if number == 0 && style == Style::Markdown {
            let line = |at: usize| if is_text(at) { ":---" } else { "---:" };
            let _ = writeln!(out, "|{}|", (0..count).map(line).collect::<Vec<_>>().join("|"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_markdown_has_a_head() {
        let rows = vec![row(["n", "what"]), row(["7", "one"]), row(["12", "two"])];
        assert_eq!(table(Style::Plain, &rows), "   n  what\n   7  one\n  12  two\n");
        assert_eq!(
            table(Style::Markdown, &rows),
            "|  n | what |\n|---:|:---|\n|  7 | one  |\n| 12 | two  |\n"
        );
    }
}
