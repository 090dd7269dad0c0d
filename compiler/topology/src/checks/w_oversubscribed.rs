//! W0301: a tier is oversubscribed and nothing says that this is meant.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::oversubscription::ratio;
use crate::coordinate::{Side, TierId};
use crate::draft::Draft;
use crate::field;

/// A tier is oversubscribed and nothing says that this is meant.
pub(crate) static RULE: Rule = Rule {
    code: "W0301",
    title: "an oversubscription is not stated",
    what: "A tier whose bandwidth towards the NICs is larger than the bandwidth away from them says so by \
           `oversubscription`.",
    why: "All-to-all traffic gets only that share. Stated, the ratio is checked; unstated, it may be a \
           slip.",
    example: "tiers: { t0: { up: 120 } }",
    fix: "Add `oversubscription` with the ratio that the message shows, or change the counts.",
};

/// Checks the tiers that have uplinks.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for tier in [&draft.t0, &draft.t1] {
        let Some(actual) = ratio(draft, tier) else { continue };
        let oversubscribed = actual.fraction.down > actual.fraction.up;
        // A ratio that cannot be read is a fault of its own.
        let is_stated = draft.states(match tier.id {
            TierId::T0 => field!("tiers.t0.oversubscription"),
            TierId::T1 | TierId::T2 => field!("tiers.t1.oversubscription"),
        });
        if !oversubscribed || is_stated {
            continue;
        }
        let (label, word) = (tier.id.label(), tier.id.word());
        out.push(
            Diagnostic::warning(&RULE, format!("the {label}s are oversubscribed {}", actual.fraction))
                .at(draft.ports_span(tier.id, Side::Up), format!("{} up", actual.up))
                .and(draft.ports_span(tier.id, Side::Down), format!("{} down", actual.down))
                .help(format!(
                    "if this is meant, set `tiers.{word}.oversubscription: \"{}\"`",
                    actual.fraction
                )),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn a_stated_ratio_is_meant() {
        assert_eq!(codes("tiers: { t0: { up: 120 } }"), ["W0301"]);
        assert_eq!(codes("tiers: { t0: { up: 120, oversubscription: \"16:15\" } }"), Vec::<&str>::new());
        assert_eq!(codes("hosts: { per_group: 64 }"), Vec::<&str>::new());
        assert_eq!(message("tiers: { t0: { up: 120 } }", "W0301"), "the T0s are oversubscribed 16:15");
    }
}
