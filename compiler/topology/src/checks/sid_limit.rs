//! E0903: a switch has more local SIDs than its platform supports.

use closc_diagnostics::{Diagnostics, Rule};
use closc_platform::Limit;

use crate::checks::limit_basis::Basis;
use crate::checks::words::count;
use crate::coordinate::TierId;
use crate::draft::Draft;
use crate::field;

/// A switch has more local SIDs than its platform supports.
pub(crate) static RULE: Rule = Rule {
    code: "E0903",
    title: "a switch needs more local SIDs than its table has",
    condition: "With `routing: srv6-static`, the local SIDs of every switch fit its table. A switch needs one. \
           With parallel links, it needs one per link to the neighbour with most of them.",
    impact: "If a SID is missing in hardware, every packet for it is dropped.",
    example: "# box-one-sid is a platform of a site's own with one local SID\n\
           hosts: { groups: 128 }\n\
           tiers: { t0: { platform: box-one-sid, os: frr, parallel: 2 } }",
    fix: "Use `parallel: 1`, or a platform with a larger table.",
};

/// Compares the local SIDs of every kind of switch with limits that are published, measured or stated.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    compare(draft, Basis::Firm, out);
}

/// Counts the local SIDs of every kind of switch.
pub(super) fn compare(draft: &Draft<'_>, basis: Basis, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() {
        return;
    }
    let able = draft.hardware.iter().filter(|hardware| hardware.platform.features.un);
    for hardware in able.filter(|hardware| basis.covers(hardware, Limit::MySids)) {
        let (needed, path) = match hardware.tier {
            TierId::T1 if draft.t1.parallel > draft.t0.parallel => {
                (draft.t1.parallel, field!("tiers.t1.parallel"))
            }
            TierId::T0 | TierId::T1 => (draft.t0.parallel, field!("tiers.t0.parallel")),
            TierId::T2 => (draft.t1.parallel, field!("tiers.t1.parallel")),
        };
        let limit = u64::from(hardware.platform.limits.my_sids);
        if needed <= limit {
            continue;
        }
        let message = format!(
            "{} needs {}, but `{}` holds {limit}",
            hardware.subject,
            count(needed, "local SID"),
            hardware.platform.id
        );
        out.push(
            basis
                .finding(&RULE, hardware, Limit::MySids, message)
                .at(hardware.platform_span, count(limit, "local SID"))
                .and(draft.at(path), "one for each parallel link")
                .help("use `parallel: 1`, or a platform with a larger table"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn sids_fit() {
        let fragment =
            "{ hosts: { groups: 128 }, tiers: { t0: { platform: box-one-sid, os: frr, parallel: 2 } } }";
        assert!(codes(fragment).contains(&"E0903"));
        assert_eq!(message(fragment, "E0903"), "each T0 needs 2 local SIDs, but `box-one-sid` holds 1");
    }
}
