//! E0706: the entropy values cannot be divided evenly over the planes.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// The entropy values cannot be divided evenly over the planes.
pub(crate) static RULE: Rule = Rule {
    code: "E0706",
    title: "entropy values are not equal in all planes",
    condition: "`entropy.active` and `entropy.backup` are multiples of the number of planes.",
    impact: "Every plane gets the same number of entropy values and carries the same load. One plane with fewer \
           would slow down the others.",
    example: "entropy: { active: 129 }",
    fix: "Use a multiple of `planes`.",
};

/// Divides the values by the planes.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() {
        return; // Other routing modes have no path tables (W0403).
    }
    let planes = draft.planes;
    if planes == 0 {
        return;
    }
    for (path, number) in
        [(field!("entropy.active"), draft.entropy.active), (field!("entropy.backup"), draft.entropy.backup)]
    {
        let (key, number) = (path.key(), u64::from(number));
        if number.is_multiple_of(planes) || !draft.states(path) {
            continue;
        }
        let (below, above) = (number / planes * planes, number.next_multiple_of(planes));
        out.push(
            Diagnostic::error(
                &RULE,
                format!("{number} {key} entropy values cannot be divided evenly over {planes} planes"),
            )
            .at(draft.at(path), format!("{number} / {planes} is not a whole number"))
            .and(draft.doc.planes.span, format!("{planes} planes"))
            .set_either(
                path.path(),
                [below, above],
                format!("set `{path}` to {below} or {above}"),
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn planes_get_equal_shares() {
        assert_eq!(codes("entropy: { active: 129 }"), ["E0706"]);
        assert_eq!(codes("entropy: { active: 128, backup: 64 }"), Vec::<&str>::new());
        assert_eq!(
            message("entropy: { active: 129 }", "E0706"),
            "129 active entropy values cannot be divided evenly over 2 planes"
        );
    }
}
