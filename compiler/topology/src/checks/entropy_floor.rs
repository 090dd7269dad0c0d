//! E0708: `min_active` is larger than `active`.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// `min_active` is larger than `active`.
pub(crate) static RULE: Rule = Rule {
    code: "E0708",
    title: "`min_active` is above the number of active entropy values",
    condition: "`entropy.min_active` is at most `entropy.active`.",
    impact: "A NIC with `min_active` values retires no more paths. A minimum above the number of active values \
           would keep every path, however bad.",
    example: "entropy: { active: 64, min_active: 100 }",
    fix: "Lower `min_active`; half of `active` is the default.",
};

/// Compares `min_active` with `active`.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() {
        return; // Other routing modes have no path tables (W0403).
    }
    let (active, floor) = (draft.entropy.active, draft.entropy.min_active);
    if floor <= active {
        return;
    }
    out.push(
        Diagnostic::error(
            &RULE,
            format!("`entropy.min_active` is {floor}, but only {active} entropy values are active"),
        )
        .at(draft.at(field!("entropy.min_active")), "")
        .and(draft.at(field!("entropy.active")), format!("{active} active"))
        .set(
            [(field!("entropy.min_active").path(), (active / 2).to_string())],
            format!("set `entropy.min_active` to {} or less", active / 2),
        ),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn the_floor_is_below_the_start() {
        assert_eq!(codes("entropy: { active: 64, min_active: 100 }"), ["E0708"]);
        assert_eq!(codes("entropy: { active: 64, min_active: 64 }"), Vec::<&str>::new());
        assert_eq!(
            message("entropy: { active: 64, min_active: 100 }", "E0708"),
            "`entropy.min_active` is 100, but only 64 entropy values are active"
        );
    }
}
