//! W0904: a switch needs more of a table than an assumed number.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Limit;

use super::{ecmp_groups, ecmp_width, neighbour_limit, route_limit, sid_limit};
use crate::draft::{Draft, Hardware};

/// A switch needs more of a table than an assumed number.
pub(crate) static RULE: Rule = Rule {
    code: "W0904",
    title: "a switch needs more than an assumed limit",
    what: "The routes, local SIDs, ECMP groups, their members and the neighbours of every switch fit the tables of its \
           platform where the size of a table is assumed: no source publishes it, and it was not measured.",
    why: "The real table may be larger or smaller. Entries that do not fit are missing in hardware while the control \
          plane shows them.",
    example: "# The 6,400 routes of a TH5 are assumed\n\
           routing: ecmp-static\n\
           ecmp: { pin: downlink }\n\
           tiers: { t0: { platform: th5-256x200g }, t1: { platform: th5-256x200g } }\n\
           qos: none",
    fix: "Read the size from a switch and add a platform file with `provenance: { ...: { measured: ... } }`; or accept \
          the risk with `warnings: { W0904: allow }`.",
};

/// Which sizes a check compares with: those that refuse, or those that warn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Published, measured, or stated by a site.
    Firm,
    /// Assumed.
    Assumed,
}

impl Basis {
    /// Tells whether a size of a platform is of this kind.
    pub(super) fn covers(self, hardware: &Hardware, limit: Limit) -> bool {
        let assumed = hardware.platform.limits.assumption(limit).is_some();
        assumed == (self == Basis::Assumed)
    }

    /// Starts the finding: an error by the rule of the table, or a warning that names the assumption.
    pub(super) fn finding(
        self,
        rule: &'static Rule,
        hardware: &Hardware,
        limit: Limit,
        message: String,
    ) -> Diagnostic {
        match (self, hardware.platform.limits.assumption(limit)) {
            (Basis::Assumed, Some(reason)) => {
                Diagnostic::warning(&RULE, message).note(format!("the limit is assumed: {reason}"))
            }
            (Basis::Assumed, None) | (Basis::Firm, _) => Diagnostic::error(rule, message),
        }
    }
}

/// Compares with every size that is assumed.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for compare in [
        route_limit::compare,
        sid_limit::compare,
        ecmp_width::compare,
        neighbour_limit::compare,
        ecmp_groups::compare,
    ] {
        compare(draft, Basis::Assumed, out);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, findings, message};

    // 257 T0 groups of 128 NICs, each of which has a route where it is pinned.
    const PINNED: &str = "routing: ecmp-static, ecmp: { pin: downlink }, qos: none, tiers: { t0: { platform: th5-256x200g }, t1: { platform: th5-256x200g } }";

    #[test]
    fn an_assumed_limit_warns() {
        let found = codes(&format!("{{ {PINNED} }}"));
        assert!(found.contains(&"W0904") && !found.contains(&"E0902"), "{found:?}");
        assert_eq!(
            message(&format!("{{ {PINNED} }}"), "W0904"),
            "each T0 needs 32771 IPv6 routes, `th5-256x200g` holds 6400"
        );
        assert!(!findings(&format!("{{ {PINNED} }}")).has_errors());
    }
}
