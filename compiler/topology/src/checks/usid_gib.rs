//! E0406: some uSIDs are in the block that switches reserve for themselves.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::usid_index::{demand, propose};
use crate::checks::usid_roles::path;
use crate::draft::Draft;
use crate::usid::{GIB_MAX, Role};

/// Some uSIDs are in the block that switches reserve for themselves.
pub(crate) static RULE: Rule = Rule {
    code: "E0406",
    title: "uSIDs are outside the global block",
    condition: "Every uSID is in the global identifier block, 0x0001 to 0xdfff.",
    impact: "Switches reserve 0xe000 to 0xffff for local identifiers (uA, uDT). A locator there is rejected or \
           inactive (IOS XR, EOS).",
    example: "planes: 8\n\
           hosts: { nic: { speed: 1.6T, lanes: 16 } }\n\
           # uSIDs of the NICs in plane 7 begin at 0xf801\n\
           srv6: { roles: { nic: 3 } }",
    fix: "Set `srv6.widths` as the message proposes, or use lower codes if `srv6.roles` is set. `srv6.plan: \
           plane-in-block` is an alternative, because it needs no bits for planes. Each of these renames \
           segments.",
};

/// Computes the largest uSID of each role.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let demand = demand(draft);
    if !draft.routing.is_source_routed() || !draft.layout.holds(&demand) {
        return; // A value that does not fit its bits has a rule of its own.
    }
    for (role, index) in Role::ALL.into_iter().zip(demand.indices) {
        let largest = draft.layout.largest(role, &demand, index);
        if index == 0 || largest <= u64::from(GIB_MAX) {
            continue;
        }
        let code = draft.layout.code(role);
        let message = format!(
            "uSIDs of role `{}` reach 0x{largest:04x}; the global block ends at 0x{GIB_MAX:04x}",
            role.keyword()
        );
        let plane = draft.layout.planes_in_usid(&demand) - 1;
        let planes = format!("planes up to {plane}");
        let diagnostic = Diagnostic::error(&RULE, message);
        let diagnostic = match draft.stated_span(path(role)) {
            Some(span) => diagnostic
                .at(span, format!("code {code} in {} bits", draft.layout.role))
                .and(draft.doc.planes.span, planes),
            None => diagnostic.at(draft.doc.planes.span, planes),
        };
        let arithmetic = format!("role {code}, plane {plane}, index {index} in widths {}", draft.layout);
        out.push(propose(diagnostic.note(arithmetic), draft));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn usids_stay_below_the_local_block() {
        let eight = "planes: 8, hosts: { nic: { speed: 1.6T, lanes: 16 } }";
        assert_eq!(codes(&format!("{{ {eight} }}")), Vec::<&str>::new());
        let fragment = format!("{{ {eight}, srv6: {{ roles: {{ nic: 3 }} }} }}");
        assert_eq!(codes(&fragment), ["E0406"]);
        assert_eq!(
            message(&fragment, "E0406"),
            "uSIDs of role `nic` reach 0xf880; the global block ends at 0xdfff"
        );
    }
}
