//! E0306: the NICs of a T0 group do not fill complete nodes.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{choice, count};
use crate::draft::Draft;
use crate::field;

/// The NICs of a T0 group do not fill complete nodes.
pub(crate) static RULE: Rule = Rule {
    code: "E0306",
    title: "a node would be split between T0 groups",
    condition: "The NICs that each node has on one T0 group (`nics_per_node / rails`) divide `hosts.per_group`.",
    impact: "The last node of a group would have only some of its NICs there.",
    example: "hosts: { per_group: 126 }",
    fix: "Change `per_group` to a multiple of the NICs that a node has on one group.",
};

/// Divides the NICs of a group by the number that each node has there.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (nics, rails) = (draft.nics_per_node, draft.rails);
    if rails == 0 || !nics.is_multiple_of(rails) {
        return; // Another rule reports these.
    }
    let (share, per_group) = (nics / rails, draft.per_group);
    if share == 0 || per_group == 0 || per_group.is_multiple_of(share) {
        return;
    }
    let (below, above) = (per_group / share * share, per_group.next_multiple_of(share));
    let near = if below == 0 { vec![above] } else { vec![below, above] };
    let help = format!("set `hosts.per_group` to {}", choice(near.iter().copied()));
    out.push(
        Diagnostic::error(
            &RULE,
            format!("{} of a T0 group do not fill complete nodes", count(per_group, "NIC")),
        )
        .at(draft.at(field!("hosts.per_group")), format!("{per_group} / {share} is not a whole number"))
        .and(
            draft.at(field!("hosts.nics_per_node")),
            format!("{} over {}", count(nics, "NIC"), count(rails, "rail")),
        )
        .note(format!("each node has {nics} / {rails} = {} on one T0 group", count(share, "NIC")))
        .set_either(field!("hosts.per_group").path(), near, help),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn nodes_are_whole() {
        assert_eq!(codes("hosts: { per_group: 126 }"), ["E0306"]);
        assert_eq!(codes("hosts: { per_group: 126, rails: 4 }"), Vec::<&str>::new());
        assert_eq!(
            message("hosts: { per_group: 126 }", "E0306"),
            "126 NICs of a T0 group do not fill complete nodes"
        );
    }
}
