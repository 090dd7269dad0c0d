//! E0408: the block is shorter or longer than 32 bits.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::Ipv6Net;

use super::container::segments;
use crate::draft::Draft;
use crate::field;

/// The block is shorter or longer than 32 bits.
pub(crate) static RULE: Rule = Rule {
    code: "E0408",
    title: "the SRv6 block is not a /32",
    condition: "The SRv6 block has 32 bits.",
    impact: "Hardware implements one container format, F3216: 32 bits of block, then 16 for each segment.",
    example: "srv6: { block: \"fcbb:bbbb::/40\" }",
    fix: "Use a prefix of 32 bits.",
};

/// Checks the length of the block.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let length = draft.block.prefix_len();
    let overflows = u64::from(length) + 16 * segments(draft) > 128;
    if !draft.routing.is_source_routed() || length == 32 || overflows {
        return;
    }
    let address = draft.block.addr();
    let block = Ipv6Net::new(address, 32).map_or(draft.block, |block| block.trunc());
    out.push(
        Diagnostic::error(&RULE, format!("the SRv6 block has {length} bits; expected 32"))
            .at(draft.at(field!("srv6.block")), format!("/{length}"))
            .set(
                [(field!("srv6.block").path(), format!("\"{block}\""))],
                format!("set `srv6.block` to \"{block}\""),
            ),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn blocks_have_32_bits() {
        assert_eq!(codes("srv6: { block: \"fcbb:bbbb::/40\" }"), ["E0408"]);
        assert_eq!(
            message("srv6: { block: \"fcbb::/16\" }", "E0408"),
            "the SRv6 block has 16 bits; expected 32"
        );
    }
}
