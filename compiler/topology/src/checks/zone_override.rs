//! E0323: the file sets hardware, a NIC or a number of NICs for a zone that cannot have it.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};

use crate::checks::words::count;
use crate::draft::{Draft, by_plane, by_zone};
use crate::field;
use crate::read::{NameMap, Spanned};

/// The file sets hardware, a NIC or a number of NICs for a zone that cannot have it.
pub(crate) static RULE: Rule = Rule {
    code: "E0323",
    title: "an invalid setting for a single zone",
    condition: "Each zone in `by_zone` of T0s and T1s, `hosts.nic_by_zone` and `hosts.per_group_by_zone` exists \
           and is listed once. No tier has both `by_zone` and `by_plane`. The T0 groups of a zone have 1 to \
           `hosts.per_group` NICs, in complete nodes. NICs have at least one lane.",
    impact: "The first zone is zone 0. A setting for a zone that does not exist was probably intended for \
           another. A switch with overrides by plane and by zone would have two kinds of hardware. Ports and \
           addresses are reserved for `hosts.per_group` NICs in every zone, and missing NICs are gaps.",
    example: "tiers: { t0: { by_zone: { 2: { platform: th5-512x100g } } } }",
    fix: "Correct the zone. Use `exceptions.devices` for single switches with other hardware. Set \
           `hosts.per_group` to the NICs of the largest zone's groups.",
};

/// Checks the settings of single zones.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for tier in draft.tiers() {
        let own = by_zone(draft.doc, tier.id);
        zones(draft, own.iter().map(|(zone, _)| zone), out);
        if let (Some((zone, _)), Some((_, plane, _))) = (own.first(), by_plane(draft.doc, tier.id).next()) {
            let label = tier.id.label();
            out.push(
                Diagnostic::error(&RULE, format!("{label}s have hardware by plane and by zone"))
                    .at(zone.span, "by zone")
                    .and(plane, "by plane")
                    .note(format!("a {label} in such a plane and such a zone would have two"))
                    .help("keep one of them, and name single switches in `exceptions.devices`"),
            );
        }
    }
    let hosts = &draft.doc.hosts;
    zones(draft, keys(hosts.nic_by_zone.as_ref()), out);
    zones(draft, keys(hosts.per_group_by_zone.as_ref()), out);
    for (_, nic) in hosts.nic_by_zone.iter().flat_map(|zones| &zones.0) {
        if let Some(lanes) = nic.lanes.filter(|lanes| lanes.value == 0) {
            out.push(
                Diagnostic::error(&RULE, "a NIC has no lanes")
                    .at(lanes.span, "it must be at least 1")
                    .help("write the lanes that the NIC has"),
            );
        }
    }
    sizes(draft, out);
}

fn keys<T>(named: Option<&NameMap<u16, T>>) -> impl Iterator<Item = &Spanned<u16>> {
    named.into_iter().flat_map(|named| &named.0).map(|(zone, _)| zone)
}

/// Checks that zones exist and are named once.
fn zones<'a>(draft: &Draft<'_>, named: impl Iterator<Item = &'a Spanned<u16>>, out: &mut Diagnostics) {
    let mut seen: BTreeMap<u16, Span> = BTreeMap::new();
    for zone in named {
        let number = zone.value;
        if u64::from(number) >= draft.zones {
            let last = draft.zones.saturating_sub(1);
            out.push(
                Diagnostic::error(&RULE, format!("no zone {number} in this fabric; expected 0 to {last}"))
                    .at(zone.span, "named here")
                    .and(draft.at(field!("zones")), count(draft.zones, "zone")),
            );
        } else if let Some(first) = seen.insert(number, zone.span) {
            out.push(
                Diagnostic::error(&RULE, format!("zone {number} is named twice"))
                    .at(zone.span, "again here")
                    .and(first, "first here")
                    .help("name it once"),
            );
        }
    }
}

/// Checks the number of NICs per group of each zone.
fn sizes(draft: &Draft<'_>, out: &mut Diagnostics) {
    let share = draft.nics_per_node.checked_div(draft.rails).unwrap_or(0).max(1);
    let sizes = draft.doc.hosts.per_group_by_zone.iter().flat_map(|zones| &zones.0);
    for (zone, nics) in sizes {
        let (number, size) = (zone.value, u64::from(nics.value));
        if size == 0 || size > draft.per_group {
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!(
                        "a T0 group of zone {number} has {}; expected 1 to {}",
                        count(size, "NIC"),
                        draft.per_group
                    ),
                )
                .at(nics.span, "in this zone")
                .and(draft.at(field!("hosts.per_group")), "in the largest zone")
                .help("set `hosts.per_group` to the NICs of the largest zone's groups"),
            );
        } else if !size.is_multiple_of(share) {
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!(
                        "{} of a T0 group of zone {number} do not fill complete nodes",
                        count(size, "NIC")
                    ),
                )
                .at(nics.span, format!("{size} / {share} is not a whole number"))
                .and(
                    draft.at(field!("hosts.nics_per_node")),
                    format!("each node has {} on one T0 group", count(share, "NIC")),
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn what_is_said_of_zones_is_of_zones() {
        let said = [
            "tiers: { t0: { by_zone: { 1: { os: frr } } } }",
            "tiers: { t1: { by_zone: { 1: { os: frr } } } }",
            "hosts: { nic_by_zone: { 1: { speed: 800G } } }",
            "hosts: { per_group_by_zone: { 1: 64 } }",
        ];
        for text in said {
            assert_eq!(message(text, "E0323"), "no zone 1 in this fabric; expected 0 to 0", "{text}");
        }
        let both = "tiers: { t0: { by_plane: { 1: { os: frr } }, by_zone: { 0: { os: frr } } } }";
        assert_eq!(message(both, "E0323"), "T0s have hardware by plane and by zone");
        assert!(!codes("tiers: { t0: { by_zone: { 0: { os: frr } } } }").contains(&"E0323"));
    }

    #[test]
    fn groups_are_as_large_as_the_largest_or_smaller() {
        let size = |nics: u32| format!("hosts: {{ per_group_by_zone: {{ 0: {nics} }} }}");
        assert!(!codes(&size(64)).contains(&"E0323"));
        let found = message(&size(129), "E0323");
        assert_eq!(found, "a T0 group of zone 0 has 129 NICs; expected 1 to 128");
        let found = message(&size(6), "E0323");
        assert_eq!(found, "6 NICs of a T0 group of zone 0 do not fill complete nodes");
        assert!(codes(&size(0)).contains(&"E0323"));
        assert_eq!(
            message("hosts: { nic_by_zone: { 0: { speed: 400G, lanes: 0 } } }", "E0323"),
            "a NIC has no lanes"
        );
    }
}
