//! E0409: the plane is in the block and in uSIDs, or the blocks of planes do not fit.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::choice::SegmentPlan;
use crate::draft::Draft;
use crate::field;

/// The plane is in the block and in uSIDs, or the blocks of planes do not fit.
pub(crate) static RULE: Rule = Rule {
    code: "E0409",
    title: "the plane does not fit the block",
    condition: "With `srv6.plan: plane-in-block`, uSIDs have no bits for the plane. The block (32 bits) is at \
           most `ffff:fff0::/32`, so that 15 blocks follow it.",
    impact: "The block of a plane is the first block plus the number of the plane. Plane bits in a uSID would \
           be 0 in every plane. After the last block, the numbers start again at `::/32`, which is reserved.",
    example: "srv6: { plan: plane-in-block, widths: { role: 2, plane: 3, zone: 0, index: 11 } }",
    fix: "Give the bits of the plane to the index, or choose a lower block.",
};

/// Maximum number of planes of a fabric.
const PLANES: u32 = 16;

/// Checks that uSIDs have no bits for the plane, and that the block of the last plane fits.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() || draft.layout.plan != SegmentPlan::PlaneInBlock {
        return;
    }
    let (layout, plan) = (&draft.layout, draft.at(field!("srv6.plan")));
    if layout.plane > 0 {
        let others = layout.sum() - layout.plane - layout.index;
        let index = 16_u64.saturating_sub(others);
        let bits = if layout.plane == 1 { "1 bit".to_owned() } else { format!("{} bits", layout.plane) };
        out.push(
            Diagnostic::error(
                &RULE,
                format!("uSIDs reserve {bits} for the plane, but the block already contains it"),
            )
            .at(draft.at(field!("srv6.widths.plane")), bits)
            .and(plan, "a block for every plane")
            .set(
                [
                    (field!("srv6.widths.plane").path(), "0".to_owned()),
                    (field!("srv6.widths.index").path(), index.to_string()),
                ],
                format!("set `plane` to 0, and `index` to {index}"),
            ),
        );
    }
    let first = (u128::from(draft.block.network()) >> 96) as u32;
    if first.checked_add(PLANES - 1).is_none() {
        out.push(
            Diagnostic::error(
                &RULE,
                format!("fewer than {PLANES} blocks are available from {} on", draft.block.trunc()),
            )
            .at(draft.at(field!("srv6.block")), "the block of plane 0")
            .and(plan, "a block for every plane")
            .help("choose a lower block"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn the_plane_is_said_once() {
        assert_eq!(codes(RULE.example), ["E0409"]);
        assert_eq!(
            message(RULE.example, "E0409"),
            "uSIDs reserve 3 bits for the plane, but the block already contains it"
        );
        assert_eq!(codes("srv6: { plan: plane-in-block, widths: { plane: 3 } }"), ["E0409"]);
        assert_eq!(codes("srv6: { plan: plane-in-block }"), Vec::<&str>::new());
        assert_eq!(
            codes(&RULE.example.replace("plane: 3", "plane: 0").replace("11", "14")),
            Vec::<&str>::new()
        );
    }

    #[test]
    fn sixteen_blocks_are_there() {
        let of = |block: &str| format!("srv6: {{ plan: plane-in-block, block: \"{block}\" }}");
        assert_eq!(codes(&of("5f00:fff0::/32")), Vec::<&str>::new());
        assert!(codes(&of("ffff:fff1::/32")).contains(&"E0409"));
        assert_eq!(
            message(&of("ffff:fff1::/32"), "E0409"),
            "fewer than 16 blocks are available from ffff:fff1::/32 on"
        );
    }

    /// Blocks of planes that the fabric may get later are reserved, too.
    #[test]
    fn pools_lie_outside_every_block() {
        let of = |hosts: &str| {
            format!("{{ srv6: {{ plan: plane-in-block }}, addresses: {{ hosts: \"{hosts}\" }} }}")
        };
        assert_eq!(codes(&of("fcbb:bbca:1000::/48")), ["E0503"]);
        assert_eq!(codes(&of("fcbb:bbcb:1000::/48")), Vec::<&str>::new());
        assert_eq!(codes(&of("fcbb:bbba:1000::/48")), Vec::<&str>::new());
        assert_eq!(codes(&of("fcbb:b000::/20")), ["E0503"]);
    }
}
