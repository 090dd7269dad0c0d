//! E0502: a prefix is longer than the places of the coordinates allow.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use super::host_bits::{Pool, pools};
use crate::draft::Draft;

/// A prefix is longer than the places of the coordinates allow.
pub(crate) static RULE: Rule = Rule {
    code: "E0502",
    title: "an address pool is too small",
    what: "Pools have room for every coordinate of the address layout: `hosts` and `links` are /48 or \
           shorter, `loopbacks` /64 or shorter, `management` IPv4 /14 or shorter or IPv6 /64 or shorter. With \
           `addresses.widths.index`, an IPv4 pool is a /(26 - zone - index) or shorter.",
    why: "Coordinates have fixed places in addresses, so that growth renumbers nothing. A longer prefix \
           covers some of those places.",
    example: "addresses: { loopbacks: \"2001:db8::/96\" }",
    fix: "Use a shorter prefix. List management ports in smaller subnets in `addresses.management_list`.",
};

/// Compares each pool with the bits that coordinates take.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let widths = draft.addresses.widths;
    for Pool { path, net } in pools(draft) {
        let (max, what) = match (path.key(), net) {
            ("hosts", _) => (48, "16 bits of zone and group, then a /64 for each group".to_owned()),
            ("links", _) => (48, "kind, plane, zone, device and port of each cable".to_owned()),
            ("loopbacks", _) | ("management", IpNet::V6(_)) => {
                (64, "tier, plane, zone and index of each switch".to_owned())
            }
            ("management", IpNet::V4(_)) => {
                let device = widths.device();
                let what = format!("2 bits of tier, 4 of plane and {device} of zone and index");
                (widths.management_v4_max(), what)
            }
            _ => continue, // The block has a rule of its own.
        };
        if net.prefix_len() <= max {
            continue;
        }
        let total: u8 = if matches!(net, IpNet::V4(_)) { 32 } else { 128 };
        out.push(
            Diagnostic::error(
                &RULE,
                format!("`{path}` is a /{}, it must be a /{max} or shorter", net.prefix_len()),
            )
            .at(draft.at(path), format!("leaves {} bits", total - net.prefix_len()))
            .note(format!("addresses hold {what}: {} bits", total - max))
            .help(match path.key() {
                "management" => format!(
                    "use a prefix of {max} bits or fewer, or list management ports in a file (`addresses.management_list`)"
                ),
                _ => format!("use a prefix of {max} bits or fewer"),
            }),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn pools_have_room_for_coordinates() {
        assert_eq!(codes("addresses: { loopbacks: \"2001:db8::/96\" }"), ["E0502"]);
        assert_eq!(codes("addresses: { management: 10.0.0.0/16 }"), ["E0502"]);
        assert_eq!(codes("addresses: { management: \"2001:db8::/64\" }"), Vec::<&str>::new());
        assert_eq!(
            message("addresses: { hosts: \"2001:db8::/56\" }", "E0502"),
            "`addresses.hosts` is a /56, it must be a /48 or shorter"
        );
    }
}
