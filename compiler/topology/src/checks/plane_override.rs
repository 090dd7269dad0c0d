//! E0319: `by_plane` names a plane that does not exist.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::{Draft, by_plane};

/// `by_plane` names a plane that does not exist.
pub(crate) static RULE: Rule = Rule {
    code: "E0319",
    title: "an override for a plane that does not exist",
    condition: "The planes in `by_plane` are planes of the fabric.",
    impact: "The first plane is plane 0. An override of plane 8 in a fabric of 8 planes has no effect, and was \
           probably intended for plane 7.",
    example: "tiers: { t0: { by_plane: { 2: { platform: th5-512x100g } } } }",
    fix: "Correct the number. The first plane is plane 0.",
};

/// Checks the planes of every tier.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for tier in draft.tiers() {
        for (plane, span, _) in by_plane(draft.doc, tier.id) {
            if u64::from(plane) < draft.planes {
                continue;
            }
            let last = draft.planes.saturating_sub(1);
            out.push(
                Diagnostic::error(&RULE, format!("no plane {plane} in this fabric; expected 0 to {last}"))
                    .at(span, "")
                    .and(draft.doc.planes.span, format!("{} planes", draft.planes)),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn planes_count_from_zero() {
        assert!(!codes("tiers: { t0: { by_plane: { 1: { os: frr } } } }").contains(&"E0319"));
        assert!(codes("tiers: { t0: { by_plane: { 2: { os: frr } } } }").contains(&"E0319"));
        assert_eq!(
            message("tiers: { t0: { by_plane: { 2: { os: frr } } } }", "E0319"),
            "no plane 2 in this fabric; expected 0 to 1"
        );
    }
}
