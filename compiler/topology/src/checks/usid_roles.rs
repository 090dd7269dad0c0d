//! E0404: two roles have one code, or a code is too large.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{and_if, count};
use crate::draft::Draft;
use crate::field;
use crate::field::Field;
use crate::usid::Role;

/// Two roles have one code, or a code is too large.
pub(crate) static RULE: Rule = Rule {
    code: "E0404",
    title: "role codes collide or do not fit",
    condition: "Every role has its own code, and every code fits the role bits.",
    impact: "Two roles with one code share their uSIDs: a T0 could accept a packet for a T1.",
    example: "srv6: { roles: { nic: 1 } }",
    fix: "Give each role its own code, below 2 to the power of `srv6.widths.role`.",
};

/// Checks the codes of the roles in use.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    // Other routing modes have no uSIDs (W0401).
    if !draft.routing.is_source_routed() {
        return;
    }
    let (layout, zoned) = (&draft.layout, draft.t2.is_some());
    let bits = layout.role.min(16);
    let in_use = |role: &Role| zoned || *role != Role::T2 || draft.states(field!("srv6.roles.t2"));
    let roles: Vec<Role> = Role::ALL.into_iter().filter(in_use).collect();
    for (place, role) in roles.iter().enumerate() {
        let (code, at) = (layout.code(*role), draft.at(path(*role)));
        if code >= 1 << bits {
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!(
                        "the code {code} of role `{}` does not fit {}",
                        role.keyword(),
                        count(bits, "role bit")
                    ),
                )
                .at(at, format!("the largest code is {}", (1_u64 << bits) - 1))
                .help("lower the code, or widen `srv6.widths.role`"),
            );
        }
        for other in &roles[..place] {
            if layout.code(*other) == code {
                let message =
                    format!("roles `{}` and `{}` have the same code {code}", other.keyword(), role.keyword());
                let label = |role: Role| if draft.states(path(role)) { "" } else { " by default" };
                let diagnostic = Diagnostic::error(&RULE, message)
                    .at(at, format!("`{}` is {code}{}", role.keyword(), label(*role)));
                let text = format!("`{}` is {code}", other.keyword());
                out.push(
                    and_if(diagnostic, draft.stated_span(path(*other)), text)
                        .note(format!("codes are {}", codes(draft, &roles)))
                        .help("give each role its own code"),
                );
            }
        }
    }
}

/// Returns where the code of a role is written.
pub(super) fn path(role: Role) -> Field {
    match role {
        Role::T0 => field!("srv6.roles.t0"),
        Role::T1 => field!("srv6.roles.t1"),
        Role::T2 => field!("srv6.roles.t2"),
        Role::Nic => field!("srv6.roles.nic"),
    }
}

fn codes(draft: &Draft<'_>, roles: &[Role]) -> String {
    let codes: Vec<String> =
        roles.iter().map(|role| format!("{} {}", role.keyword(), draft.layout.code(*role))).collect();
    codes.join(", ")
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn codes_differ_and_fit() {
        assert_eq!(codes("srv6: { roles: { nic: 1 } }"), ["E0404"]);
        assert_eq!(codes("srv6: { roles: { nic: 4 } }"), ["E0404"]);
        let unused = codes("{ routing: bgp-unnumbered, srv6: { widths: { index: 12, role: 1 } } }");
        assert!(unused.contains(&"W0401") && !unused.contains(&"E0404"), "{unused:?}");
        assert_eq!(codes("srv6: { roles: { t0: 1, t1: 0 } }"), Vec::<&str>::new());
        assert_eq!(
            message("srv6: { roles: { nic: 1 } }", "E0404"),
            "roles `t1` and `nic` have the same code 1"
        );
    }
}
