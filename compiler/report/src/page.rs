//! The page: HTML, style, script and model in one file.
//!
//! In: a plan. Out: HTML. Invariants: nothing is loaded, and the policy of the page forbids it; the only script that runs is
//! the one whose digest the policy names; text of others is JSON that cannot end its element.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use closc_diagnostics::printable;
use closc_plan::Plan;
use sha2::{Digest as _, Sha256};

use crate::model::Model;

const FRAME: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// The script, in the order in which its parts use each other.
const SCRIPT: &[&str] = &[
    include_str!("page/core.js"),
    include_str!("page/whatif.js"),
    include_str!("page/routes.js"),
    include_str!("page/search.js"),
    include_str!("page/draw.js"),
    include_str!("page/device.js"),
    include_str!("page/paths.js"),
    include_str!("page/view.js"),
];

/// Reads the model, which is data in an element of its own.
const READ_MODEL: &str =
    "\"use strict\";\nconst M = JSON.parse(document.getElementById(\"model\").textContent);\n";

/// Writes the page of a fabric.
pub fn page(plan: &Plan) -> String {
    let model = serde_json::to_string(&Model::of(plan)).expect("a model has text keys and numbers only");
    let script = [READ_MODEL, &SCRIPT.concat()].concat();
    let digest = STANDARD.encode(Sha256::digest(&script));
    fill(
        FRAME,
        &[
            (
                "{{policy}}",
                &format!(
                    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
                ),
            ),
            ("{{title}}", &escape(plan.name())),
            ("{{style}}", STYLE),
            ("{{model}}", &inert(&model)),
            ("{{script}}", &script),
        ],
    )
}

/// Replaces each mark of a frame once; what is put in is not searched for marks.
fn fill(frame: &str, parts: &[(&str, &str)]) -> String {
    let mut out =
        String::with_capacity(frame.len() + parts.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = frame;
    while let Some((at, (mark, text))) =
        parts.iter().filter_map(|part| Some((rest.find(part.0)?, part))).min_by_key(|(at, _)| *at)
    {
        out.push_str(&rest[..at]);
        out.push_str(text);
        rest = &rest[at + mark.len()..];
    }
    out.push_str(rest);
    out
}

/// JSON as the text of an element: no `<`, so that nothing in it ends the element or begins a comment.
fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}

/// Writes text of others as text of HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable::lines(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{fill, inert};

    #[test]
    fn what_is_put_in_is_not_searched_for_marks() {
        assert_eq!(fill("a {{x}} b {{y}}", &[("{{y}}", "2"), ("{{x}}", "{{y}}")]), "a {{y}} b 2");
    }

    #[test]
    fn a_text_does_not_end_its_element() {
        let hostile = serde_json::to_string("</script><!--\u{2028}").expect("a text");
        let shown = inert(&hostile);
        assert!(!shown.contains(['<', '>', '\u{2028}']), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).expect("still JSON"), "</script><!--\u{2028}");
    }
}
