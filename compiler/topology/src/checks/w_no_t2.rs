//! W0304: a setting is for a tier that the fabric does not have.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;
use crate::field::Field;

/// A setting is for a tier that the fabric does not have.
pub(crate) static RULE: Rule = Rule {
    code: "W0304",
    title: "a setting has no effect without the tier above",
    condition: "`tiers.t1.parallel`, `tiers.t1.oversubscription`, `naming.t2` and `srv6.roles.t2` are set only \
           with a T2 tier. `tiers.t0.parallel`, `tiers.t0.oversubscription`, `ecmp.pin`, `ecmp.pins`, \
           `naming.t1` and `cables.t0-t1` are set only with a T1 tier.",
    impact: "These settings are for uplinks of a tier or for the switches above. Without the tier above there \
           are none, so they have no effect.",
    example: "tiers: { t1: { parallel: 2 } }",
    fix: "Remove the setting, or add the tier above and the uplinks to it.",
};

/// Settings that need a T1 tier, each with the reason.
const OF_T1: &[(Field, &str)] = &[
    (field!("tiers.t0.parallel"), "T0s have no uplinks"),
    (field!("tiers.t0.oversubscription"), "T0s have no uplinks"),
    (field!("ecmp.pin"), "T0s have no uplinks to pin packets to"),
    (field!("ecmp.pins"), "T0s have no uplinks to pin packets to"),
    (field!("naming.t1"), "there are no T1s to name"),
    (field!("cables.t0-t1"), "there are no cables from T0s to T1s"),
];

/// Settings that need a T2 tier, each with the reason.
const OF_T2: &[(Field, &str)] = &[
    (field!("tiers.t1.parallel"), "T1s have no uplinks"),
    (field!("tiers.t1.oversubscription"), "T1s have no uplinks"),
    (field!("naming.t2"), "there are no T2s to name"),
    (field!("srv6.roles.t2"), "there are no T2s with a uSID"),
];

/// Checks that tiers with settings exist.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let tiers =
        [(draft.has_t1(), OF_T1, ["T1", "t1", "t0"]), (draft.t2.is_some(), OF_T2, ["T2", "t2", "t1"])];
    for (_, settings, [label, tier, below]) in tiers.into_iter().filter(|(is_there, ..)| !is_there) {
        for &(path, why) in settings.iter().filter(|(path, _)| draft.states(*path)) {
            out.push(
                Diagnostic::warning(&RULE, format!("`{path}` has no effect without a {label} tier"))
                    .at(draft.at(path), "")
                    .and(draft.at(field!("tiers")), format!("has no `{tier}`"))
                    .note(why)
                    .help(format!("remove it, or add `tiers.{tier}` and `tiers.{below}.up`")),
            );
        }
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
