//! Text in HTML: escaping, and templates with placeholders.
//!
//! In: text. Out: text. Invariants: escaped text cannot begin or end an element or change the direction of writing.

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
    use super::fill;

    #[test]
    fn what_is_put_in_is_not_searched_for_marks() {
        assert_eq!(fill("a {{x}} b {{y}}", &[("{{y}}", "2"), ("{{x}}", "{{y}}")]), "a {{y}} b 2");
    }
}
