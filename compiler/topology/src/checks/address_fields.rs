//! E0504: a zone, group or index is too large for the addresses.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use crate::checks::words::{and_if, count};
use crate::draft::Draft;
use crate::field;
use crate::field::Field;
use crate::ipv4::Ipv4Widths;
use crate::widths::AddressWidths;

/// A zone, group or index is too large for the addresses.
pub(crate) static RULE: Rule = Rule {
    code: "E0504",
    title: "a coordinate does not fit its field in an address",
    condition: "Zones, groups and indices fit their fields in addresses. IPv6 addresses of NICs have 16 bits \
           for zone and group, and fabrics with IPv4 have the same limits. The default is 16 zones of 4,095 \
           groups. `addresses.widths.zone` permits up to 256 zones of fewer groups. With `bgp-unnumbered`, \
           AS numbers and router ids have room for 4,095 T0s and 4,095 T1s of a zone. An IPv4 management \
           pool of /14 or shorter has 12 bits for zone and index together, unless `addresses.widths` sets \
           others. Widths of planes and ports in IPv4 addresses, if `addresses.widths` sets them, hold the \
           planes of the fabric and the ports of the hardware.",
    impact: "A truncated coordinate gives two devices one address.",
    example: "hosts: { groups: 5000 }",
    fix: "Set `addresses.widths` as the message proposes, or make zones smaller or fewer. Widths renumber \
          NICs, so choose them with room to grow. For management, use an IPv6 pool or set \
          `addresses.widths.index`.",
};

/// Checks that coordinates fit their bits.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !ranges(draft, out) {
        return;
    }
    nics(draft, out);
    speakers(draft, out);
    management(draft, out);
    ipv4_places(draft, out);
}

/// Checks that the stated widths of planes and ports in IPv4 addresses suffice for the current planes and for the
/// ports of the hardware.
fn ipv4_places(draft: &Draft<'_>, out: &mut Diagnostics) {
    let least = Ipv4Widths::minimum(&draft.ipv4_counts());
    let stated = draft.addresses.widths;
    let stated = [stated.plane, stated.t0_downlink, stated.t0_uplink, stated.t1_uplink];
    for ((path, least), stated) in least.places().into_iter().zip(stated) {
        let Some(bits) = stated.filter(|bits| *bits < least) else { continue };
        let what =
            if path == field!("addresses.widths.plane") { "the planes" } else { "the ports of the hardware" };
        out.push(
            Diagnostic::error(
                &RULE,
                format!("`{path}` is {bits}, but {what} need {}", count(least.into(), "bit")),
            )
            .at(draft.at(path), "")
            .set([(path.path(), least.to_string())], format!("set it to {least} or more, or remove it")),
        );
    }
}

/// Checks that widths are in their ranges, and returns the result.
fn ranges(draft: &Draft<'_>, out: &mut Diagnostics) -> bool {
    let stated =
        draft.doc.addresses.as_ref().and_then(|addresses| addresses.widths.clone()).unwrap_or_default();
    let zone = AddressWidths::ZONE_MIN..=AddressWidths::ZONE_MAX;
    let widths = [
        (field!("addresses.widths.zone"), stated.zone, zone),
        (field!("addresses.widths.index"), stated.index, 1..=AddressWidths::INDEX_MAX),
        (field!("addresses.widths.plane"), stated.plane, 0..=AddressWidths::PLANE_MAX),
        (field!("addresses.widths.t0_downlink"), stated.t0_downlink, 1..=AddressWidths::PORT_MAX),
        (field!("addresses.widths.t0_uplink"), stated.t0_uplink, 1..=AddressWidths::PORT_MAX),
        (field!("addresses.widths.t1_uplink"), stated.t1_uplink, 1..=AddressWidths::PORT_MAX),
    ];
    let mut is_within = true;
    for (path, bits, range) in widths {
        let Some(bits) = bits.filter(|bits| !range.contains(&bits.value)) else { continue };
        is_within = false;
        let (least, most) = range.into_inner();
        out.push(
            Diagnostic::error(&RULE, format!("`{path}` is {}, expected {least} to {most}", bits.value))
                .at(bits.span, "")
                .help(format!("set it to {least} to {most}, or remove it to get the default")),
        );
    }
    is_within
}

/// Checks that zone and group fit into one hextet of a NIC address.
fn nics(draft: &Draft<'_>, out: &mut Diagnostics) {
    let widths = draft.addresses.widths;
    let proposed = widths.with_room_for(draft.zones, draft.groups);
    let limits = [
        (field!("zones"), draft.zones, widths.zones_max(), "zones", "zone", widths.zone),
        (field!("hosts.groups"), draft.groups, widths.groups_max(), "T0 groups", "group", widths.group()),
    ];
    for (path, number, max, what, field, bits) in limits {
        if number <= u64::from(max) || u16::try_from(number).is_err() {
            continue;
        }
        let diagnostic = Diagnostic::error(
            &RULE,
            format!("{number} {what} do not fit the addresses; the maximum is {max}"),
        )
        .at(draft.at(path), "")
        .note(format!("{bits} bits of {field} in a NIC address"));
        let path = field!("addresses.widths.zone");
        let diagnostic = and_if(diagnostic, draft.stated_span(path), format!("{} bits of zone", widths.zone));
        out.push(match proposed {
            Some(own) => diagnostic.set([(path.path(), own.zone.to_string())], help(own)),
            None => diagnostic.help("no widths fit 16 bits: make zones fewer or smaller"),
        });
    }
}

fn help(own: AddressWidths) -> String {
    format!(
        "set `addresses.widths: {{ zone: {} }}`: room for {} zones of {} T0 groups",
        own.zone,
        own.zones_max(),
        own.groups_max()
    )
}

/// Checks that the index of each T0 and T1 fits AS numbers and router ids, which have 12 bits for it. T2s use
/// the zone bits as well.
fn speakers(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.speaks_bgp() {
        return; // Without BGP, switches have neither number.
    }
    let max = u64::from(AddressWidths::SPEAKERS_MAX);
    let limits: [(Field, u64, &str); 2] = [
        (field!("hosts.groups"), draft.groups, "T0s in a plane and zone"),
        (field!("tiers.t0.up"), draft.t1.count, "T1s in a plane and zone"),
    ];
    for (path, number, what) in limits {
        if number > max && u16::try_from(number).is_ok() {
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!("{number} {what} do not fit router ids; the maximum is {max}"),
                )
                .at(draft.at(path), "")
                .note("12 bits of index in an AS number and a router id"),
            );
        }
    }
}

/// Checks that zones and indices fit IPv4 management addresses, which have 12 bits for both, or the widths
/// that the file states.
fn management(draft: &Draft<'_>, out: &mut Diagnostics) {
    let widths = draft.addresses.widths;
    // Smaller pools have widths of their own.
    let fixed = widths.management_v4_max();
    let Some(IpNet::V4(_)) = draft.addresses.management.filter(|pool| pool.prefix_len() <= fixed) else {
        return;
    };
    let shift = widths.index.map_or(draft.layout.index.min(32), u64::from);
    let (bits, max) = (widths.device(), (1_u64 << widths.device()) - 1);
    let t2s = draft.t2.as_ref().map_or(0, |t2| t2.count);
    let beyond = |number: u64| u16::try_from(number).is_err();
    if draft.zones > widths.zones_max().into()
        || draft.groups > widths.groups_max().into()
        || [draft.t1.count, t2s].into_iter().any(beyond)
    {
        return; // Zones or groups do not fit NIC addresses, or an index is too large for every address.
    }
    let index = draft.groups.max(draft.t1.count);
    let last = draft.zones.saturating_sub(1);
    // An index that needs more bits would overlap the zone.
    let reach = if index >> shift > 0 && last > 0 { u64::MAX } else { (last << shift) + index };
    if reach.max(t2s) <= max {
        return;
    }
    let at = draft.at(field!("addresses.management"));
    let place = format!("{bits} bits of zone and index");
    let found = if reach <= max {
        let message = format!("{t2s} T2s in a plane, but an IPv4 management address has room for {max}");
        Diagnostic::error(&RULE, message).at(at, place).and(draft.at(field!("tiers.t1.up")), "")
    } else {
        let setting = match widths.index {
            Some(_) => field!("addresses.widths.index"),
            None => field!("srv6.widths.index"),
        };
        let (message, sum) = if reach == u64::MAX {
            let message =
                format!("indices reach {index}, but an IPv4 management address has {shift} bits for them");
            (message, format!("2^{shift} (`{setting}`) - 1 = {}", (1_u64 << shift) - 1))
        } else {
            let message =
                format!("zone and index reach {reach}, but an IPv4 management address has room to {max}");
            (message, format!("zone {last} x 2^{shift} (`{setting}`) + {index} = {reach}"))
        };
        let diagnostic = Diagnostic::error(&RULE, message).at(at, place);
        diagnostic.and(draft.at(field!("zones")), format!("zones up to {last}")).note(sum)
    };
    out.push(with_index(found, draft, index.max(t2s >> widths.zone)));
}

/// Adds a suggestion to a finding: the width of the index that `index` needs.
fn with_index(found: Diagnostic, draft: &Draft<'_>, index: u64) -> Diagnostic {
    let bits = (64 - index.leading_zeros()) as u8;
    let widths = AddressWidths { index: Some(bits), ..draft.addresses.widths };
    let path = field!("addresses.widths.index");
    let help = format!(
        "use an IPv6 prefix for `addresses.management`, or set `addresses.widths.index` to {bits} and use a /{} or shorter",
        widths.management_v4_max()
    );
    found.set([(path.path(), bits.to_string())], help)
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, help, message};

    #[test]
    fn coordinates_fit_their_places() {
        assert!(codes("hosts: { groups: 5000 }").contains(&"E0504"));
        assert_eq!(
            message("hosts: { groups: 5000 }", "E0504"),
            "5000 T0 groups do not fit the addresses; the maximum is 4095"
        );
        assert_eq!(
            message("{ zones: 3, srv6: { widths: { zone: 0, index: 11 } } }", "E0504"),
            "zone and index reach 4352, but an IPv4 management address has room to 4095"
        );
    }

    /// T2s can use the zone bits as well, except in IPv4 management addresses of the default width.
    #[test]
    fn more_t2s_than_twelve_bits_have_numbers() {
        let many = |routing: &str, more: &str| {
            format!(
                "{{ routing: {routing}, zones: 2, addresses: {{ {more} }}, hosts: {{ groups: 64 }}, \
                 tiers: {{ t0: {{ up: 128 }}, t1: {{ up: 64 }}, \
                 t2: {{ platform: box-256x200g, wiring: rows, rows: 128, ports_per_zone: 1 }} }} }}"
            )
        };
        let v6 = "management: \"2001:db8::/64\"";
        for routing in ["bgp-unnumbered", "ecmp-static"] {
            assert!(!codes(&many(routing, v6)).contains(&"E0504"), "{routing}");
        }
        let text = "8192 T2s in a plane, but an IPv4 management address has room for 4095";
        assert_eq!(message(&many("ecmp-static", "management: 10.64.0.0/14"), "E0504"), text);
    }

    /// Pods of 32 T0s and 32 T1s under T2s of 64 ports.
    fn pods(zones: u32, addresses: &str) -> String {
        format!(
            "{{ planes: 1, routing: ecmp-static, zones: {zones}, addresses: {{ {addresses} }}, \
             hosts: {{ groups: 32, per_group: 32, nic: {{ speed: 200G, lanes: 4 }} }}, \
             tiers: {{ t0: {{ up: 32 }}, t1: {{ up: 32 }}, \
             t2: {{ platform: box-256x200g, wiring: rows, rows: 32, ports_per_zone: 1 }} }} }}"
        )
    }

    #[test]
    fn stated_widths_hold_planes_and_ports() {
        let of = |width: &str| {
            format!(
                "{{ routing: ecmp-static, qos: none, \
                 addresses: {{ hosts: 11.0.0.0/8, links: 100.0.0.0/8, widths: {{ {width} }} }} }}"
            )
        };
        let planes = "`addresses.widths.plane` is 0, but the planes need 1 bit";
        assert_eq!(message(&of("plane: 0"), "E0504"), planes);
        assert_eq!(help(&of("plane: 0"), "E0504"), "set it to 1 or more, or remove it");
        let ports = "`addresses.widths.t0_uplink` is 3, but the ports of the hardware need 8 bits";
        assert_eq!(message(&of("t0_uplink: 3"), "E0504"), ports);
        assert_eq!(message(&of("plane: 5"), "E0504"), "`addresses.widths.plane` is 5, expected 0 to 4");
        assert!(!codes(&of("plane: 2, t0_downlink: 8, t0_uplink: 8")).contains(&"E0504"));
    }

    #[test]
    fn more_zones_need_a_width_that_the_help_names() {
        let v6 = "management: \"2001:db8::/64\"";
        assert_eq!(message(&pods(64, v6), "E0504"), "64 zones do not fit the addresses; the maximum is 16");
        let text = "set `addresses.widths: { zone: 6 }`: room for 64 zones of 1023 T0 groups";
        assert_eq!(help(&pods(64, v6), "E0504"), text);
        let wide = format!("{v6}, widths: {{ zone: 6 }}");
        assert!(!codes(&pods(64, &wide)).contains(&"E0504"));
        let too_wide = format!("{v6}, widths: {{ zone: 9 }}");
        assert_eq!(message(&pods(64, &too_wide), "E0504"), "`addresses.widths.zone` is 9, expected 1 to 8");
    }

    #[test]
    fn management_over_ipv4_takes_a_stated_index() {
        let v4 = |widths: &str, length: u8| {
            pods(64, &format!("management: 10.0.0.0/{length}, widths: {{ zone: 6, {widths} }}"))
        };
        assert_eq!(
            message(&v4("", 14), "E0504"),
            "zone and index reach 16160, but an IPv4 management address has room to 4095"
        );
        assert_eq!(
            help(&v4("", 14), "E0504"),
            "use an IPv6 prefix for `addresses.management`, or set `addresses.widths.index` to 6 and use a /14 or shorter"
        );
        assert_eq!(
            message(&v4("index: 5", 15), "E0504"),
            "indices reach 32, but an IPv4 management address has 5 bits for them"
        );
        assert!(!codes(&v4("index: 6", 14)).contains(&"E0504"));
        assert_eq!(
            message(&v4("index: 6", 15), "E0502"),
            "`addresses.management` is a /15; expected a /14 or shorter"
        );
    }
}
