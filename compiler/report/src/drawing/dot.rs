//! A drawing as DOT, for Graphviz.
//!
//! In: a drawing. Out: an undirected graph. Invariants: every text is quoted, so that it cannot become a statement.

use std::fmt::Write as _;

use closc_diagnostics::printable;

use super::{Drawing, Node};

/// Writes a drawing.
pub(super) fn write(drawing: &Drawing) -> String {
    let mut out = format!("graph {} {{\n", quote(&drawing.title));
    let _ = writeln!(
        out,
        "  label={}; labelloc=t; fontname=\"sans-serif\"; nodesep=0.3; ranksep=0.6;",
        quote(&drawing.title)
    );
    out.push_str("  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (at, name) in drawing.groups.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{at} {{\n    label={}; color=\"#c9d0d6\";", quote(name));
        for (number, node) in drawing.nodes.iter().enumerate().filter(|(_, node)| node.group == Some(at)) {
            let _ = writeln!(out, "    {}", declaration(number, node));
        }
        out.push_str("  }\n");
    }
    for (number, node) in drawing.nodes.iter().enumerate().filter(|(_, node)| node.group.is_none()) {
        let _ = writeln!(out, "  {}", declaration(number, node));
    }
    for edge in &drawing.edges {
        let label =
            if edge.text.is_empty() { String::new() } else { format!(" [label={}]", quote(&edge.text)) };
        let _ = writeln!(out, "  n{} -- n{}{label};", edge.upper, edge.lower);
    }
    out.push_str("}\n");
    out
}

fn declaration(number: usize, node: &Node) -> String {
    let text =
        if node.detail.is_empty() { node.text.clone() } else { format!("{}\n{}", node.text, node.detail) };
    format!("n{number} [label={}, fillcolor=\"{}\"];", quote(&text), node.kind.colour())
}

/// A quoted string of DOT: quotes and backslashes are escaped, ends of lines are written as `\n`.
fn quote(text: &str) -> String {
    let text = printable::lines(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn no_text_ends_its_quotes() {
        assert_eq!(quote("a\" -- b\\\nc"), "\"a\\\" -- b\\\\\\nc\"");
    }
}
