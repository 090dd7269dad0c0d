//! Drawings: boxes with counts and the cables between them, as SVG and as DOT.
//!
//! In: a plan and a [`Subject`], or the tiers that a difference changes. Out: SVG or DOT. Invariants: the same plan
//! gives the same bytes. Equal elements share one box with a count, so that a plane of a million NICs in
//! 16 zones has 49 boxes. Names from input are escaped.

mod dot;
mod rows;
mod subject;
mod svg;

use std::collections::BTreeMap;

use closc_diagnostics::figures::number;
use closc_diff::TouchedTier;
use closc_plan::Plan;

pub use subject::Subject;
pub(crate) use subject::cable_counts;
use svg::Style;

/// A file format of drawings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Scalable vector graphics.
    Svg,
    /// Graphviz.
    Dot,
}

/// Kind of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    T0,
    T1,
    T2,
    Nic,
    /// In a difference: a tier without changes.
    Untouched,
}

impl Kind {
    /// The class in style sheets.
    fn class(self) -> &'static str {
        match self {
            Kind::T0 => "b0",
            Kind::T1 => "b1",
            Kind::T2 => "b2",
            Kind::Nic => "bn",
            Kind::Untouched => "frame",
        }
    }

    /// The colour without a style sheet.
    fn colour(self) -> &'static str {
        match self {
            Kind::T0 => "#d7e6f5",
            Kind::T1 => "#dcebdc",
            Kind::T2 => "#f1e3cc",
            Kind::Nic => "#e8e2f2",
            Kind::Untouched => "#ffffff",
        }
    }
}

/// A box: its kind, two lines of text, and its position in rows from the top and columns from the left.
#[derive(Debug, Clone)]
struct Node {
    kind: Kind,
    text: String,
    detail: String,
    row: usize,
    column: usize,
    /// Its width in columns.
    span: usize,
    /// Index of its group in the drawing.
    group: Option<usize>,
}

/// Cables between two boxes.
#[derive(Debug, Clone)]
struct Edge {
    upper: usize,
    lower: usize,
    text: String,
}

/// Boxes and cables.
#[derive(Debug, Clone, Default)]
struct Drawing {
    title: String,
    /// Names of groups, such as planes.
    groups: Vec<String>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Text above a row, which describes all cables between this row and the one above it.
    row_captions: Vec<(usize, String)>,
}

impl Drawing {
    fn node(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn edge(&mut self, upper: usize, lower: usize, text: String) {
        self.edges.push(Edge { upper, lower, text });
    }
}

/// Draws a part of a fabric.
pub fn draw(plan: &Plan, subject: Subject, form: Form) -> String {
    let drawing = match subject {
        Subject::Plane(plane) if plan.topology().zones == 1 => rows::plane(plan, plane),
        Subject::Fabric | Subject::Plane(_) | Subject::Switch(_) => subject::drawing(plan, subject),
    };
    match form {
        Form::Svg => svg::write(&drawing, Style::Own),
        Form::Dot => dot::write(&drawing),
    }
}

/// Draws the tiers that a difference changes: one column per plane, one box per tier. Planes with equal changes share a
/// column.
pub(crate) fn draw_tiers(tiers: &[TouchedTier]) -> String {
    let mut planes: BTreeMap<u8, Vec<&TouchedTier>> = BTreeMap::new();
    for tier in tiers {
        planes.entry(tier.plane).or_default().push(tier);
    }
    let mut columns: Vec<(Vec<u8>, Vec<&TouchedTier>)> = Vec::new();
    for (plane, tiers) in planes {
        let same = |a: &TouchedTier, b: &TouchedTier| {
            TouchedTier { plane: 0, ..a.clone() } == TouchedTier { plane: 0, ..b.clone() }
        };
        let alike = columns.iter_mut().find(|(_, known)| {
            known.len() == tiers.len() && known.iter().zip(&tiers).all(|(a, b)| same(a, b))
        });
        match alike {
            Some((planes, _)) => planes.push(plane),
            None => columns.push((vec![plane], tiers)),
        }
    }
    let mut drawing = Drawing { title: "Changed tiers".to_owned(), ..Drawing::default() };
    for (column, (planes, tiers)) in columns.iter().enumerate() {
        drawing.groups.push(plane_names(planes));
        let mut above = None;
        for (row, tier) in tiers.iter().rev().enumerate() {
            let parts = [("+", tier.added), ("-", tier.removed), ("~", tier.changed)];
            let parts = parts.into_iter().filter(|(_, count)| *count > 0);
            let parts: Vec<String> = parts.map(|(sign, count)| format!("{sign}{}", number(count))).collect();
            let kind = match tier.tier.as_str() {
                _ if parts.is_empty() => Kind::Untouched,
                "t0" => Kind::T0,
                "t1" => Kind::T1,
                _ => Kind::T2,
            };
            let more = if parts.is_empty() { "untouched".to_owned() } else { parts.join(" ") };
            let (old, new) = (number(tier.old), number(tier.new));
            let count = if old == new { new } else { format!("{old} \u{2192} {new}") };
            let text = format!("{count} {}s", tier.tier.to_uppercase());
            let node =
                drawing.node(Node { kind, text, detail: more, row, column, span: 1, group: Some(column) });
            if let Some(upper) = above.replace(node) {
                drawing.edge(upper, node, String::new());
            }
        }
    }
    svg::write(&drawing, Style::OfPage)
}

/// Names planes; consecutive ones become a range.
fn plane_names(planes: &[u8]) -> String {
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for plane in planes {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *plane => *last = *plane,
            Some(_) | None => runs.push((*plane, *plane)),
        }
    }
    let run = |(first, last): (u8, u8)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    let word = if planes.len() == 1 { "plane" } else { "planes" };
    format!("{word} {}", runs.into_iter().map(run).collect::<Vec<_>>().join(", "))
}
