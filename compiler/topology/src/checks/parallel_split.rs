//! E0307: the number of uplinks is not a multiple of the parallel links.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{choice, count};
use crate::coordinate::{Side, TierId};
use crate::draft::{Draft, DraftBlock, DraftTier};
use crate::field;

/// The number of uplinks is not a multiple of the parallel links.
pub(crate) static RULE: Rule = Rule {
    code: "E0307",
    title: "parallel links do not divide the uplinks",
    condition: "`parallel` divides the uplinks of its tier.",
    impact: "Each upper neighbour gets the same number of parallel links. With a remainder, one switch \
           would have fewer, and planes and paths would no longer be equal.",
    example: "tiers: { t0: { parallel: 3 } }",
    fix: "Set `parallel` to a divisor of `up`, or change `up`.",
};

/// Divides the uplinks of each tier.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for tier in [&draft.t0, &draft.t1] {
        let (up, parallel) = (tier.up.count, tier.parallel);
        if parallel == 0 || up.is_multiple_of(parallel) {
            continue;
        }
        let path = match tier.id {
            TierId::T0 => field!("tiers.t0.parallel"),
            TierId::T1 | TierId::T2 => field!("tiers.t1.parallel"),
        };
        let near = [up / parallel * parallel, up.next_multiple_of(parallel)];
        let near: Vec<u64> = near.into_iter().filter(|up| *up > 0 && has_room(tier, *up)).collect();
        let ports = format!("tiers.{}.up", tier.id.keyword());
        let help = format!("set `{ports}` to {}", choice(near.iter().copied()));
        let label = tier.id.label();
        out.push(
            Diagnostic::error(
                &RULE,
                format!("{} of a {label} cannot be divided into bundles of {parallel}", count(up, "uplink")),
            )
            .at(draft.at(path), format!("{up} / {parallel} is not a whole number"))
            .and(draft.ports_span(tier.id, Side::Up), count(up, "uplink"))
            .set_either(&ports, near, help),
        );
    }
}

/// Returns whether a panel has room for `count` uplinks.
fn has_room(tier: &DraftTier, count: u64) -> bool {
    let up = DraftBlock { count, ..tier.up.clone() };
    tier.platform.as_ref().is_none_or(|platform| up.cages_with(&tier.down) <= platform.panel.cages.into())
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn bundles_are_equal() {
        assert!(codes("tiers: { t0: { parallel: 3 } }").contains(&"E0307"));
        assert_eq!(
            message("tiers: { t0: { parallel: 3 } }", "E0307"),
            "128 uplinks of a T0 cannot be divided into bundles of 3"
        );
    }
}
