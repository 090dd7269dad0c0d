//! E0311: there are several zones, but no T2s to join them.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::draft::Draft;
use crate::field;

/// There are several zones, but no T2s to join them.
pub(crate) static RULE: Rule = Rule {
    code: "E0311",
    title: "several zones without a T2 tier",
    condition: "A fabric with more than one zone has a T2 tier that connects them. Without one, every node has \
           NICs in all zones (`hosts.zones_per_node`), there is a T1 tier, and the routing is `ecmp-static` \
           or `bgp-unnumbered`.",
    impact: "Zones that neither a T2 tier nor nodes connect are separate fabrics. With `srv6-static`, path \
           tables list paths to every zone. A fabric of one tier needs no zones, because its T0 groups are \
           separate in any case.",
    example: "zones: 2",
    fix: "Add `tiers.t2` and `tiers.t1.up`, or set `zones` to 1. For planes by NIC, set \
           `hosts.zones_per_node` to the number of zones.",
};

/// Checks that zones are joined.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.zones < 2 || draft.t2.is_some() {
        return;
    }
    let is_joined_by_nodes = draft.zones_per_node == draft.zones && draft.has_t1();
    if !is_joined_by_nodes {
        out.push(not_joined(draft));
    } else if draft.routing.is_source_routed() {
        out.push(routing(draft));
    }
}

fn not_joined(draft: &Draft<'_>) -> Diagnostic {
    let found = Diagnostic::error(
        &RULE,
        format!("{} are not connected: there is no T2 tier", count(draft.zones, "zone")),
    )
    .at(draft.at(field!("zones")), count(draft.zones, "zone"))
    .and(draft.at(field!("tiers")), "has no `t2`");
    if !draft.has_t1() {
        return found.help("set `zones` to 1: with one tier, `hosts.rails` alone separates T0 groups");
    }
    let found = found.help("add `tiers.t2` and `tiers.t1.up`, or set `zones` to 1");
    if draft.rails.is_multiple_of(draft.zones) {
        found.help(format!("for planes by NIC, set `hosts.zones_per_node` to {}", draft.zones))
    } else {
        found
    }
}

/// Returns the finding about source routing without a T2 tier. Path tables name T0 groups of every zone.
fn routing(draft: &Draft<'_>) -> Diagnostic {
    let message = format!(
        "`{}` needs a T2 tier for {}: its path tables list paths to every zone",
        draft.routing.keyword(),
        count(draft.zones, "zone")
    );
    let other = Routing::EcmpStatic.keyword();
    Diagnostic::error(&RULE, message)
        .at(draft.at(field!("routing")), "")
        .and(draft.at(field!("tiers")), "has no `t2`")
        .set([(field!("routing").path(), other.to_owned())], format!("set `routing: {other}`"))
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    const BY_NIC: &str = "hosts: { groups: 4, per_group: 128, nics_per_node: 4, rails: 4, zones_per_node: 4, \
                          nic: { speed: 400G } }\nzones: 4";

    #[test]
    fn zones_need_a_tier_above() {
        assert!(codes("zones: 2").contains(&"E0311"));
        assert_eq!(message("zones: 2", "E0311"), "2 zones are not connected: there is no T2 tier");
    }

    #[test]
    fn nodes_join_zones() {
        assert!(!codes(&format!("routing: ecmp-static\n{BY_NIC}")).contains(&"E0311"));
        let some = BY_NIC.replace("zones: 4", "zones: 8");
        assert!(codes(&format!("routing: ecmp-static\n{some}")).contains(&"E0311"));
        let hosts_choose =
            "`srv6-static` needs a T2 tier for 4 zones: its path tables list paths to every zone";
        assert_eq!(message(BY_NIC, "E0311"), hosts_choose);
    }
}
