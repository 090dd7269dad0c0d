//! E0906: a switch needs more ECMP groups than its platform holds.

use closc_diagnostics::{Diagnostics, Rule};
use closc_platform::Limit;

use crate::checks::limit_basis::Basis;
use crate::checks::words::count;
use crate::coordinate::TierId;
use crate::draft::{Draft, DraftTier};

/// A switch needs more ECMP groups than its platform holds.
pub(crate) static RULE: Rule = Rule {
    code: "E0906",
    title: "a switch needs more ECMP groups than the platform has",
    condition: "With `ecmp-static` and `bgp-unnumbered`, the ECMP groups of every switch fit its platform. A \
           switch needs one for all uplinks. With parallel links, a T1 needs one per T0. A T2 needs one per \
           zone for its T1s.",
    impact: "Routes whose group does not fit are not installed, or use one link only.",
    example: "# 256 T0s with two links each to every T1; the platform has 128 groups\n\
           routing: ecmp-static\n\
           tiers: { t0: { up: { count: 64, first_cage: 48 }, parallel: 2 }, t1: { down: { count: 512 } } }",
    fix: "Use single links between a T0 and a T1, a platform with more groups, or fewer T0s.",
};

/// Compares the groups of every kind of switch with limits that are published, measured or stated.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    compare(draft, Basis::Firm, out);
}

/// Counts the groups of every kind of switch.
pub(super) fn compare(draft: &Draft<'_>, basis: Basis, out: &mut Diagnostics) {
    if draft.routing.is_source_routed() {
        return;
    }
    for hardware in draft.hardware.iter().filter(|hardware| basis.covers(hardware, Limit::EcmpGroups)) {
        let Some(tier) = draft.tier(hardware.tier) else { continue };
        let limit = u64::from(hardware.platform.limits.ecmp_groups);
        let (up, down) = groups(draft, tier);
        if up + down <= limit {
            continue;
        }
        let below = match tier.id {
            TierId::T0 | TierId::T1 => count(down, "T0"),
            TierId::T2 => count(down, "zone"),
        };
        let message = format!(
            "{} needs {} ECMP groups, but `{}` has {limit}",
            hardware.subject,
            up + down,
            hardware.platform.id
        );
        out.push(
            basis
                .finding(&RULE, hardware, Limit::EcmpGroups, message)
                .at(hardware.platform_span, format!("{limit} groups"))
                .note(format!("{up} for uplinks + {below} over several links each = {}", up + down))
                .help("use single links between a T0 and a T1, a platform with more groups, or fewer T0s"),
        );
    }
}

/// Returns the number of groups for destinations above a switch, and the number for those below it.
fn groups(draft: &Draft<'_>, tier: &DraftTier) -> (u64, u64) {
    let up = u64::from(tier.up.count > 1);
    let down = match tier.id {
        TierId::T1 if draft.t0.parallel > 1 => draft.groups,
        TierId::T2 if draft.t1s_below_t2() * draft.t1.parallel > 1 => draft.zones,
        TierId::T0 | TierId::T1 | TierId::T2 => 0,
    };
    (up, down)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn groups_fit() {
        assert!(codes(RULE.example).contains(&"E0906"));
        assert_eq!(
            message(RULE.example, "E0906"),
            "each T1 needs 256 ECMP groups, but `box-256x200g` has 128"
        );
        assert!(!codes("routing: ecmp-static").contains(&"E0906"));
    }
}
