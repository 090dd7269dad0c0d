//! E0301: there are no planes, or more than 16.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::draft::Draft;

/// There are no planes, or more than 16.
pub(crate) static RULE: Rule = Rule {
    code: "E0301",
    title: "the number of planes is out of range",
    condition: "There are 1 to 16 planes.",
    impact: "16-bit uSIDs and addresses have room for sixteen, and no NIC has more ports.",
    example: "planes: 17",
    fix: "Set `planes` to the number of ports that each NIC has.",
};

/// Maximum number of planes.
const PLANES_MAX: u64 = 16;

/// Checks the number of planes.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if (1..=PLANES_MAX).contains(&draft.planes) {
        return;
    }
    out.push(
        Diagnostic::error(
            &RULE,
            format!("the fabric has {}; expected 1 to {PLANES_MAX}", count(draft.planes, "plane")),
        )
        .at(draft.doc.planes.span, "")
        .help("set `planes` to the number of ports that each NIC has"),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn one_to_sixteen() {
        assert!(codes("planes: 17").contains(&"E0301"));
        assert_eq!(codes("planes: 0"), ["E0301"]);
        assert_eq!(message("planes: 17", "E0301"), "the fabric has 17 planes; expected 1 to 16");
    }
}
