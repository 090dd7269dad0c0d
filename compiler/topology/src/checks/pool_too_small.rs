//! E0502: an address pool leaves too few bits for the coordinates.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use super::host_bits::{Pool, pools};
use crate::draft::Draft;
use crate::ipv4::Ipv4Widths;

/// An address pool leaves too few bits for the coordinates.
pub(crate) static RULE: Rule = Rule {
    code: "E0502",
    title: "an address pool is too small",
    condition: "Every pool has enough bits for the coordinates in its addresses, such as plane, zone, index and \
           port. IPv6: `hosts` and `links` are /48 or shorter, `loopbacks` and `management` /64 or \
           shorter. An IPv4 pool needs a size that depends on the counts and the ports of the hardware. \
           The message shows it.",
    impact: "Coordinates have fixed places in addresses, so that growth renumbers nothing. A longer prefix \
           covers some of those places.",
    example: "addresses: { loopbacks: \"2001:db8::/96\" }",
    fix: "Use a shorter prefix. If management ports are in several smaller subnets, list them in \
           `addresses.management_list` instead.",
};

/// Compares the bits that each pool leaves with the bits that coordinates need.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for Pool { path, net } in pools(draft) {
        let (max, what) = match (path.key(), net) {
            ("hosts" | "links" | "loopbacks" | "management", IpNet::V4(_)) => ipv4(draft, path.key()),
            ("hosts", IpNet::V6(_)) => {
                (48, "16 bits of zone and group, then a /64 for each group".to_owned())
            }
            ("links", IpNet::V6(_)) => (48, "kind, plane, zone, device and port of each cable".to_owned()),
            ("loopbacks" | "management", IpNet::V6(_)) => {
                (64, "tier, plane, zone and index of each switch".to_owned())
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
                format!("`{path}` is a /{}; expected a /{max} or shorter", net.prefix_len()),
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

/// Returns the length of the longest IPv4 pool, and a description of the coordinates in it.
fn ipv4(draft: &Draft<'_>, key: &str) -> (u8, String) {
    let widths = draft.ipv4_widths();
    let Ipv4Widths { plane, zone, group, switch, downlink, uplinks, below_zone } = widths;
    let (bits, what) = match key {
        "hosts" => {
            let mut what = format!("{zone} bits of zone, {group} of T0 group and {downlink} of downlink");
            if below_zone > 0 {
                what.push_str(", 1 so that a zone is larger than its only T0 group");
            }
            // The route to the only zone would have the prefix of the blackhole for the pool.
            let is_only_zone = zone == 0 && !draft.routing.speaks_bgp();
            if is_only_zone {
                what.push_str(", 1 so that the pool is larger than its only zone");
            }
            (widths.of_nics() + u8::from(is_only_zone), what)
        }
        "links" => {
            let bits = widths.of_cables(!draft.routing.speaks_bgp());
            let ports = downlink.max(uplinks[0]).max(uplinks[1]);
            let what = format!(
                "2 bits of kind, {plane} of plane, {zone} of zone, up to {} of switch and {ports} of port, 1 of end",
                group.max(switch)
            );
            (bits, what)
        }
        _ => {
            let what = format!("2 bits of tier, {plane} of plane, {zone} of zone and {switch} of index");
            (widths.of_switches(), what)
        }
    };
    let longest = 32_u8.saturating_sub(bits);
    let fixed = draft.addresses.widths;
    // A management pool of this prefix length or shorter has fixed bit positions.
    if key == "management" && fixed.management_v4_max() > longest {
        let what = format!("2 bits of tier, 4 of plane and {} of zone and index", fixed.device());
        return (fixed.management_v4_max(), what);
    }
    (longest, what)
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn pools_have_room_for_coordinates() {
        assert_eq!(codes("addresses: { loopbacks: \"2001:db8::/96\" }"), ["E0502"]);
        assert_eq!(codes("addresses: { management: 10.0.0.0/20 }"), Vec::<&str>::new());
        assert_eq!(codes("addresses: { management: 10.0.0.0/21 }"), ["E0502"]);
        assert_eq!(codes("addresses: { management: \"2001:db8::/64\" }"), Vec::<&str>::new());
        // Static routing has a blackhole for the pool, so the route to the only zone must be more specific than the
        // pool.
        let longest = |routing: &str| -> u8 {
            let fragment =
                format!("{{ routing: {routing}, qos: none, addresses: {{ hosts: 10.0.0.0/32 }} }}");
            let said = message(&fragment, "E0502");
            let rest =
                said.split_once("expected a /").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
            rest.unwrap_or_else(|| panic!("{said}"))
        };
        assert_eq!(longest("ecmp-static") + 1, longest("bgp-unnumbered"));
        assert_eq!(
            message("addresses: { hosts: \"2001:db8::/56\" }", "E0502"),
            "`addresses.hosts` is a /56; expected a /48 or shorter"
        );
    }
}
