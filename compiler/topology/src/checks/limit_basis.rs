//! Compares a need with a table size. If the size is published, measured or stated, the finding is an error;
//! if it is assumed, a warning (W0904).

use closc_diagnostics::{Diagnostic, Rule};
use closc_platform::Limit;

use crate::draft::Hardware;

/// A switch needs more table entries than an assumed limit.
pub(crate) static RULE: Rule = Rule {
    code: "W0904",
    title: "a switch exceeds an assumed limit",
    condition: "The routes, local SIDs, ECMP groups, group members and neighbours of every switch fit the tables \
           of its platform. This warning concerns tables of assumed size: no source publishes the size, and \
           it was not measured.",
    impact: "The real table may be larger or smaller. Entries that do not fit are missing in hardware although \
           the control plane lists them.",
    example: "# The 6,400 routes of a TH5 are assumed\n\
           routing: ecmp-static\n\
           ecmp: { pin: downlink }\n\
           tiers: { t0: { platform: th5-256x200g }, t1: { platform: th5-256x200g } }\n\
           qos: none",
    fix: "Read the size from a switch and add a platform file with `provenance: { ...: { measured: ... } }`, \
           or accept the risk with `warnings: { W0904: allow }`.",
};

/// The sizes that a check compares with: those whose excess is an error, or those whose excess is a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Published, measured, or stated by a site.
    Firm,
    /// Assumed.
    Assumed,
}

impl Basis {
    /// Returns whether the size of a platform has this basis.
    pub(super) fn covers(self, hardware: &Hardware, limit: Limit) -> bool {
        let assumed = hardware.assumption(limit).is_some();
        assumed == (self == Basis::Assumed)
    }

    /// Starts the finding: an error of the rule for the table, or a warning that names the assumption.
    pub(super) fn finding(
        self,
        rule: &'static Rule,
        hardware: &Hardware,
        limit: Limit,
        message: String,
    ) -> Diagnostic {
        let finding = match (self, hardware.assumption(limit)) {
            (Basis::Assumed, Some(reason)) => {
                Diagnostic::warning(&RULE, message).note(format!("the limit is assumed: {reason}"))
            }
            (Basis::Assumed, None) | (Basis::Firm, _) => Diagnostic::error(rule, message),
        };
        finding.of_tier(hardware.tier.level())
    }
}
