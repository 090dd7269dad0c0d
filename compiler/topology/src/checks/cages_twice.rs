//! E0220: a side has both a first cage and a list of cages.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::{Side, TierId};
use crate::draft::{Draft, Ports, by_zone};
use crate::read::Spanned;

/// A side has both a first cage and a list of cages.
pub(crate) static RULE: Rule = Rule {
    code: "E0220",
    title: "`first_cage` and `cages` are both set",
    condition: "`down` and `up` each have `first_cage` or `cages`, not both.",
    impact: "One of the two would have no effect.",
    example: "tiers: { t0: { up: { count: 128, first_cage: 32, cages: [32-63] } } }",
    fix: "Remove `first_cage`.",
};

/// Checks both sides of every tier and zone.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for tier in TierId::ALL {
        let sides = [Side::Down, Side::Up].into_iter().filter_map(|side| Ports::of(tier, side));
        for ports in sides {
            if let (Some(first), Some(cages)) =
                (draft.stated_span(ports.first_cage), draft.stated_span(ports.cages))
            {
                out.push(conflict(first, cages));
            }
        }
        for (_, zone) in by_zone(draft.doc, tier) {
            for split in [&zone.down, &zone.up].into_iter().flatten() {
                if let (Some(Spanned { span: first, .. }), Some(Spanned { span: cages, .. })) =
                    (split.first_cage, split.cages)
                {
                    out.push(conflict(first, cages));
                }
            }
        }
    }
}

fn conflict(first: closc_diagnostics::Span, cages: closc_diagnostics::Span) -> Diagnostic {
    Diagnostic::error(&RULE, "`first_cage` and `cages` cannot be set together")
        .at(first, "the first cage")
        .and(cages, "all cages")
        .help("remove `first_cage`")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::codes;

    #[test]
    fn one_of_the_two() {
        assert_eq!(codes(RULE.example), ["E0220"]);
        assert_eq!(codes("tiers: { t0: { up: { count: 128, cages: [32-63] } } }"), Vec::<&str>::new());
    }
}
