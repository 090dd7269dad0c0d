//! E0511: an address pool is in a range that hosts cannot use.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use super::host_bits::{Pool, extra_blocks, pools};
use crate::draft::Draft;
use crate::field;

/// An address pool is in a range that hosts cannot use.
pub(crate) static RULE: Rule = Rule {
    code: "E0511",
    title: "an address pool cannot be used for hosts",
    condition: "Pools, and the SRv6 blocks reserved for 16 planes, are unicast. They are not multicast (ff00::/8, \
           224.0.0.0/4), link-local (fe80::/10, 169.254.0.0/16), loopback, unspecified, IPv4-mapped or \
           reserved (240.0.0.0/4) addresses.",
    impact: "Packets from or to such addresses are dropped or never leave a link.",
    example: "addresses: { hosts: \"ff02::/48\" }",
    fix: "Use global unicast (2000::/3), unique local (fd00::/8) or private IPv4 addresses (RFC 1918).",
};

/// Ranges that hosts cannot have.
const RANGES: &[(&str, &str)] = &[
    ("ff00::/8", "multicast (RFC 4291)"),
    ("fe80::/10", "link-local (RFC 4291)"),
    ("::/8", "loopback, unspecified and mapped addresses (RFC 4291)"),
    ("224.0.0.0/4", "multicast (RFC 5771)"),
    ("240.0.0.0/4", "reserved (RFC 1112)"),
    ("169.254.0.0/16", "link-local (RFC 3927)"),
    ("127.0.0.0/8", "loopback (RFC 1122)"),
    ("0.0.0.0/8", "this network (RFC 1122)"),
];

/// Returns the range of [`RANGES`] that a prefix overlaps, with its description.
pub(super) fn range_of(net: &IpNet) -> Option<(IpNet, &'static str)> {
    RANGES.iter().find_map(|(range, what)| {
        let range: IpNet = range.parse().expect("ranges of the table are prefixes");
        (range.contains(net) || net.contains(&range)).then_some((range, *what))
    })
}

/// Compares every pool with the ranges, and with the blocks reserved for planes.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    const HELP: &str =
        "use global unicast (2000::/3), unique local (fd00::/8) or private IPv4 (RFC 1918) addresses";
    let blocks = extra_blocks(draft);
    for Pool { path, net } in pools(draft) {
        if let Some((range, what)) = range_of(&net) {
            let text = format!("`{path}` {} overlaps {range}, which is {what}", net.trunc());
            out.push(Diagnostic::error(&RULE, text).at(draft.at(path), "").help(HELP));
            continue;
        }
        let blocks = if path == field!("srv6.block") { blocks.as_slice() } else { &[] };
        let met = blocks.iter().zip(1..).find_map(|(block, plane)| Some((block, plane, range_of(block)?)));
        if let Some((block, plane, (range, what))) = met {
            let text = format!(
                "{block}, the block that is kept for plane {plane}, overlaps {range}, which is {what}"
            );
            out.push(Diagnostic::error(&RULE, text).at(draft.at(path), "the block of plane 0").help(HELP));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn pools_are_unicast() {
        assert_eq!(codes("addresses: { hosts: \"ff02::/48\" }"), ["E0511"]);
        assert_eq!(codes("addresses: { management: \"169.254.0.0/14\" }"), ["E0501", "E0511"]);
        assert_eq!(
            message("addresses: { hosts: \"fe80::/48\" }", "E0511"),
            "`addresses.hosts` fe80::/48 overlaps fe80::/10, which is link-local (RFC 4291)"
        );
        let of = |block: &str| format!("srv6: {{ plan: plane-in-block, block: \"{block}\" }}");
        assert_eq!(
            message(&of("feff:fff8::/32"), "E0511"),
            "ff00::/32, the block that is kept for plane 8, overlaps ff00::/8, which is multicast (RFC 4291)"
        );
        assert_eq!(codes(&of("fe7f:fff8::/32")), ["E0511"]);
        assert_eq!(codes("srv6: { block: \"feff:fff8::/32\" }"), [""; 0]);
    }
}
