//! Text in HTML: escaping, and templates with placeholders.
//!
//! In: text. Out: text. Invariants: escaped text cannot begin or end an element or change the direction of writing.

use std::fmt::Write as _;

use closc_diagnostics::printable;

/// Escapes text for HTML.
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

/// Converts a sentence to HTML: text in backticks becomes code, and `->` an arrow.
pub(crate) fn inline_html(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let shown = escape(part).replace("-&gt;", "&rarr;");
        match (at % 2 == 1, is_paired) {
            (true, true) => {
                let _ = write!(out, "<code>{shown}</code>");
            }
            (_, false) if at > 0 => {
                let _ = write!(out, "&#96;{shown}");
            }
            _ => out.push_str(&shown),
        }
    }
    out
}

/// Replaces each placeholder of a template. Inserted text is not searched for placeholders.
pub(crate) fn fill(frame: &str, parts: &[(&str, &str)]) -> String {
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

#[cfg(test)]
mod tests {
    use super::{fill, inline_html};

    #[test]
    fn backticks_become_code_and_html_is_escaped() {
        assert_eq!(inline_html("`p0-t0-001` 4 -> 5"), "<code>p0-t0-001</code> 4 &rarr; 5");
        assert_eq!(inline_html("a ` b"), "a &#96; b");
        for hostile in ["<img src=x onerror=y>", "`<script>x</script>`", "``<b>", "</code><i>`"] {
            let shown = inline_html(hostile).replace("<code>", "").replace("</code>", "");
            assert!(!shown.contains('<'), "{hostile}: {shown}");
        }
    }

    #[test]
    fn inserted_text_is_not_searched_for_placeholders() {
        assert_eq!(fill("a {{x}} b {{y}}", &[("{{y}}", "2"), ("{{x}}", "{{y}}")]), "a {{y}} b 2");
    }
}
