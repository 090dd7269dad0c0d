//! A drawing as SVG.
//!
//! In: a drawing. Out: SVG. Invariants: boxes of a row do not overlap, and text is in its box or beside its line. A
//! drawing in its own file contains its colours, light and dark.

use std::fmt::Write as _;

use super::{Drawing, Node};
use crate::text::escape;

/// Minimum width of a column.
const COLUMN: usize = 176;
/// Space between two boxes.
const GAP: usize = 16;
const ROW: usize = 96;
const TALL: usize = 46;
const MARGIN: usize = 12;
const HEAD: usize = 30;
/// Distance of a line from the left edge of its box.
const BESIDE: usize = 16;

/// Source of the colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// The drawing is in a separate file.
    Own,
    /// The drawing is in a page that has a style sheet.
    OfPage,
}

const SHEET: &str = "<style>svg{background:#fff}text{fill:#1c2126;font:12px system-ui,'DejaVu Sans',sans-serif}.title,.group{font-weight:600}.muted{fill:#55606b}\
.paper{fill:#fff}\
.line{fill:none;stroke:#8b959e;stroke-width:1.2}.box{stroke:#8b959e}.frame{fill:none;stroke:#c9d0d6}\
.b0{fill:#d7e6f5}.b1{fill:#dcebdc}.b2{fill:#f1e3cc}.bn{fill:#e8e2f2}\
@media(prefers-color-scheme:dark){svg{background:#14181c}text{fill:#e3e7ea}.muted{fill:#a3adb6}.paper{fill:#14181c}.frame{stroke:#3d464e}\
.b0{fill:#1e3a54}.b1{fill:#22412c}.b2{fill:#4a3a1d}.bn{fill:#38304b}}</style>\n";

/// Writes a drawing.
pub(super) fn write(drawing: &Drawing, style: Style) -> String {
    let columns = drawing.nodes.iter().map(|node| node.column + node.span).max().unwrap_or(1);
    // A drawing in its own file has a title above the names of its groups.
    let head = if style == Style::Own { 2 * HEAD } else { HEAD };
    let rows = drawing.nodes.iter().map(|node| node.row + 1).max().unwrap_or(1);
    let grid = Grid::of(drawing);
    let title = if style == Style::Own { drawing.title.chars().count() * 76 / 10 } else { 0 };
    let width = (columns * grid.column).max(title) + 2 * MARGIN;
    let height = head + top(rows - 1) + TALL + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\">\n",
        escape(&drawing.title)
    );
    if style == Style::Own {
        let _ = writeln!(out, "<title>{}</title>", escape(&drawing.title));
        out.push_str(SHEET);
        text(&mut out, "title", (MARGIN, 18), "start", &drawing.title);
    }
    groups(&mut out, drawing, grid, head);
    cables(&mut out, drawing, grid, head);
    for node in &drawing.nodes {
        let (x, y, wide) = (grid.x_offset(node), head + top(node.row), grid.wide(node.span));
        let middle = x + wide / 2;
        let _ = writeln!(
            out,
            "<rect class=\"box {}\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{TALL}\" rx=\"5\"/>",
            node.kind.class()
        );
        let second = if node.detail.is_empty() { 28 } else { 20 };
        text(&mut out, "", (middle, y + second), "middle", &node.text);
        text(&mut out, "muted", (middle, y + 36), "middle", &node.detail);
    }
    out.push_str("</svg>\n");
    out
}

/// Draws the cables between boxes, and their texts.
fn cables(out: &mut String, drawing: &Drawing, grid: Grid, head: usize) {
    for edge in &drawing.edges {
        let (upper, lower) = (&drawing.nodes[edge.upper], &drawing.nodes[edge.lower]);
        let (from_y, to_y) = (head + top(upper.row) + TALL, head + top(lower.row));
        if drawing.row_captions.iter().any(|(row, _)| *row == lower.row) {
            let [from_x, to_x] = [upper, lower].map(|node| grid.x_offset(node) + grid.wide(node.span) / 2);
            let _ = writeln!(out, "<path class=\"line\" d=\"M{from_x} {from_y}L{to_x} {to_y}\"/>");
            continue;
        }
        // The line is at the left edge of the narrower box, so that the text beside it has the width of this box.
        let narrow = if upper.span > lower.span { lower } else { upper };
        let x = grid.x_offset(narrow) + BESIDE;
        let _ = writeln!(out, "<path class=\"line\" d=\"M{x} {from_y}V{to_y}\"/>");
        text(out, "muted", (x + 6, usize::midpoint(from_y, to_y) + 4), "start", &edge.text);
    }
    for (row, content) in &drawing.row_captions {
        let columns = drawing.nodes.iter().map(|node| node.column + node.span).max().unwrap_or(1);
        let (middle, y) = (MARGIN + grid.wide(columns) / 2, head + top(*row) - (ROW - TALL) / 2);
        let wide = content.chars().count() * 66 / 10;
        let (x, y_top) = (middle.saturating_sub(wide / 2), y - 9);
        let _ =
            writeln!(out, "<rect class=\"paper\" x=\"{x}\" y=\"{y_top}\" width=\"{wide}\" height=\"18\"/>");
        text(out, "muted", (middle, y + 4), "middle", content);
    }
}

/// Widths of a drawing.
#[derive(Clone, Copy)]
struct Grid {
    column: usize,
}

impl Grid {
    /// Makes columns wide enough for the longest text of a box: a character takes 6.6 units on average.
    fn of(drawing: &Drawing) -> Grid {
        let needs = |node: &Node| {
            let longest = node.text.chars().count().max(node.detail.chars().count());
            (longest * 66 / 10 + GAP / 2 + GAP).div_ceil(node.span.max(1))
        };
        Grid { column: drawing.nodes.iter().map(needs).max().unwrap_or(0).max(COLUMN) }
    }

    fn x_offset(self, node: &Node) -> usize {
        MARGIN + node.column * self.column
    }

    /// Returns the width of a box that spans several columns.
    fn wide(self, span: usize) -> usize {
        span * self.column - GAP
    }
}

fn top(row: usize) -> usize {
    MARGIN + row * ROW
}

/// Writes the name of each group above its columns.
fn groups(out: &mut String, drawing: &Drawing, grid: Grid, head: usize) {
    for (at, name) in drawing.groups.iter().enumerate() {
        let mine = drawing.nodes.iter().filter(|node| node.group == Some(at));
        let Some(first) = mine.clone().map(|node| node.column).min() else { continue };
        let last = mine.map(|node| node.column + node.span).max().unwrap_or(first + 1);
        let (x, y) = (MARGIN + first * grid.column, MARGIN + head - 14);
        text(out, "group", (x + grid.wide(last - first) / 2, y), "middle", name);
    }
}

fn text(out: &mut String, class: &str, (x, y): (usize, usize), anchor: &str, content: &str) {
    if !content.is_empty() {
        let _ = writeln!(
            out,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
            escape(content)
        );
    }
}
