//! E0117: a breakout is not written as ports times speed.

use closc_diagnostics::{Diagnostic, Rule, Span};
use closc_platform::BreakoutError;
use closc_qos::units::Speed;

use crate::suggest::shorten;

/// A breakout is not written as ports times speed.
pub(crate) static RULE: Rule = Rule {
    code: "E0117",
    title: "a breakout cannot be read",
    condition: "A breakout consists of the number of ports per cage (1 to 64), `x`, and the speed of each port. \
           If the ports use only a part of the cage, their lanes follow in parentheses.",
    impact: "The breakout determines how many ports a switch has, and their names.",
    example: "tiers: { t0: { down: { count: 4, breakout: 100G } } }",
    fix: "Write, for example, `8x100G` for eight ports of 100G, or `1x400G` for a cage without a split.",
};

/// Reports a breakout that cannot be read, with the correct form.
pub(crate) fn bad_breakout(path: &str, text: &str, error: &BreakoutError, span: Span) -> Diagnostic {
    let text = shorten(text);
    let start = |fault: String| Diagnostic::error(&RULE, format!("`{path}` is `{text}`{fault}")).at(span, "");
    match error {
        BreakoutError::Form { .. } if text.parse::<Speed>().is_ok() => {
            start(", which is a speed, not a breakout".into())
                .help(format!("write how many ports of {text} a cage has, as in `1x{text}`"))
        }
        BreakoutError::Form { .. } | BreakoutError::NotOffered { .. } => {
            start(", which is not a breakout".into()).help("write ports times speed, as in `8x100G`")
        }
        BreakoutError::Ports { ports, .. } => start(format!(": a cage gives 1 to 64 ports, not {ports}")),
        BreakoutError::Speed { cause, .. } => start(format!(": {cause}")),
    }
}
