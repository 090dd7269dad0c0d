//! E0402: there are more planes than a uSID can number.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::usid_index::propose;
use crate::checks::words::count;
use crate::choice::SegmentPlan;
use crate::draft::Draft;

/// There are more planes than a uSID can number.
pub(crate) static RULE: Rule = Rule {
    code: "E0402",
    title: "the planes do not fit their uSID bits",
    condition: "The planes fit the plane bits of a uSID.",
    impact: "The plane is in every uSID, so that a cable in the wrong plane loses packets and never \
           misdelivers. A truncated plane would look like another one.",
    example: "planes: 16\n\
           hosts: { nic: { speed: 3200G, lanes: 16 } }",
    fix: "Set `srv6.widths` as the message proposes, or `srv6.plan: plane-in-block`, where the block \
           contains the plane. Both rename every segment.",
};

/// Compares the planes with their bits.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.layout.plan == SegmentPlan::PlaneInBlock {
        return; // The block contains the plane.
    }
    let (bits, planes) = (draft.layout.plane.min(32), draft.planes);
    if !draft.routing.is_source_routed() || draft.layout.sum() != 16 || planes <= 1 << bits || planes > 16 {
        return;
    }
    let max = 1_u64 << bits;
    let diagnostic =
        Diagnostic::error(&RULE, format!("{planes} planes do not fit {}", count(bits, "plane bit")))
            .at(draft.doc.planes.span, count(planes, "plane"))
            .note(format!("widths are {}; 2^{bits} = {max}", draft.layout));
    out.push(propose(diagnostic, draft));
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn sixteen_planes_need_four_bits() {
        let fragment = "{ planes: 16, hosts: { nic: { speed: 3200G, lanes: 16 } } }";
        assert_eq!(codes(fragment), ["E0402"]);
        assert_eq!(message(fragment, "E0402"), "16 planes do not fit 3 plane bits");
    }
}
