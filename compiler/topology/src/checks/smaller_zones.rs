//! E0321: a smaller zone has too many T0 groups or none, does not exist, is listed twice, or splits its units.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};

use crate::draft::Draft;
use crate::field;

/// A smaller zone has too many T0 groups or none, does not exist, is listed twice, or splits its units.
pub(crate) static RULE: Rule = Rule {
    code: "E0321",
    title: "a zone has an invalid number of T0 groups",
    condition: "Every zone of `hosts.groups_by_zone` exists and is listed once. It has at least one and at most \
           `hosts.groups` T0 groups, a multiple of the rails of a zone. All zones together lack at most \
           1,000,000 NICs.",
    impact: "Ports and addresses are reserved for `hosts.groups` in every zone. The missing groups of a zone \
           are gaps at its end. The nodes of an incomplete unit would lack NICs.",
    example: "hosts: { groups_by_zone: { 0: 300 } }",
    fix: "Set `hosts.groups` to the groups of the largest zone, and list the zones that have fewer.",
};

/// Maximum number of NICs that smaller zones may lack. Each missing NIC is stored with its coordinate.
const HOLES_MAX: u64 = 1_000_000;

/// Checks the sizes of zones.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let rails = draft.rails_in_zone().max(1);
    let mut seen: BTreeMap<u16, Span> = BTreeMap::new();
    for (zone, groups) in draft.doc.hosts.groups_by_zone.iter().flat_map(|zones| &zones.0) {
        let (number, count) = (zone.value, u64::from(groups.value));
        if u64::from(number) >= draft.zones {
            let last = draft.zones.saturating_sub(1);
            let message = format!("no zone {number} in this fabric; expected 0 to {last}");
            out.push(Diagnostic::error(&RULE, message).at(zone.span, "has groups here"));
        } else if let Some(first) = seen.insert(number, zone.span) {
            out.push(
                Diagnostic::error(&RULE, format!("zone {number} has two sizes"))
                    .at(zone.span, "again here")
                    .and(first, "first here"),
            );
        } else if count == 0 || count > draft.groups {
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!("zone {number} has {count} T0 groups; expected 1 to {}", draft.groups),
                )
                .at(groups.span, "in this zone")
                .and(draft.at(field!("hosts.groups")), "in the largest zone")
                .help("set `hosts.groups` to the groups of the largest zone"),
            );
        } else if !count.is_multiple_of(rails) {
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!("the {count} T0 groups of zone {number} do not fill complete units"),
                )
                .at(groups.span, format!("{count} / {rails} is not a whole number"))
                .and(draft.at(field!("hosts.rails")), format!("{rails} rails, so {rails} groups per unit")),
            );
        }
    }
    holes(draft, out);
}

/// Counts the NICs that smaller zones lack.
fn holes(draft: &Draft<'_>, out: &mut Diagnostics) {
    let sizes = draft.doc.hosts.groups_by_zone.iter().flat_map(|zones| &zones.0);
    let lacking = sizes.map(|(_, groups)| draft.groups.saturating_sub(u64::from(groups.value))).sum::<u64>();
    let narrow = draft.doc.hosts.per_group_by_zone.iter().flat_map(|zones| &zones.0);
    let narrow = narrow.map(|(_, nics)| draft.per_group.saturating_sub(u64::from(nics.value))).sum::<u64>();
    let nics = lacking.saturating_mul(draft.per_group).saturating_add(narrow.saturating_mul(draft.groups));
    if nics > HOLES_MAX {
        out.push(
            Diagnostic::error(
                &RULE,
                format!("the smaller zones lack {nics} NICs; at most {HOLES_MAX} can be missing"),
            )
            .at(
                draft.at(if lacking > 0 {
                    field!("hosts.groups_by_zone")
                } else {
                    field!("hosts.per_group_by_zone")
                }),
                format!(
                    "missing: {lacking} T0 groups of {} NICs, {narrow} NICs per other group",
                    draft.per_group
                ),
            )
            .and(draft.at(field!("hosts.groups")), "in the largest zone")
            .help("lower `hosts.groups` to the groups of the largest zone, or use fewer zones"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn zones_are_as_large_as_the_largest_or_smaller() {
        assert_eq!(codes("hosts: { groups_by_zone: { 0: 128 } }"), Vec::<&str>::new());
        assert_eq!(
            message("hosts: { groups_by_zone: { 0: 300 } }", "E0321"),
            "zone 0 has 300 T0 groups; expected 1 to 256"
        );
        assert_eq!(
            message("hosts: { groups_by_zone: { 1: 30 } }", "E0321"),
            "no zone 1 in this fabric; expected 0 to 0"
        );
        assert_eq!(
            message("hosts: { rails: 4, groups_by_zone: { 0: 30 } }", "E0321"),
            "the 30 T0 groups of zone 0 do not fill complete units"
        );
    }

    #[test]
    fn holes_are_counted() {
        let fabric = |groups| {
            format!(
                "zones: 16\nhosts: {{ groups: {groups}, per_group: 500, groups_by_zone: {{ 1: 1, 2: 1, 3: 1, 4: 1, 5: 1 }} }}"
            )
        };
        let found = message(&fabric(500), "E0321");
        assert_eq!(found, "the smaller zones lack 1247500 NICs; at most 1000000 can be missing");
        assert!(!codes(&fabric(400)).contains(&"E0321"));
    }
}
