//! E0117: a breakout is not written as ports times speed.

use closc_diagnostics::{Diagnostic, Rule, Span};
use closc_qos::units::Speed;

use crate::read::shorten;

/// A breakout is not written as ports times speed.
pub(crate) static RULE: Rule = Rule {
    code: "E0117",
    title: "a breakout cannot be read",
    what: "A breakout is written as the ports a cage is split into, `x`, and the speed of each.",
    why: "It decides how many ports a switch has and how they are called.",
    example: "tiers: { t0: { down: { count: 4, breakout: 100G } } }",
    fix: "Write, for example, `8x100G` for eight ports of 100G, or `1x400G` for a cage that is not split.",
};

/// Says how a breakout is written.
pub(crate) fn bad_breakout(path: &str, text: &str, span: Span) -> Diagnostic {
    let text = shorten(text);
    let diagnostic =
        Diagnostic::error(&RULE, format!("`{path}` is `{text}`, which is no breakout")).at(span, "");
    if text.parse::<Speed>().is_ok() {
        return diagnostic.help(format!("say how many ports of {text} a cage gives, as in `1x{text}`"));
    }
    diagnostic.help("write ports times speed, as in `8x100G`")
}
