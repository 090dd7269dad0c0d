//! E0221: the ports of a NIC do not fill its cages.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{choice, count};
use crate::draft::{Draft, Place};

/// The ports of a NIC do not fill its cages.
pub(crate) static RULE: Rule = Rule {
    code: "E0221",
    title: "the ports of a NIC do not fill its cages",
    condition: "`hosts.nic.cages` divides the ports of a NIC, one per plane, or those of an adapter with several \
           NICs. Each cage has 1, 2, 4 or 8 ports.",
    impact: "Each cage has equally many ports, and cables split a cage into 2, 4 or 8 ports.",
    example: "hosts: { nic: { speed: 400G, lanes: 4, cages: 3 } }",
    fix: "Set `cages` to the number of cages of the NIC, or `planes` to the number of its ports.",
};

/// Numbers of ports into which cables can split a cage.
const SPLITS: [u64; 4] = [1, 2, 4, 8];

/// Divides the ports of a NIC by its cages, place by place.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    draft.places().iter().filter_map(|place| divide(draft, place)).for_each(|found| out.push(found));
}

fn divide(draft: &Draft<'_>, place: &Place<'_>) -> Option<Diagnostic> {
    let (ports, cages, stated) = (draft.adapter_ports(), place.cages, place.cages_stated?);
    if ports == 0 || cages == 0 {
        return None; // Other rules report zero.
    }
    let fits = |cages: &u64| ports.is_multiple_of(*cages) && SPLITS.contains(&(ports / cages));
    if fits(&cages) {
        return None;
    }
    let (held, zone) = (count(ports, "port"), place.of_zone());
    let owner = if draft.nics_per_adapter > 1 { "an adapter" } else { "a NIC" };
    let message = if ports.is_multiple_of(cages) {
        format!("no cable splits a cage of {owner}{zone} into {}", count(ports / cages, "port"))
    } else {
        format!("the {held} of {owner}{zone} cannot be divided evenly over {}", count(cages, "cage"))
    };
    let fitting = choice((1..=ports).filter(fits));
    Some(
        Diagnostic::error(&RULE, message)
            .at(stated, count(cages, "cage"))
            .and(draft.doc.planes.span, label(draft, &held))
            .help(format!("use {fitting} cages")),
    )
}

/// Explains the number of ports.
fn label(draft: &Draft<'_>, ports: &str) -> String {
    let planes = count(draft.planes, "plane");
    if draft.nics_per_adapter > 1 {
        format!("{planes}, {} per adapter and therefore {ports}", count(draft.nics_per_adapter, "NIC"))
    } else {
        format!("{planes} and therefore {ports}")
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, help, message};

    fn file(planes: u8, lanes: u8, cages: u8) -> String {
        format!(
            "{{ planes: {planes}, hosts: {{ nic: {{ speed: {}G, lanes: {lanes}, cages: {cages} }} }} }}",
            u16::from(planes) * 200
        )
    }

    #[test]
    fn cages_have_equally_many_ports_of_a_breakout() {
        assert!(codes(RULE.example).contains(&RULE.code));
        for (planes, cages) in [(2, 1), (2, 2), (4, 1), (4, 2), (4, 4), (6, 3), (6, 6)] {
            assert!(!codes(&file(planes, planes, cages)).contains(&RULE.code), "{planes} {cages}");
        }
        let uneven = file(4, 4, 3);
        assert_eq!(message(&uneven, RULE.code), "the 4 ports of a NIC cannot be divided evenly over 3 cages");
        assert_eq!(help(&uneven, RULE.code), "use 1, 2 or 4 cages");
        assert_eq!(message(&file(6, 6, 2), RULE.code), "no cable splits a cage of a NIC into 3 ports");
        assert_eq!(message(&file(2, 2, 0), "E0302"), "`hosts.nic.cages` is 0; expected at least 1");
    }

    #[test]
    fn zones_have_cages_of_their_own() {
        let zone = "hosts: { nic_by_zone: { 0: { speed: 400G, lanes: 4, cages: 4 } } }";
        assert_eq!(
            message(zone, RULE.code),
            "the 2 ports of a NIC of zone 0 cannot be divided evenly over 4 cages"
        );
    }
}
