//! A report for the terminal.
//!
//! In: a report. Out: text. Invariants: the same figures as the JSON form, in percent.

use std::fmt::Write as _;

use crate::report::{Method, Report};

/// Maximum number of uncarried demands shown.
const UNPLACED_SHOWN: usize = 10;

/// Writes a report for a terminal.
pub fn human(report: &Report) -> String {
    let mut text = format!(
        "{}: {} of {} carried ({})\n",
        report.fabric,
        rate(report.carried_gbps),
        rate(report.demand_gbps),
        report.routing
    );
    if !report.failed.is_empty() {
        let _ = writeln!(text, "broken: {}", report.failed.join(", "));
    }
    text.push_str("\nmost loaded cable\n");
    for method in &report.methods {
        let name = method_label(method.name, report.ecmp);
        let _ = writeln!(text, "  {name:<25} {:>9}", percent(method.max));
    }
    let _ = writeln!(text, "  {:<25} {:>9}  {}", "lower bound", percent(report.bound), report.proof);
    tiers(&mut text, report);
    if !report.hottest.is_empty() {
        text.push_str("\nfullest cables                                    te  ecmp fluid  ecmp hashed\n");
    }
    for hot in &report.hottest {
        let planes = if hot.planes > 1 { format!("  in {} planes", hot.planes) } else { String::new() };
        let _ = writeln!(
            text,
            "  {:<28} {:<10} {:>9}  {:>10}  {:>11}{planes}",
            hot.cable,
            hot.direction,
            percent(hot.te),
            percent(hot.ecmp_fluid),
            percent(hot.ecmp_hashed)
        );
    }
    if !report.unplaced.is_empty() {
        text.push_str("\nnot carried\n");
    }
    for left in report.unplaced.iter().take(UNPLACED_SHOWN) {
        let _ = writeln!(text, "  {:>10}  {} to {}: {}", rate(left.gbps), left.from, left.to, left.why);
    }
    let more = report.unplaced.len().saturating_sub(UNPLACED_SHOWN) + report.unplaced_more;
    if more > 0 {
        let _ = writeln!(text, "  and {more} more {}", if more == 1 { "pair" } else { "pairs" });
    }
    let _ = writeln!(text, "\n{}", pins(report));
    if !report.balanced.is_empty() {
        let _ = writeln!(text, "as placed, switches balance: {}", report.balanced.join(", "));
    }
    if !report.not_counted.is_empty() {
        let own = report.not_counted.join(" and ");
        let _ = writeln!(text, "not counted: {own} of the file; the figures are for the fabric without it");
    }
    text
}

fn tiers(text: &mut String, report: &Report) {
    let _ = writeln!(text, "\n{:<10} {:>10}{}", "cables", "", heads(&report.methods));
    let tiers = report.methods.first().map_or(0, |method| method.tiers.len());
    for tier in 0..tiers {
        let first = &report.methods[0].tiers[tier];
        let _ = write!(text, "{:<10} {:>10}", first.tier, first.figures.cables);
        for method in &report.methods {
            let figures = &method.tiers[tier].figures;
            let (max, mean, p99) = (percent(figures.max), percent(figures.mean), percent(figures.p99));
            let _ = write!(text, "  {max:>8} {mean:>8} {p99:>8}");
        }
        text.push('\n');
    }
}

fn pins(report: &Report) -> String {
    let gap = percent(report.gap);
    match report.pins {
        0 => format!("no pins; the fabric without pins is {gap} above the bound"),
        1 => format!("1 pin; the placement is {gap} above the bound"),
        pins => format!("{pins} pins; the placement is {gap} above the bound"),
    }
}

fn method_label<'a>(method: &'a str, ecmp: &str) -> &'a str {
    match (method, ecmp) {
        ("te", _) => "as placed",
        ("ecmp-fluid", "weighted") => "weighted ECMP, as a fluid",
        ("ecmp-hashed", "weighted") => "weighted ECMP, hashed",
        ("ecmp-fluid", _) => "ECMP, as a fluid",
        ("ecmp-hashed", _) => "ECMP, hashed",
        (other, _) => other,
    }
}

fn heads(methods: &[Method]) -> String {
    methods.iter().fold(String::new(), |mut text, method| {
        let _ = write!(text, "  {:<26}", format!("{}: max mean p99", method.name));
        text
    })
}

/// Writes a utilisation.
fn percent(part: f64) -> String {
    format!("{:.2} %", part * 100.0)
}

/// Writes a rate in a suitable unit.
fn rate(gbps: f64) -> String {
    match gbps {
        small if small < 1000.0 => format!("{small:.1} Gb/s"),
        large if large < 1e6 => format!("{:.2} Tb/s", large / 1e3),
        huge => format!("{:.2} Pb/s", huge / 1e6),
    }
}
