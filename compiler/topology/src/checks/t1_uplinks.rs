//! E0312: there are T1 uplinks without T2s, or T2s without T1 uplinks.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// There are T1 uplinks without T2s, or T2s without T1 uplinks.
pub(crate) static RULE: Rule = Rule {
    code: "E0312",
    title: "T1 uplinks without a T2 tier, or a T2 tier without T1 uplinks",
    condition: "T1s have uplinks if, and only if, there is a T2 tier.",
    impact: "Uplinks without a tier above lead nowhere, and a tier above without uplinks is unreachable.",
    example: "tiers: { t1: { up: 64 } }",
    fix: "Add `tiers.t2`, or remove `tiers.t1.up`.",
};

/// Checks that T1s have uplinks if and only if there are T2s.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(t1) = &draft.doc.tiers.t1 else { return };
    match &draft.t2 {
        None if t1.up.is_some() => out.push(
            Diagnostic::error(&RULE, "T1s have uplinks, but there is no T2 tier")
                .at(draft.at(field!("tiers.t1.up")), "lead nowhere")
                .and(draft.at(field!("tiers")), "has no `t2`")
                .help("add `tiers.t2`, or remove `tiers.t1.up`"),
        ),
        Some(_) if t1.up.is_none() => out.push(
            Diagnostic::error(&RULE, "there is a T2 tier, but T1s have no uplinks")
                .at(draft.at(field!("tiers.t2")), "no T1 leads to them")
                .and(draft.at(field!("tiers.t1")), "has no `up`")
                .help("set `tiers.t1.up` to the uplinks of a T1"),
        ),
        None | Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn one_comes_with_the_other() {
        assert!(codes("tiers: { t1: { up: 64 } }").contains(&"E0312"));
        let alone = "tiers: { t2: { platform: box-256x200g } }";
        assert_eq!(message(alone, "E0312"), "there is a T2 tier, but T1s have no uplinks");
        assert_eq!(
            message("tiers: { t1: { up: 64 } }", "E0312"),
            "T1s have uplinks, but there is no T2 tier"
        );
    }
}
