//! W0304: a setting is for a third tier, and there is none.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;
use crate::field::Field;

/// A setting is for a third tier, and there is none.
pub(crate) static RULE: Rule = Rule {
    code: "W0304",
    title: "a setting has no effect without a T2 tier",
    what: "`tiers.t1.parallel`, `tiers.t1.oversubscription`, `naming.t2` and `srv6.roles.t2` are set only \
           with a T2 tier.",
    why: "These settings are for uplinks of T1s or for T2s. Without a T2 tier there are none, so they have \
           no effect.",
    example: "tiers: { t1: { parallel: 2 } }",
    fix: "Remove the setting, or add `tiers.t2` and `tiers.t1.up`.",
};

/// Settings with what they are about.
const SETTINGS: [(Field, &str); 4] = [
    (field!("tiers.t1.parallel"), "T1s have no uplinks"),
    (field!("tiers.t1.oversubscription"), "T1s have no uplinks"),
    (field!("naming.t2"), "there are no T2s to name"),
    (field!("srv6.roles.t2"), "there are no T2s with a uSID"),
];

/// Checks that settings of a third tier have one.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.t2.is_some() {
        return;
    }
    for (path, why) in SETTINGS.into_iter().filter(|(path, _)| draft.states(*path)) {
        out.push(
            Diagnostic::warning(&RULE, format!("`{path}` has no effect without a T2 tier"))
                .at(draft.at(path), "")
                .and(draft.at(field!("tiers")), "has no `t2`")
                .note(why)
                .help("remove it, or add `tiers.t2` and `tiers.t1.up`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn settings_of_a_third_tier_need_one() {
        let text = "`tiers.t1.parallel` has no effect without a T2 tier";
        assert_eq!(message(RULE.example, "W0304"), text);
        for fragment in
            ["tiers: { t1: { oversubscription: \"1:1\" } }", "naming: { t2: \"p{plane}-core-{index}\" }"]
        {
            assert_eq!(codes(fragment), ["W0304"], "{fragment}");
        }
        let t2 = "tiers: { t1: { up: 64, parallel: 2 }, t2: { platform: box-256x200g, os: sonic } }";
        assert!(!codes(t2).contains(&"W0304"));
    }
}
