//! Goodput over time as SVG, with a mark for every step.
//!
//! In: reports of one scenario. Out: an SVG document. Invariants: the same reports give the same bytes. Names of the
//! scenario are escaped, and the document does not refer to other files.

use std::fmt::Write as _;

use super::report::Report;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 420.0;
/// Margins around the curves.
const LEFT: f64 = 60.0;
const TOP: f64 = 120.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 40.0;
/// Colours that are distinguishable for colour-blind readers (Okabe and Ito).
const COLOURS: [&str; 3] = ["#0072b2", "#d55e00", "#009e73"];

struct Scale {
    seconds: f64,
    mbps: f64,
}

impl Scale {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * seconds / self.seconds
    }

    fn y(&self, mbps: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * mbps / self.mbps
    }
}

/// Draws jobs.
pub fn svg(title: &str, reports: &[Report]) -> String {
    let points = || reports.iter().flat_map(|report| report.curve.iter());
    let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(0.0, f64::max);
    let scale = Scale { seconds: step_above(most(|p| p.0)), mbps: step_above(most(|p| p.1)) };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"20\" font-size=\"15\">{}</text>", escape(title));
    axes(&mut out, &scale);
    if let Some(first) = reports.first() {
        plan(&mut out, &scale, first);
        marks(&mut out, &scale, first);
    }
    for (at, report) in reports.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let line: Vec<String> = report
            .curve
            .iter()
            .map(|(seconds, mbps)| format!("{:.1},{:.1}", scale.x(*seconds), scale.y(*mbps)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
            line.join(" ")
        );
        let (x, name) = (LEFT + 110.0 * at as f64, escape(&report.setting.transport));
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"40\" fill=\"{colour}\">{name}</text>");
    }
    out + "</svg>\n"
}

/// Returns the smallest round number at or above a value.
fn step_above(value: f64) -> f64 {
    let magnitude = 10f64.powf(value.max(0.1).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * magnitude).find(|round| *round >= value).unwrap_or(value)
}

fn axes(out: &mut String, scale: &Scale) {
    for part in 0..=5 {
        let share = f64::from(part) / 5.0;
        let (mbps, seconds) = (scale.mbps * share, scale.seconds * share);
        let (y, x) = (scale.y(mbps), scale.x(seconds));
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n<text x=\"{:.1}\" \
             y=\"{:.1}\" text-anchor=\"end\">{mbps:.0}</text>\n<text x=\"{x:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{seconds:.1} s</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0,
            HEIGHT - BOTTOM + 18.0,
        );
    }
    let _ = writeln!(out, "<text x=\"8\" y=\"{:.1}\">Mb/s</text>", TOP - 12.0);
}

/// The expected goodput, as a thin stepped line.
fn plan(out: &mut String, scale: &Scale, report: &Report) {
    let Some(before) = report.before_mbps else { return };
    let mut line = Vec::new();
    for phase in &report.phases {
        let y = scale.y((before * phase.plan_percent / 100.0).min(scale.mbps));
        line.extend([phase.span_s.0, phase.span_s.1].map(|s| format!("{:.1},{y:.1}", scale.x(s))));
    }
    let _ = writeln!(
        out,
        "<polyline fill=\"none\" stroke=\"#888888\" stroke-dasharray=\"4 3\" points=\"{}\"/>",
        line.join(" ")
    );
}

fn marks(out: &mut String, scale: &Scale, report: &Report) {
    for (at, step) in report.steps.iter().enumerate() {
        let x = scale.x(step.at_s);
        let (y, what) = (56.0 + 14.0 * (at % 4) as f64, escape(&step.what));
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#999999\"/>\n<text x=\"{:.1}\" \
             y=\"{:.1}\" fill=\"#555555\">{what}</text>",
            HEIGHT - BOTTOM,
            x + 3.0,
            y + 8.0,
        );
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!((step_above(7.3), step_above(10.0), step_above(213.0)), (10.0, 10.0, 500.0));
        assert!(step_above(0.0) > 0.0);
    }

    #[test]
    fn names_cannot_leave_their_place() {
        let drawn = svg("<script>\"&", &[]);
        assert!(drawn.contains("&lt;script&gt;&quot;&amp;") && !drawn.contains("<script"));
        assert!(drawn.ends_with("</svg>\n"));
    }
}
