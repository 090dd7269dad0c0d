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

/// Says what is wrong with a quantity, in the words of its parser.
pub(crate) fn bad_quantity(path: &str, error: &UnitError, span: Span) -> Diagnostic {
    let message = error.to_string();
    // The parser says the fix behind the last colon: "`100` has no unit: write `100G`".
    let (fault, fix) = match message.rsplit_once(": ") {
        Some((fault, fix)) => (fault.to_owned(), Some(fix.to_owned())),
        None => (message.clone(), None),
    };
    let diagnostic = Diagnostic::error(&RULE, format!("`{path}`: {fault}")).at(span, "");
    match fix {
        Some(fix) => diagnostic.help(fix),
        None => diagnostic,
    }
}
