//! E0504: a zone, group or index is too large for the addresses.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use crate::draft::Draft;
use crate::field;

/// A zone, group or index is too large for the addresses.
pub(crate) static RULE: Rule = Rule {
    code: "E0504",
    title: "a coordinate does not fit its place in an address",
    what: "Zones, groups and indices fit their places in addresses. NIC addresses have room for 16 zones and \
           4,095 groups. With `bgp-unnumbered`, AS numbers and router ids have room for 4,095 switches of a \
           tier. In IPv4 management addresses, zone and index together have 12 bits.",
    why: "A truncated coordinate gives two devices one address.",
    example: "hosts: { groups: 5000 }",
    fix: "Make zones smaller or fewer. For management, use an IPv6 pool.",
};

/// The largest index, from 1, of 12 bits.
const INDICES: u64 = 4095;

/// Compares coordinates with their places.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    const ZONES: u64 = 16;
    const ASN: &str = "12 bits of index in an AS number and a router id";
    let mut limits = vec![
        (field!("zones"), draft.zones, ZONES, "zones", "4 bits of zone in a NIC address"),
        (field!("hosts.groups"), draft.groups, INDICES, "T0 groups", "12 bits of group in a NIC address"),
    ];
    // Without BGP no switch has either number.
    if draft.routing.speaks_bgp() {
        let t2s = draft.t2.as_ref().map_or(0, |t2| t2.count);
        limits.extend([
            (field!("tiers.t0.up"), draft.t1.count, INDICES, "T1s in a plane and zone", ASN),
            (field!("tiers.t1.up"), t2s, INDICES, "T2s in a plane", ASN),
        ]);
    }
    for (path, number, max, what, place) in limits {
        if number > max && u16::try_from(number).is_ok() {
            out.push(
                Diagnostic::error(&RULE, format!("{number} {what} do not fit the addresses, {max} do"))
                    .at(draft.at(path), "")
                    .note(place),
            );
        }
    }
    management(draft, out);
}

/// IPv4 management addresses put zone and index into 12 bits.
fn management(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(IpNet::V4(_)) = draft.addresses.management else { return };
    let shift = draft.layout.index.min(32);
    let t2s = draft.t2.as_ref().map_or(0, |t2| t2.count);
    let beyond = |number: u64| u16::try_from(number).is_err();
    if draft.groups > INDICES || [draft.t1.count, t2s].into_iter().any(beyond) {
        return; // Groups do not fit NIC addresses, or numbers nothing, which is said elsewhere.
    }
    let index = draft.groups.max(draft.t1.count);
    let zones = (draft.zones.saturating_sub(1) << shift) + index;
    if zones.max(t2s) <= INDICES {
        return;
    }
    if zones <= INDICES {
        out.push(
            Diagnostic::error(
                &RULE,
                format!("{t2s} T2s in a plane, an IPv4 management address has room for {INDICES}"),
            )
            .at(draft.at(field!("addresses.management")), "12 bits of zone and index")
            .and(draft.at(field!("tiers.t1.up")), "")
            .help("use an IPv6 prefix for `addresses.management`"),
        );
        return;
    }
    let largest = zones;
    out.push(
        Diagnostic::error(
            &RULE,
            format!("zone and index reach {largest}, an IPv4 management address has room to 4095"),
        )
        .at(draft.at(field!("addresses.management")), "12 bits of zone and index")
        .and(draft.at(field!("zones")), format!("zones to {}", draft.zones.saturating_sub(1)))
        .note(format!(
            "zone {} x 2^{shift} (`srv6.widths.index`) + {index} = {largest}",
            draft.zones.saturating_sub(1)
        ))
        .help("use an IPv6 prefix for `addresses.management`, or a narrower `srv6.widths.index`"),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn coordinates_fit_their_places() {
        assert!(codes("hosts: { groups: 5000 }").contains(&"E0504"));
        assert_eq!(
            message("hosts: { groups: 5000 }", "E0504"),
            "5000 T0 groups do not fit the addresses, 4095 do"
        );
        assert_eq!(
            message("{ zones: 3, srv6: { widths: { zone: 0, index: 11 } } }", "E0504"),
            "zone and index reach 4352, an IPv4 management address has room to 4095"
        );
    }

    /// Numbers that only BGP has are not a limit of a fabric without it.
    #[test]
    fn as_numbers_bound_fabrics_with_bgp_only() {
        let many = |routing: &str, more: &str| {
            format!(
                "{{ routing: {routing}, zones: 2, addresses: {{ {more} }}, hosts: {{ groups: 64 }}, \
                 tiers: {{ t0: {{ up: 128 }}, t1: {{ up: 64 }}, \
                 t2: {{ platform: box-256x200g, wiring: rows, rows: 128, ports_per_zone: 1 }} }} }}"
            )
        };
        let v6 = "management: \"2001:db8::/64\"";
        let text = "8192 T2s in a plane do not fit the addresses, 4095 do";
        assert_eq!(message(&many("bgp-unnumbered", v6), "E0504"), text);
        assert!(!codes(&many("ecmp-static", v6)).contains(&"E0504"));
        let text = "8192 T2s in a plane, an IPv4 management address has room for 4095";
        assert_eq!(message(&many("ecmp-static", "management: 10.64.0.0/14"), "E0504"), text);
    }
}
