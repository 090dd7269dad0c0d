//! E0111: a number has no unit, or one of another kind.

use closc_diagnostics::{Diagnostic, Rule, Span};
use closc_qos::units::UnitError;

/// A number has no unit, or one of another kind.
pub(crate) static RULE: Rule = Rule {
    code: "E0111",
    title: "a quantity has no unit or a wrong one",
    what: "Speeds end in `M`, `G` or `T` (bits a second), lengths in `mm`, `cm`, `m` or `km`, byte counts in \
           nothing, `B`, `KB`, `KiB` and so on.",
    why: "Every value has a unit: a `30` that one reader takes for metres and another for feet is a cable \
           that does not reach.",
    example: "hosts: { nic: { speed: 800 } }",
    fix: "Add the unit that the message proposes.",
};

/// Returns what was probably meant by a number with a unit of this kind and more behind it: `800G` for `800Gbps`.
fn likely(error: &UnitError) -> Option<String> {
    let UnitError::UnknownUnit { text, unit, known, .. } = error else { return None };
    let number = text.strip_suffix(unit.as_str())?.trim_end();
    let written = unit.to_lowercase();
    let known = known.split('`').skip(1).step_by(2);
    let starts = known.filter(|known| written.starts_with(&known.to_lowercase()));
    starts.max_by_key(|known| known.len()).map(|known| format!("{number}{known}"))
}

/// Says what is wrong with a quantity, in the words of its parser.
pub(crate) fn bad_quantity(path: &str, error: &UnitError, span: Span) -> Diagnostic {
    let message = error.to_string();
    // The parser says the fix behind the last colon: "`100` has no unit: write `100G`".
    let (fault, fix) = match message.rsplit_once(": ") {
        Some((fault, fix)) => (fault.to_owned(), Some(fix.to_owned())),
        None => (message.clone(), None),
    };
    let diagnostic = Diagnostic::error(&RULE, format!("`{path}`: {fault}")).at(span, "");
    match (likely(error), fix) {
        (Some(likely), _) => diagnostic.replace(span, &likely, format!("write `{likely}`")),
        (None, Some(fix)) => match fix.strip_prefix("write `").and_then(|fix| fix.strip_suffix('`')) {
            Some(text) if !text.contains('`') => diagnostic.propose(span, text, &fix),
            Some(_) | None => diagnostic.help(fix),
        },
        (None, None) => diagnostic,
    }
}
