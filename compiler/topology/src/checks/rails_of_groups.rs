//! E0305: the T0 groups do not fill complete units.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{choice, count};
use crate::draft::Draft;
use crate::field;

/// The T0 groups do not fill complete units.
pub(crate) static RULE: Rule = Rule {
    code: "E0305",
    title: "the rails do not divide the T0 groups",
    condition: "The rails of a zone, `hosts.rails / hosts.zones_per_node`, divide `hosts.groups`.",
    impact: "A unit has a T0 group for each rail of the zone. The groups of an incomplete unit could not \
           be attached to any node.",
    example: "hosts: { groups: 255, rails: 2 }",
    fix: "Change `groups` to a multiple of the rails of a zone.",
};

/// Divides the groups of a zone by its rails.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (groups, rails) = (draft.groups, draft.rails_in_zone());
    if rails == 0 || groups == 0 || groups.is_multiple_of(rails) {
        return;
    }
    let (below, above) = (groups / rails * rails, groups.next_multiple_of(rails));
    let near = if below == 0 { vec![above] } else { vec![below, above] };
    let help = format!("set `hosts.groups` to {}", choice(near.iter().copied()));
    out.push(
        Diagnostic::error(
            &RULE,
            format!("{} do not fill complete units of {rails} rails", count(groups, "T0 group")),
        )
        .at(draft.at(field!("hosts.groups")), format!("{groups} / {rails} is not a whole number"))
        .and(draft.at(field!("hosts.rails")), count(rails, "rail"))
        .set_either(field!("hosts.groups").path(), near, help),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn units_are_whole() {
        assert_eq!(codes("hosts: { groups: 255, rails: 2 }"), ["E0305"]);
        assert_eq!(
            message("hosts: { groups: 255, rails: 2 }", "E0305"),
            "255 T0 groups do not fill complete units of 2 rails"
        );
    }
}
