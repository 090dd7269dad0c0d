//! E0111: a number has no unit, or a unit of another quantity.

use closc_diagnostics::{Diagnostic, Rule, Span};
use closc_qos::units::UnitError;

/// A number has no unit, or a unit of another quantity.
pub(crate) static RULE: Rule = Rule {
    code: "E0111",
    title: "a quantity has no unit, or a wrong one",
    condition: "Speeds end in `M`, `G` or `T` (bits per second), lengths in `mm`, `cm`, `m` or `km`. Byte counts \
           have no unit, or `B`, `KB`, `KiB` and so on.",
    impact: "A number without a unit can be misread. If one reader takes `30` as feet and another as metres, \
           the cable is too short.",
    example: "hosts: { nic: { speed: 800 } }",
    fix: "Add the unit that the message proposes.",
};

/// Returns the likely meaning of a number whose unit begins with a known one in any letter case, and whether
/// that meaning is certain. `800G` for `800Gbps` is certain. `2m` for `2mi` (miles) and `10G` for `10GB`
/// (bytes) are not.
fn likely(error: &UnitError) -> Option<(String, bool)> {
    let UnitError::UnknownUnit { text, unit, allowed: known, .. } = error else { return None };
    let number = text.strip_suffix(unit.as_str())?.trim_end();
    let written = unit.to_lowercase();
    let known = known.split('`').skip(1).step_by(2);
    let starts = known.filter(|known| written.starts_with(&known.to_lowercase()));
    let likely = starts.max_by_key(|known| known.len())?;
    let rest = unit.get(likely.len()..)?;
    let spelled_out: &[&str] = match likely {
        "T" | "G" | "M" => &["bps", "b/s", "bit/s", "bit", "bE", "E", "be", "e"],
        "m" => &["eter", "eters", "etre", "etres"],
        "s" | "ms" | "us" | "ns" => &["ec", "ecs", "econd", "econds"],
        _ => &[],
    };
    Some((format!("{number}{likely}"), rest.is_empty() || spelled_out.contains(&rest)))
}

/// Reports an invalid quantity, in the words of its parser.
pub(crate) fn bad_quantity(path: &str, error: &UnitError, span: Span) -> Diagnostic {
    let message = error.to_string();
    // The parser's message has the fix after the last colon: "`100` has no unit: write `100G`".
    let (fault, fix) = match message.rsplit_once(": ") {
        Some((fault, fix)) => (fault.to_owned(), Some(fix.to_owned())),
        None => (message.clone(), None),
    };
    let diagnostic = Diagnostic::error(&RULE, format!("`{path}`: {fault}")).at(span, "");
    match (likely(error), fix) {
        (Some((likely, true)), _) => diagnostic.replace(span, &likely, format!("write `{likely}`")),
        (Some((likely, false)), _) => diagnostic.propose(span, &likely, format!("did you mean `{likely}`?")),
        (None, Some(fix)) => match fix.strip_prefix("write `").and_then(|fix| fix.strip_suffix('`')) {
            Some(text) if !text.contains('`') => diagnostic.propose(span, text, &fix),
            Some(_) | None => diagnostic.help(fix),
        },
        (None, None) => diagnostic,
    }
}

/// Reports a quantity with a decimal comma.
pub(crate) fn decimal_comma(path: &str, text: &str, point: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("`{path}`: `{text}` has a decimal comma")).at(span, "").replace(
        span,
        point,
        format!("write `{point}`"),
    )
}
