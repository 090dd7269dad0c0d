//! E0707: a plane has fewer uplinks than entropy values.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::{Side, TierId};
use crate::draft::Draft;
use crate::field;

/// A plane has fewer uplinks than entropy values.
pub(crate) static RULE: Rule = Rule {
    code: "E0707",
    title: "more entropy values than paths",
    condition: "In each plane, active and backup entropy values together are at most the uplinks of a T0.",
    impact: "Each value of a NIC selects a different uplink of its T0, and with T2s also an uplink of the T1. \
           Two values for one uplink would load it twice, and are retired together.",
    example: "entropy: { active: 200, backup: 100 }",
    fix: "Lower `active` or `backup`.",
};

/// Compares the values of one plane with its uplinks.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() {
        return; // Other routing modes have no path tables (W0403).
    }
    let (planes, uplinks) = (draft.planes.max(1), draft.t0.up.count);
    let (active, backup) = (u64::from(draft.entropy.active), u64::from(draft.entropy.backup));
    let needed = (active + backup).div_ceil(planes);
    let stated = draft.states(field!("entropy.active")) || draft.states(field!("entropy.backup"));
    if needed <= uplinks || !stated || uplinks == 0 {
        return;
    }
    let path = if draft.states(field!("entropy.active")) {
        field!("entropy.active")
    } else {
        field!("entropy.backup")
    };
    out.push(
        Diagnostic::error(
            &RULE,
            format!("{needed} entropy values per plane, but a T0 has {uplinks} uplinks"),
        )
        .at(draft.at(path), format!("{active} active + {backup} backup over {planes} planes"))
        .and(draft.ports_span(TierId::T0, Side::Up), format!("{uplinks} uplinks of each T0"))
        .note(format!("({active} + {backup}) / {planes} = {needed}"))
        .help(format!("lower `active` + `backup` to {} over all planes", uplinks * planes)),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn values_name_different_uplinks() {
        assert_eq!(codes("entropy: { active: 200, backup: 100 }"), ["E0707"]);
        assert_eq!(codes("entropy: { active: 128, backup: 128 }"), Vec::<&str>::new());
        assert_eq!(
            message("entropy: { active: 200, backup: 100 }", "E0707"),
            "150 entropy values per plane, but a T0 has 128 uplinks"
        );
    }
}
