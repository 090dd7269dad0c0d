//! Text in HTML: what others wrote as text, and frames with marks.
//!
//! In: text. Out: text. Invariants: what others wrote begins no element, ends none, and turns no direction of writing.

use closc_diagnostics::printable;

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

/// Replaces each mark of a frame once; what is put in is not searched for marks.
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
