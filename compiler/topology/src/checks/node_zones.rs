//! E0327: nodes cannot be spread over zones as stated.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{choice, count};
use crate::draft::Draft;
use crate::field;
use crate::read::NameMap;

/// Nodes cannot be spread over zones as stated.
pub(crate) static RULE: Rule = Rule {
    code: "E0327",
    title: "nodes do not fit the zones they are spread over",
    condition: "`hosts.zones_per_node` divides `hosts.rails` and `zones`. The zones that share nodes have the \
           same number of T0 groups and NICs, the same NICs, and one site.",
    impact: "Each zone takes the same number of rails of a node. If one of them has fewer T0s or NICs, nodes \
           would lack NICs.",
    example: "zones: 6\nhosts: { rails: 8, zones_per_node: 4 }",
    fix: "Choose a divisor of `rails`, and make `zones` a multiple of it. State the same sizes, NICs and \
           site for all zones of a node.",
};

/// Checks the rails, the number of zones, and that zones with shared nodes are equal.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let own = draft.zones_per_node;
    if own < 2 {
        return;
    }
    let divisors = |number: u64| (1..=number.min(64)).filter(move |divisor| number.is_multiple_of(*divisor));
    for (field, number, noun) in
        [(field!("hosts.rails"), draft.rails, "rail"), (field!("zones"), draft.zones, "zone")]
    {
        if number == 0 || number.is_multiple_of(own) {
            continue;
        }
        let fits = divisors(draft.rails).filter(|divisor| draft.zones.is_multiple_of(*divisor));
        let help = format!("set `hosts.zones_per_node` to {}", choice(fits.clone()));
        out.push(
            Diagnostic::error(
                &RULE,
                format!("{} cannot be divided over {own} zones per node", count(number, noun)),
            )
            .at(draft.at(field!("hosts.zones_per_node")), format!("{number} / {own} is not a whole number"))
            .and(draft.at(field), count(number, noun))
            .set_either(field!("hosts.zones_per_node").path(), fits.collect::<Vec<u64>>(), help),
        );
        return;
    }
    compare_zones(draft, out);
}

/// Compares the zones that share nodes.
fn compare_zones(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (hosts, own) = (&draft.doc.hosts, draft.zones_per_node);
    let site = |zone: u64| {
        let mut sites = draft.doc.sites.iter().flatten();
        sites.position(|site| site.zones.iter().any(|at| u64::from(at.value) == zone))
    };
    let groups = |zone| zone_value(hosts.groups_by_zone.as_ref(), zone, |groups| u64::from(groups.value));
    let nics = |zone| zone_value(hosts.per_group_by_zone.as_ref(), zone, |nics| u64::from(nics.value));
    let kind = |zone| {
        zone_value(hosts.nic_by_zone.as_ref(), zone, |nic| {
            (nic.speed.value, nic.lanes.map(|lanes| lanes.value))
        })
    };
    let differ = |a: u64, b: u64| {
        [
            (groups(a) != groups(b), field!("hosts.groups_by_zone"), "T0 groups"),
            (nics(a) != nics(b), field!("hosts.per_group_by_zone"), "NICs in a T0 group"),
            (kind(a) != kind(b), field!("hosts.nic_by_zone"), "NICs"),
            (site(a) != site(b), field!("sites"), "sites"),
        ]
        .into_iter()
        .find(|(differs, ..)| *differs)
    };
    let zones = draft.zones.min(u64::from(u16::MAX));
    let found = (0..zones).find_map(|zone| {
        let first = zone - zone % own;
        differ(first, zone).map(|(_, field, what)| (first, zone, field, what))
    });
    if let Some((first, zone, field, what)) = found {
        out.push(
            Diagnostic::error(
                &RULE,
                format!("zones {first} and {zone} share nodes and have different {what}"),
            )
            .at(draft.at(field), format!("different for zones {first} to {}", first + own - 1))
            .and(draft.at(field!("hosts.zones_per_node")), format!("{own} zones share their nodes"))
            .help("state the same for all zones that share nodes"),
        );
    }
}

/// Returns the value that the file states for a zone.
fn zone_value<T, V>(named: Option<&NameMap<u16, T>>, zone: u64, value: impl Fn(&T) -> V) -> Option<V> {
    named?.0.iter().find(|(at, _)| u64::from(at.value) == zone).map(|(_, own)| value(own))
}
