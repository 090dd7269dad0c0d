//! E0407: block and segments of the longest path need more than 128 bits.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// Block and segments of the longest path need more than 128 bits.
pub(crate) static RULE: Rule = Rule {
    code: "E0407",
    title: "a segment list does not fit one address",
    condition: "Block and segments of the longest path fit the 128 bits of an address: four uSIDs with two tiers, \
           six with a T2 tier.",
    impact: "A longer list would need a routing header, which switches forward slowly or not at all.",
    example: "srv6: { block: \"fcbb:bbbb:1:2::/80\" }",
    fix: "Use a block of 32 bits.",
};

/// Bits of an address.
const ADDRESS_BITS: u64 = 128;

/// Adds up block and segments.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (block, segments) = (u64::from(draft.block.prefix_len()), segments(draft));
    let needed = block + 16 * segments;
    if !draft.routing.is_source_routed() || needed <= ADDRESS_BITS {
        return;
    }
    let diagnostic = Diagnostic::error(
        &RULE,
        format!("the longest path needs {needed} bits, but an address has {ADDRESS_BITS}"),
    )
    .at(draft.at(field!("srv6.block")), format!("{block} bits"))
    .note(format!("block {block} + {segments} uSIDs x 16 = {needed}"))
    .help(format!("use a block of 32 bits: 32 + {segments} x 16 = {}", 32 + 16 * segments));
    out.push(if draft.t2.is_some() {
        diagnostic.and(draft.at(field!("tiers.t2")), "three tiers need six uSIDs: T0, T1, T2, T1, T0, NIC")
    } else {
        diagnostic.and(draft.at(field!("tiers")), "two tiers need four uSIDs: T0, T1, T0, NIC")
    });
}

/// Returns the number of uSIDs of the longest path.
pub(super) fn segments(draft: &Draft<'_>) -> u64 {
    if draft.t2.is_some() { 6 } else { 4 }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn four_segments_fit_behind_a_short_block() {
        assert_eq!(codes("srv6: { block: \"fcbb:bbbb:1:2::/80\" }"), ["E0407"]);
        assert_eq!(
            message("srv6: { block: \"fcbb:bbbb:1:2::/80\" }", "E0407"),
            "the longest path needs 144 bits, but an address has 128"
        );
    }
}
