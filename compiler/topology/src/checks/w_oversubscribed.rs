//! W0301: a tier is oversubscribed, and the file does not state the ratio.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::oversubscription::{Ratio, ratio, stated_ratio};
use crate::coordinate::{Side, TierId};
use crate::draft::{Draft, Place, PlaceTier};
use crate::field;

/// A tier is oversubscribed, and the file does not state the ratio.
pub(crate) static RULE: Rule = Rule {
    code: "W0301",
    title: "an oversubscription is not stated",
    condition: "A tier with more bandwidth towards the NICs than away from them has `oversubscription`.",
    impact: "The uplinks limit all-to-all traffic to a part of the NIC bandwidth. A stated ratio is checked, \
           and an unstated one may be a mistake.",
    example: "tiers: { t0: { up: 120 } }",
    fix: "Add `oversubscription` with the ratio that the message shows, or change the counts.",
};

/// Checks the tiers that have uplinks, place by place.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let places = draft.places();
    for place in &places {
        for (tier, whole) in place.tiers.iter().zip(&places[0].tiers) {
            let Some(actual) = ratio(draft, place, tier) else { continue };
            let oversubscribed = actual.fraction.down > actual.fraction.up;
            // A zone with the same ratio as the tier is reported with the tier.
            let is_known = place.zone.is_some()
                && ratio(draft, &places[0], whole).is_some_and(|tier| tier.fraction == actual.fraction);
            if oversubscribed && !is_known && !is_stated(draft, place, tier.tier.id) {
                out.push(warning(draft, place, tier, &actual));
            }
        }
    }
}

/// Returns whether the file states a ratio. An unreadable ratio is another fault.
fn is_stated(draft: &Draft<'_>, place: &Place<'_>, tier: TierId) -> bool {
    match (place.zone, tier) {
        (Some(_), _) => stated_ratio(draft, place, tier).is_some(),
        (None, TierId::T0) => draft.states(field!("tiers.t0.oversubscription")),
        (None, TierId::T1 | TierId::T2) => draft.states(field!("tiers.t1.oversubscription")),
    }
}

fn warning(draft: &Draft<'_>, place: &Place<'_>, tier: &PlaceTier<'_>, actual: &Ratio) -> Diagnostic {
    let (label, word) = (tier.tier.id.label(), tier.tier.id.keyword());
    let (who, ratio) = (format!("the {label}s{}", place.of_zone()), actual.fraction);
    let path = match place.zone {
        Some(zone) => format!("tiers.{word}.by_zone.{zone}.oversubscription"),
        None => format!("tiers.{word}.oversubscription"),
    };
    Diagnostic::warning(&RULE, format!("{who} are oversubscribed {ratio}"))
        .at(tier.ports_span(draft, Side::Up), format!("{} up", actual.up))
        .and(tier.ports_span(draft, Side::Down), format!("{} down", actual.down))
        .help(format!("if this is meant, set `{path}: \"{ratio}\"`"))
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
