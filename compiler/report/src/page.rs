//! The page: HTML, style, script and model in one file.
//!
//! In: a plan, and optionally a difference. Out: HTML. Invariants: the page loads nothing, and its content
//! security policy forbids loading. Only the script whose digest is in the policy runs. Text from input is
//! escaped, or embedded as JSON in which no character can end the element.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use closc_diff::Report;
use closc_plan::Plan;
use sha2::{Digest as _, Sha256};

use crate::difference;
use crate::model::Model;
use crate::text::{escape, fill};

const FRAME: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// The parts of the script, each after the parts that it uses while loading.
const SCRIPT: &[&str] = &[
    include_str!("page/core.js"),
    include_str!("page/address.js"),
    include_str!("page/whatif.js"),
    include_str!("page/routes.js"),
    include_str!("page/search.js"),
    include_str!("page/draw.js"),
    include_str!("page/device.js"),
    include_str!("page/paths.js"),
    include_str!("page/view.js"),
];

/// Reads the model, which is data in a separate element.
const READ_MODEL: &str =
    "\"use strict\";\nconst M = JSON.parse(document.getElementById(\"model\").textContent);\n";

/// Writes the page of a fabric, with a section on changes if a difference is given.
pub fn page(plan: &Plan, changes: Option<&Report>) -> String {
    let model = serde_json::to_string(&Model::of(plan)).expect("the keys of the model are text or integers");
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
            ("{{link}}", if changes.is_some() { "<a href=\"#changes\">Changes</a> " } else { "" }),
            ("{{changes}}", &changes.map(difference::section).unwrap_or_default()),
            ("{{model}}", &inert(&model)),
            ("{{script}}", &script),
        ],
    )
}

/// Escapes JSON for the text of an element: without `<`, it cannot end the element or begin a comment.
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

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn a_text_does_not_end_its_element() {
        let hostile = serde_json::to_string("</script><!--\u{2028}").expect("a text");
        let shown = inert(&hostile);
        assert!(!shown.contains(['<', '>', '\u{2028}']), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).expect("still JSON"), "</script><!--\u{2028}");
    }
}
