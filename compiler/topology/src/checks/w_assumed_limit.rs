//! W0904: a switch needs more table entries than an assumed limit.

use closc_diagnostics::Diagnostics;

use super::{ecmp_groups, ecmp_width, neighbour_limit, route_limit, sid_limit};
use crate::checks::limit_basis::Basis;
pub(crate) use crate::checks::limit_basis::RULE;
use crate::draft::Draft;

/// Compares the needs of switches with every assumed size.
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

    // 257 T0 groups of 128 NICs. With pins, T0s have a route for each NIC.
    const PINNED: &str = "routing: ecmp-static, ecmp: { pin: downlink }, qos: none, tiers: { t0: { platform: th5-256x200g }, t1: { platform: th5-256x200g } }";

    #[test]
    fn an_assumed_limit_warns() {
        let found = codes(&format!("{{ {PINNED} }}"));
        assert!(found.contains(&"W0904") && !found.contains(&"E0902"), "{found:?}");
        assert_eq!(
            message(&format!("{{ {PINNED} }}"), "W0904"),
            "each T0 needs 32771 IPv6 routes, but `th5-256x200g` holds 6400"
        );
        assert!(!findings(&format!("{{ {PINNED} }}")).has_errors());
    }
}
