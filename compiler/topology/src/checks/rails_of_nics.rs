//! E0304: the NICs of a node cannot be spread evenly over the rails.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{choice, count};
use crate::draft::Draft;
use crate::field;

/// The NICs of a node cannot be spread evenly over the rails.
pub(crate) static RULE: Rule = Rule {
    code: "E0304",
    title: "the rails do not divide the NICs of a node",
    condition: "`hosts.rails` divides `hosts.nics_per_node`.",
    impact: "Every rail gets the same number of NICs of a node. A remainder would have no T0 group.",
    example: "hosts: { rails: 3 }",
    fix: "Set `rails` to a divisor of `nics_per_node`. With 1, all NICs of a node are on one T0 group. With \
           `nics_per_node`, each is on its own.",
};

/// Divides the NICs of a node by the rails.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (nics, rails) = (draft.nics_per_node, draft.rails);
    if rails == 0 || nics == 0 || nics.is_multiple_of(rails) {
        return;
    }
    // The rails of a zone must divide its groups, too, so that the advice does not lead to another fault.
    let divides = |rails: &u64| {
        nics.is_multiple_of(*rails)
            && draft.groups.is_multiple_of((*rails / draft.zones_per_node.max(1)).max(1))
    };
    let dividing: Vec<u64> = (1..=nics).filter(divides).collect();
    let help = format!("set `hosts.rails` to {}", choice(dividing.iter().copied()));
    out.push(
        Diagnostic::error(
            &RULE,
            format!("{} of a node cannot be spread over {}", count(nics, "NIC"), count(rails, "rail")),
        )
        .at(draft.at(field!("hosts.rails")), format!("{nics} / {rails} is not a whole number"))
        .and(draft.at(field!("hosts.nics_per_node")), count(nics, "NIC"))
        .set_either(field!("hosts.rails").path(), dividing, help),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn rails_take_equal_shares() {
        assert!(codes("hosts: { rails: 3 }").contains(&"E0304"));
        assert_eq!(codes("hosts: { rails: 4 }"), Vec::<&str>::new());
        assert_eq!(message("hosts: { rails: 3 }", "E0304"), "4 NICs of a node cannot be spread over 3 rails");
    }
}
