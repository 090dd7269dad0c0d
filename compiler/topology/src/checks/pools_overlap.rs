//! E0503: an address pool is inside another.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use super::host_bits::{Pool, extra_blocks, pools};
use crate::draft::Draft;
use crate::field;

/// An address pool is inside another.
pub(crate) static RULE: Rule = Rule {
    code: "E0503",
    title: "two address pools overlap",
    condition: "Pools overlap neither each other nor the SRv6 block. With `srv6.plan: plane-in-block`, they do \
           not overlap the following 15 blocks either, which are reserved for other planes.",
    impact: "One address would be used twice, for example for a NIC and for a cable.",
    example: "addresses: { hosts: \"2001:db8::/32\", links: \"2001:db8:1000::/48\" }",
    fix: "Choose prefixes that do not contain each other.",
};

/// Compares every two pools.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (pools, blocks) = (pools(draft), extra_blocks(draft));
    for (place, pool) in pools.iter().enumerate() {
        for other in &pools[..place] {
            let meets = |net: &IpNet, other: &IpNet| net.contains(other) || other.contains(net);
            // The SRv6 block comes last.
            let is_block = pool.path == field!("srv6.block");
            let more = is_block && blocks.iter().any(|block| meets(block, &other.net));
            if !more && !meets(&pool.net, &other.net) {
                continue;
            }
            let label = |pool: &Pool| {
                if draft.states(pool.path) {
                    pool.net.trunc().to_string()
                } else {
                    format!("{} by default", pool.net)
                }
            };
            // Values stated in the file come first.
            let (first, second) = if draft.states(pool.path) { (pool, other) } else { (other, pool) };
            out.push(
                Diagnostic::error(&RULE, format!("`{}` and `{}` overlap", first.path, second.path))
                    .at(draft.at(first.path), label(first))
                    .and(draft.at(second.path), label(second))
                    .help("choose prefixes that do not contain each other"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn pools_lie_apart() {
        let fragment = "addresses: { hosts: \"2001:db8::/32\", links: \"2001:db8:1000::/48\" }";
        assert_eq!(codes(fragment), ["E0503"]);
        assert_eq!(codes("addresses: { hosts: \"fcbb:bbbb:1000::/48\" }"), ["E0503"]);
        assert_eq!(message(fragment, "E0503"), "`addresses.links` and `addresses.hosts` overlap");
    }
}
