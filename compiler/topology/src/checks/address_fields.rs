//! E0504: a zone, group or index is too large for the addresses.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use crate::draft::Draft;
use crate::field;

/// A zone, group or index is too large for the addresses.
pub(crate) static RULE: Rule = Rule {
    code: "E0504",
    title: "a coordinate does not fit its place in an address",
    what: "Zones, groups and indices fit the places that addresses have for them: 16 zones and 4,095 groups \
           in NIC addresses, 4,095 switches of a tier in AS numbers and router ids, and zone and index \
           together 12 bits in IPv4 management addresses.",
    why: "A coordinate that is cut off gives two devices one address.",
    example: "hosts: { groups: 5000 }",
    fix: "Make zones smaller or fewer; for management use an IPv6 pool.",
};

/// Compares coordinates with their places.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    const ZONES: u64 = 16;
    const INDICES: u64 = 4095;
    let limits = [
        (field!("zones"), draft.zones, ZONES, "zones", "4 bits of zone in a NIC address"),
        (field!("hosts.groups"), draft.groups, INDICES, "T0 groups", "12 bits of group in a NIC address"),
        (
            field!("tiers.t0.up"),
            draft.t1.count,
            INDICES,
            "T1s in a plane and zone",
            "12 bits of index in an AS number",
        ),
        (
            field!("tiers.t1.up"),
            draft.t2.as_ref().map_or(0, |t2| t2.count),
            INDICES,
            "T2s in a plane",
            "12 bits of index in an AS number",
        ),
    ];
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
    let index = [draft.groups, draft.t1.count].into_iter().max().unwrap_or(0);
    let largest = (draft.zones.saturating_sub(1) << shift) + index;
    if largest < 1 << 12 || index >= 1 << 12 {
        return; // It fits, or the index alone is too large, which was said above.
    }
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
}
