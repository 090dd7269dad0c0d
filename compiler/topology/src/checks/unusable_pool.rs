//! E0511: a prefix lies in a range that hosts cannot have.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use super::host_bits::{Pool, pools};
use crate::draft::Draft;

/// A prefix lies in a range that hosts cannot have.
pub(crate) static RULE: Rule = Rule {
    code: "E0511",
    title: "an address pool cannot be used for hosts",
    what: "Pools are unicast: not multicast (ff00::/8, 224.0.0.0/4), link-local (fe80::/10, \
           169.254.0.0/16), loopback, unspecified or mapped addresses.",
    why: "Packets from or to such addresses are dropped or never leave a link.",
    example: "addresses: { hosts: \"ff02::/48\" }",
    fix: "Use global unicast (2000::/3) or unique local addresses (fd00::/8).",
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

/// Checks every pool against the ranges.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for Pool { path, net } in pools(draft) {
        for (range, what) in RANGES {
            let range: IpNet = range.parse().expect("ranges of the table are prefixes");
            if range.contains(&net) || net.contains(&range) {
                out.push(
                    Diagnostic::error(&RULE, format!("`{path}` {} overlaps {range}, which is {what}", net.trunc()))
                        .at(draft.at(path), "")
                        .help("use global unicast (2000::/3), unique local (fd00::/8) or private IPv4 (RFC 1918) addresses"),
                );
            }
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
    }
}
