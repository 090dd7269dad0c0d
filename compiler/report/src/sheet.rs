//! Designs side by side as a page: a table, plots, and a drawing of each.
//!
//! In: a [`Sheet`]. Out: an HTML file that loads nothing and has no script. Invariants: text from input is escaped; an
//! absent figure is a dash in the table and has no point in a plot.

use std::fmt::Write as _;

use closc_diagnostics::figures::number;

use crate::text::{escape, fill, inline_html};

const FRAME: &str = include_str!("page/difference.html");
const STYLE: &str = include_str!("page/page.css");
const SHEET: &str = include_str!("page/sheet.css");

/// Designs to show.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// Title of the page.
    pub title: String,
    /// A sentence below the title.
    pub note: String,
    /// Titles of the rows of the table.
    pub columns: Vec<&'static str>,
    /// The designs, in their order.
    pub designs: Vec<SheetDesign>,
    /// The plots.
    pub plots: Vec<Plot>,
    /// Remarks on all designs, below the plots.
    pub remarks: Remarks,
}

/// Remarks with a title.
#[derive(Debug, Clone, Default)]
pub struct Remarks {
    /// The title.
    pub title: &'static str,
    /// The remarks. Without any, the title is omitted.
    pub lines: Vec<String>,
}

/// A design.
#[derive(Debug, Clone)]
pub struct SheetDesign {
    /// Its title.
    pub title: String,
    /// Its cells, one for each title in [`Sheet::columns`].
    pub cells: Vec<String>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Its drawing as SVG.
    pub drawing: String,
}

/// A plot of a figure against the bisection.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Name of the figure.
    pub figure: &'static str,
    /// Points: the number of a design, its bisection in Gb/s, and its figure.
    pub points: Vec<(usize, u64, u64)>,
    /// A sentence about designs without a point.
    pub absent: &'static str,
}

/// Writes the page.
pub fn sheet(sheet: &Sheet) -> String {
    let mut body = table(sheet);
    for plot in &sheet.plots {
        body.push_str(&self::plot(plot));
    }
    if !sheet.remarks.lines.is_empty() {
        let _ = writeln!(body, "<h2>{}</h2>", escape(sheet.remarks.title));
    }
    for line in &sheet.remarks.lines {
        let _ = writeln!(body, "<p class=\"note\">{}</p>", inline_html(line));
    }
    for (at, design) in sheet.designs.iter().enumerate() {
        let _ = writeln!(body, "<h2 id=\"design-{0}\">{0}. {1}</h2>", at + 1, escape(&design.title));
        for note in &design.notes {
            let _ = writeln!(body, "<p class=\"note\">{}</p>", inline_html(note));
        }
        let _ = writeln!(
            body,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Drawing of design {}\">\n{}</div>",
            at + 1,
            design.drawing
        );
    }
    let style = [STYLE, SHEET].concat();
    fill(
        FRAME,
        &[
            ("{{title}}", &escape(&sheet.title)),
            ("{{style}}", &style),
            ("{{from}}", &inline_html(&sheet.note)),
            ("{{body}}", &body),
        ],
    )
}

/// Writes a row per figure and a column per design, so that a page of usual width has room for eight designs.
fn table(sheet: &Sheet) -> String {
    let mut out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Numbers of the designs\">\n<table>\n<thead><tr><th scope=\"col\">design</th>".to_owned();
    for at in 1..=sheet.designs.len() {
        let _ = write!(out, "<th scope=\"col\" class=\"n\"><a href=\"#design-{at}\">{at}</a></th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (at, column) in sheet.columns.iter().enumerate() {
        let cells = || sheet.designs.iter().map(|design| design.cells.get(at).map_or("", String::as_str));
        if cells().all(str::is_empty) {
            continue;
        }
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(column));
        for cell in cells() {
            let _ = write!(
                out,
                "<td class=\"n\">{}</td>",
                if cell.is_empty() { "–".to_owned() } else { figure(cell) }
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    out
}

/// Writes whole numbers with separators, and other text as it is.
fn figure(cell: &str) -> String {
    let word = |word: &str| word.parse::<u64>().map_or_else(|_| escape(word), number);
    cell.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 96.0;
const BOTTOM: f64 = 44.0;
const TOP: f64 = 14.0;
const RIGHT: f64 = 44.0;
/// Maximum width of a character of a label.
const LETTER: f64 = 8.0;
/// Height of a line of a label.
const LINE: f64 = 14.0;

fn plot(plot: &Plot) -> String {
    let name = escape(plot.figure);
    let mut out = format!("<h2>{}{} and bisection</h2>\n", name[..1].to_uppercase(), &name[1..]);
    let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(plot.absent));
    if plot.points.is_empty() {
        out.push_str("<p>No design has this figure.</p>\n");
        return out;
    }
    let (xs, ys) = (
        Axis::over(plot.points.iter().map(|point| point.1)),
        Axis::over(plot.points.iter().map(|point| point.2)),
    );
    let x = |value: u64| LEFT + xs.share(value) * (WIDTH - LEFT - RIGHT);
    let y = |value: u64| HEIGHT - BOTTOM - ys.share(value) * (HEIGHT - BOTTOM - TOP);
    let _ = writeln!(
        out,
        "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{name} and bisection\">"
    );
    for tick in ys.ticks() {
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {0:.1}H{1}\"/><text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{4}</text>",
            y(tick),
            WIDTH - RIGHT,
            LEFT - 8.0,
            y(tick) + 4.0,
            number(tick)
        );
    }
    for tick in xs.ticks() {
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{0:.1} {TOP}V{1}\"/><text x=\"{0:.1}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>",
            x(tick),
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 18.0,
            number(tick)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">bisection, Gb/s</text>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        HEIGHT - 6.0
    );
    points(&mut out, plot, &x, &y);
    out.push_str("</svg>\n");
    out
}

/// Draws the points. Designs at the same position share one, whose label has all their numbers.
fn points(out: &mut String, plot: &Plot, x: &dyn Fn(u64) -> f64, y: &dyn Fn(u64) -> f64) {
    let mut places: Vec<((u64, u64), Vec<String>)> = Vec::new();
    for (design, across, up) in &plot.points {
        match places.iter_mut().find(|(place, _)| *place == (*across, *up)) {
            Some((_, designs)) => designs.push(design.to_string()),
            None => places.push(((*across, *up), vec![design.to_string()])),
        }
    }
    // Place labels from bottom to top. A label that would overlap another one moves up.
    places.sort_by_key(|(place, _)| (place.1, place.0));
    let mut labels: Vec<Label> =
        places.iter().map(|(place, designs)| label(place, designs, (x, y))).collect();
    for at in 1..labels.len() {
        let (below, rest) = labels.split_at_mut(at);
        let label = &mut rest[0];
        for other in below {
            if label.is_beside(other) && (label.base - other.base).abs() < LINE {
                label.base = other.base - LINE;
            }
        }
    }
    // Then move labels down from the top, so that none leaves the plot.
    for at in (0..labels.len()).rev() {
        let (rest, above) = labels.split_at_mut(at + 1);
        let lowest = above.iter().filter(|other| other.is_beside(&rest[at])).map(|other| other.base + LINE);
        rest[at].base = lowest.fold(rest[at].base.max(LINE), f64::max);
    }
    for (((across, up), designs), label) in places.iter().zip(&labels) {
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\"><title>design {designs}: {} Gb/s, {}</title></circle><text class=\"at\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\">{designs}</text>",
            x(*across),
            y(*up),
            number(*across),
            number(*up),
            label.x,
            label.base,
            label.anchor,
            designs = designs.join(", ")
        );
    }
}

/// The label of a point.
struct Label {
    /// Its left and right end.
    ends: [f64; 2],
    /// Its anchor.
    x: f64,
    anchor: &'static str,
    /// The line it is written on.
    base: f64,
}

impl Label {
    /// Returns whether the label shares columns with another one.
    fn is_beside(&self, other: &Label) -> bool {
        self.ends[0] < other.ends[1] && other.ends[0] < self.ends[1]
    }
}

/// A position in a plot.
type Position<'a> = (&'a dyn Fn(u64) -> f64, &'a dyn Fn(u64) -> f64);

/// Returns the label beside a point.
fn label((across, up): &(u64, u64), designs: &[String], (x, y): Position<'_>) -> Label {
    let width = LETTER * designs.join(", ").len() as f64;
    let (across, base) = (x(*across), y(*up) + 4.0);
    if across > WIDTH * 0.8 {
        let x = across - 9.0;
        return Label { ends: [x - width, x], x, anchor: "end", base };
    }
    let x = across + 9.0;
    Label { ends: [x, x + width], x, anchor: "start", base }
}

/// An axis from 0 to a round number, which no value exceeds.
struct Axis {
    step: u64,
    steps: u64,
}

impl Axis {
    fn over(values: impl Iterator<Item = u64>) -> Self {
        let most = values.max().unwrap_or(0).max(1);
        let mut decade = 1;
        loop {
            for step in [decade, 2 * decade, 5 * decade] {
                if most.div_ceil(step) <= 5 {
                    return Axis { step, steps: most.div_ceil(step) };
                }
            }
            decade *= 10;
        }
    }

    fn share(&self, value: u64) -> f64 {
        value as f64 / (self.step as f64 * self.steps as f64)
    }

    fn ticks(&self) -> impl Iterator<Item = u64> {
        let step = self.step;
        (0..=self.steps).map(move |tick| tick.saturating_mul(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        for (most, wanted) in
            [(0, 1), (1, 1), (7, 8), (940, 1000), (1001, 1500), (u64::MAX / 100, u64::MAX / 100)]
        {
            let axis = Axis::over([most].into_iter());
            let end = axis.step * axis.steps;
            assert!(end >= most.max(1) && axis.steps <= 5, "{most}");
            assert!(wanted == u64::MAX / 100 || end == wanted, "{most}: {end}");
        }
    }

    /// A sum of prices can be as large as `u64::MAX`.
    #[test]
    fn axes_hold_the_largest_numbers() {
        let axis = Axis::over([u64::MAX].into_iter());
        assert_eq!(axis.ticks().last(), Some(u64::MAX));
        assert!(axis.share(u64::MAX) <= 1.0);
    }

    #[test]
    fn input_is_escaped_and_absent_figures_have_no_point() {
        let design = |cell: &str| SheetDesign {
            title: "<b>".to_owned(),
            cells: vec![cell.to_owned()],
            notes: Vec::new(),
            drawing: String::new(),
        };
        let plots = vec![
            Plot { figure: "power", points: Vec::new(), absent: "none" },
            Plot { figure: "cost", points: vec![(1, 10, 5), (2, 10, 5)], absent: "" },
        ];
        let columns = vec!["switches"];
        let designs = vec![design("1200"), design("")];
        let remarks = Remarks { title: "<u>", lines: vec!["<i> `key`".to_owned()] };
        let page =
            sheet(&Sheet { title: "t".to_owned(), note: "`a`".to_owned(), columns, designs, plots, remarks });
        assert!(page.contains("&lt;u&gt;") && page.contains("&lt;i&gt; <code>key</code>"), "{page}");
        assert!(page.contains("<code>a</code>"), "{page}");
        assert!(page.contains("1. &lt;b&gt;") && !page.contains("<b>"), "{page}");
        assert!(page.contains("1,200") && page.contains("<td class=\"n\">–</td>"), "{page}");
        assert!(page.contains("No design has this figure") && page.matches("<circle").count() == 1, "{page}");
        assert!(page.contains(">1, 2</text>"), "{page}");
    }
}
