//! E0302: a count that must be at least 1 is 0.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::document::PortsDoc;
use crate::draft::{Draft, Ports};
use crate::field;

/// A count that must be at least 1 is 0.
pub(crate) static RULE: Rule = Rule {
    code: "E0302",
    title: "a count is zero",
    condition: "Every count is at least 1: groups, NICs, rails, lanes, cages, zones, ports, parallel links, rows and \
           active entropy values.",
    impact: "A fabric without one of them has no connections.",
    example: "hosts: { per_group: 0 }",
    fix: "Set the count to at least 1, or remove the key to get its default.",
};

/// Checks every count.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let tiers = &draft.doc.tiers;
    let (t1, t2) = (tiers.t1.as_ref(), tiers.t2.as_ref());
    let ports =
        |ports: Option<&PortsDoc>| ports.and_then(|ports| ports.0.count).map(|count| u64::from(count.value));
    let counts = [
        (field!("hosts.groups"), Some(draft.groups)),
        (field!("hosts.per_group"), Some(draft.per_group)),
        (field!("hosts.nics_per_node"), Some(draft.nics_per_node)),
        (field!("hosts.rails"), Some(draft.rails)),
        (field!("hosts.zones_per_node"), Some(draft.zones_per_node)),
        (field!("hosts.nics_per_adapter"), Some(draft.nics_per_adapter)),
        (field!("hosts.nic.lanes"), Some(draft.nic_lanes)),
        (field!("hosts.nic.cages"), Some(draft.nic_cages)),
        (field!("zones"), Some(draft.zones)),
        (field!("tiers.t0.down"), ports(tiers.t0.down.as_ref())),
        // Without a T1 tier, T0s have 0 uplinks.
        (field!("tiers.t0.up"), ports(tiers.t0.up.as_ref()).filter(|_| draft.has_t1())),
        (field!("tiers.t0.parallel"), Some(draft.t0.parallel)),
        (field!("tiers.t1.count"), t1.and_then(|t1| t1.count).map(|count| u64::from(count.value))),
        (field!("tiers.t1.down"), ports(t1.and_then(|t1| t1.down.as_ref()))),
        (field!("tiers.t1.up"), ports(t1.and_then(|t1| t1.up.as_ref()))),
        (field!("tiers.t1.parallel"), Some(draft.t1.parallel)),
        (field!("tiers.t2.count"), t2.and_then(|t2| t2.count).map(|count| u64::from(count.value))),
        (field!("tiers.t2.rows"), t2.and_then(|t2| t2.rows).map(|rows| u64::from(rows.value))),
        (
            field!("tiers.t2.ports_per_zone"),
            t2.and_then(|t2| t2.ports_per_zone).map(|ports| u64::from(ports.value)),
        ),
        (field!("entropy.active"), Some(u64::from(draft.entropy.active))),
    ];
    for (path, _) in counts.into_iter().filter(|(_, value)| *value == Some(0)) {
        out.push(
            Diagnostic::error(&RULE, format!("`{path}` is 0; expected at least 1"))
                .at(draft.at(Ports::count_of(path)), "the fabric would have no connections"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn finds_every_zero() {
        assert_eq!(codes("hosts: { per_group: 0 }"), ["E0302"]);
        assert_eq!(codes("tiers: { t0: { up: 0 } }"), ["E0302"]);
        assert_eq!(codes("tiers: { t0: { parallel: 0 } }"), ["E0302"]);
        assert_eq!(
            message("tiers: { t0: { up: { count: 0 } } }", "E0302"),
            "`tiers.t0.up` is 0; expected at least 1"
        );
    }
}
