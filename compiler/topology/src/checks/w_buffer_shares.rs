//! W0705: the file states shares of the buffer, but no switch reserves them.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// The file states shares of the buffer, but no switch reserves them.
pub(crate) static RULE: Rule = Rule {
    code: "W0705",
    title: "lossless and lossy buffer shares have no effect",
    condition: "Your own profile has no `buffer_shares` other than `off`. Of its three shares only `headroom` is \
           used, as the limit for PFC headroom (E0720).",
    impact: "Junos divides the buffer into three parts. No target of closc does: SONiC's pools are shared, and \
           `ingress_threshold` and `egress_threshold` limit each class.",
    example: "qos: { base: lossless, buffer_shares: { lossless: 60, headroom: 30, lossy: 10 } }",
    fix: "Set the thresholds of classes instead. Set `buffer_shares: off` if headroom needs no limit. If it \
           needs one, accept the warning with `warnings: { W0705: allow }`.",
};

/// Warns if the file states shares.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.states(field!("qos.buffer_shares.lossless")) {
        return;
    }
    out.push(
        Diagnostic::warning(
            &RULE,
            "`lossless` and `lossy` of `qos.buffer_shares` have no effect: buffer pools are shared",
        )
        .at(draft.at(field!("qos.buffer_shares")), "")
        .note("`headroom` is the limit for PFC headroom")
        .help("set `ingress_threshold` and `egress_threshold` of the classes"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn shares_that_nothing_reserves_are_named() {
        let text = "`lossless` and `lossy` of `qos.buffer_shares` have no effect: buffer pools are shared";
        assert_eq!(message(RULE.example, "W0705"), text);
        assert!(!codes("qos: lossless").contains(&"W0705"));
    }
}
