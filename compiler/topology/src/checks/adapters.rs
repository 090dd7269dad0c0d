//! E0329: the NICs of an adapter cannot be attached as stated.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{choice, count};
use crate::choice::Bond;
use crate::draft::Draft;
use crate::field;

/// The NICs of an adapter cannot be attached as stated.
pub(crate) static RULE: Rule = Rule {
    code: "E0329",
    title: "the NICs of an adapter cannot be attached as stated",
    condition: "`hosts.nics_per_adapter` divides the rails of a zone, `hosts.rails / hosts.zones_per_node`, and \
           `hosts.bond` is not `lacp`.",
    impact: "The NICs of an adapter are on different T0s, so each needs a rail of its own. A bond has one address over \
           these T0s. A T0 would have to withdraw the route to a single NIC when its port fails, or synchronise \
           LACP with the other T0 (MLAG, EVPN multihoming). closc configures static routes, or one BGP route per T0 \
           group. Packets to the NIC would still reach the T0 whose port has failed.",
    example: "hosts: { nics_per_adapter: 2, rails: 2, bond: lacp }",
    fix: "Make `rails` a multiple of `nics_per_adapter`, and remove `bond`. Applications such as NCCL then use every \
           address of an adapter. If the T0s of an adapter are in different planes, as in Alibaba HPN 7.0, use \
           `planes: 2` instead. A NIC then has one address and a port in each plane.",
};

/// Checks the rails of an adapter, and the bond.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if let Some(bond) = draft.doc.hosts.bond.filter(|bond| bond.value == Bond::Lacp) {
        out.push(
            Diagnostic::error(&RULE, "a LACP bond over several T0s is not supported")
                .at(bond.span, "one address over several T0s")
                .note("no T0 withdraws a route if the port of a single NIC fails, so packets would be lost")
                .help("remove `hosts.bond`: each NIC of an adapter then has an address of its own"),
        );
    }
    let (own, rails) = (draft.nics_per_adapter, draft.rails_in_zone());
    if own < 2 || rails == 0 || rails.is_multiple_of(own) {
        return;
    }
    let zones = draft.zones_per_node.max(1);
    let nics = draft.nics_per_node;
    let fits = |rails: &u64| {
        nics.is_multiple_of(*rails)
            && rails.is_multiple_of(zones)
            && (rails / zones).is_multiple_of(own)
            && draft.groups.is_multiple_of(rails / zones)
    };
    let fitting: Vec<u64> = (1..=nics).filter(fits).collect();
    let in_zone = if zones > 1 { " in a zone" } else { "" };
    let message =
        format!("the {own} NICs of an adapter cannot be spread over {}{in_zone}", count(rails, "rail"));
    let found = Diagnostic::error(&RULE, message)
        .at(draft.at(field!("hosts.nics_per_adapter")), format!("{rails} / {own} is not a whole number"))
        .and(draft.at(field!("hosts.rails")), count(draft.rails, "rail"));
    out.push(if fitting.is_empty() {
        found.help(format!("make `hosts.nics_per_node` and `hosts.groups` multiples of {own}"))
    } else {
        let help = format!("set `hosts.rails` to {}", choice(fitting.iter().copied()));
        found.set_either(field!("hosts.rails").path(), fitting, help)
    });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, help, message};

    #[test]
    fn a_bond_is_rejected_by_name() {
        assert_eq!(codes(RULE.example), [RULE.code]);
        assert_eq!(message(RULE.example, RULE.code), "a LACP bond over several T0s is not supported");
        let none = RULE.example.replace("lacp", "none");
        assert_eq!(codes(&none), Vec::<&str>::new());
    }

    #[test]
    fn each_nic_of_an_adapter_has_a_rail() {
        for rails in [2, 4] {
            let fine = format!("hosts: {{ nics_per_adapter: 2, rails: {rails} }}");
            assert_eq!(codes(&fine), Vec::<&str>::new(), "{rails}");
        }
        let one = "hosts: { nics_per_adapter: 2 }";
        assert_eq!(message(one, RULE.code), "the 2 NICs of an adapter cannot be spread over 1 rail");
        assert_eq!(help(one, RULE.code), "set `hosts.rails` to 2 or 4");
        let odd = "hosts: { nics_per_node: 3, rails: 3, groups: 255, nics_per_adapter: 2 }";
        assert_eq!(help(odd, RULE.code), "make `hosts.nics_per_node` and `hosts.groups` multiples of 2");
    }

    #[test]
    fn cages_and_slots_are_those_of_the_adapter() {
        let hosts = |more: &str| format!("hosts: {{ nics_per_adapter: 2, rails: 2, {more} }}");
        let cages = |cages: u8| hosts(&format!("nic: {{ speed: 400G, lanes: 4, cages: {cages} }}"));
        for fine in [1, 2, 4] {
            assert_eq!(codes(&cages(fine)), Vec::<&str>::new(), "{fine}");
        }
        assert_eq!(
            message(&cages(3), "E0221"),
            "the 4 ports of an adapter cannot be divided evenly over 3 cages"
        );
        let slots = hosts("outputs: [networkd], slots: [{ pci: \"0000:18:00.0\" }]");
        assert_eq!(message(&slots, "E0320"), "1 slot for 2 adapters of a node");
        let close = "outputs: [networkd], slots: [{ pci: \"0000:18:00.0\" }, { pci: \"0000:18:00.3\" }]";
        assert_eq!(message(&hosts(close), "E0320"), "two devices of a node are at `0000:18:00.3`");
    }
}
