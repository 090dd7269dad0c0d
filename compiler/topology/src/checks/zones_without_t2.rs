//! E0311: there are several zones, but no T2s to join them.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::draft::Draft;
use crate::field;

/// There are several zones, but no T2s to join them.
pub(crate) static RULE: Rule = Rule {
    code: "E0311",
    title: "several zones without a T2 tier",
    what: "A fabric with more than one zone has a T2 tier that connects them.",
    why: "Without a T2 tier, zones are separate fabrics that cannot reach each other.",
    example: "zones: 2",
    fix: "Add `tiers.t2` and `tiers.t1.up`, or set `zones` to 1.",
};

/// Checks that zones are joined.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.zones > 1 && draft.t2.is_none() {
        out.push(
            Diagnostic::error(
                &RULE,
                format!("{} are not joined: there is no T2 tier", count(draft.zones, "zone")),
            )
            .at(draft.at(field!("zones")), count(draft.zones, "zone"))
            .and(draft.at(field!("tiers")), "has no `t2`")
            .help("add `tiers.t2` and `tiers.t1.up`, or set `zones` to 1"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn zones_need_a_tier_above() {
        assert!(codes("zones: 2").contains(&"E0311"));
        assert_eq!(message("zones: 2", "E0311"), "2 zones are not joined: there is no T2 tier");
    }
}
