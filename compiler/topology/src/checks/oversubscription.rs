//! E0316: the computed ratio differs from the stated one.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_qos::units::Speed;

use crate::coordinate::{Side, TierId};
use crate::draft::{Draft, Place, PlaceTier, by_zone};
use crate::read::{Fraction, Spanned};

/// The computed ratio differs from the stated one.
pub(crate) static RULE: Rule = Rule {
    code: "E0316",
    title: "the oversubscription differs from the stated one",
    condition: "`oversubscription` of a tier, if set, is exactly the bandwidth towards the NICs divided by the \
           bandwidth away from them.",
    impact: "The ratio limits the bandwidth of a job across the fabric. Without the check, an accidental change \
           of a count would change it silently.",
    example: "tiers: { t0: { up: 64, oversubscription: \"1:1\" } }",
    fix: "Change the counts, or set the intended ratio.",
};

/// Compares stated with computed ratios, place by place.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for place in draft.places() {
        for tier in &place.tiers {
            let stated = stated_ratio(draft, &place, tier.tier.id);
            let (Some(stated), Some(actual)) = (stated, ratio(draft, &place, tier)) else { continue };
            if stated.value == actual.fraction {
                continue;
            }
            let who = format!("the {}s{}", tier.tier.id.label(), place.of_zone());
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!(
                        "{who} are oversubscribed {}, but the file states {}",
                        actual.fraction, stated.value
                    ),
                )
                .at(stated.span, format!("the counts give {}", actual.fraction))
                .and(draft.ports_span(tier.tier.id, Side::Up), format!("{} up", actual.up))
                .note(format!("{} down to {} up is {}", actual.down, actual.up, actual.fraction))
                .help("change the counts, or set the intended ratio"),
            );
        }
    }
}

/// Returns the ratio that a tier states in a place.
pub(super) fn stated_ratio(draft: &Draft<'_>, place: &Place<'_>, tier: TierId) -> Option<Spanned<Fraction>> {
    if let Some(zone) = place.zone {
        let own = by_zone(draft.doc, tier).iter().find(|(at, _)| at.value == zone);
        return own.and_then(|(_, own)| own.oversubscription);
    }
    match tier {
        TierId::T0 => draft.doc.tiers.t0.oversubscription,
        TierId::T1 => draft.doc.tiers.t1.as_ref().and_then(|t1| t1.oversubscription),
        TierId::T2 => None,
    }
}

/// Bandwidths on both sides of a switch, as text, and their ratio.
pub(super) struct Ratio {
    pub(super) down: String,
    pub(super) up: String,
    pub(super) fraction: Fraction,
}

/// Returns the ratio computed for a place; `None` at the top of the fabric, or if the speed of a side is
/// unknown.
pub(super) fn ratio(draft: &Draft<'_>, place: &Place<'_>, tier: &PlaceTier<'_>) -> Option<Ratio> {
    let down = if tier.tier.id == TierId::T0 { draft.nics_in(place.zone) } else { tier.down.count };
    let (down_speed, up_speed) = (tier.down.breakout?.speed, tier.up.breakout?.speed);
    let total = |links: u64, speed: Speed| links * u64::from(speed.mbps());
    Some(Ratio {
        down: format!("{down} x {down_speed}"),
        up: format!("{} x {up_speed}", tier.up.count),
        fraction: Fraction::reduce(total(down, down_speed), total(tier.up.count, up_speed))?,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn ratios_are_exact() {
        assert_eq!(codes("tiers: { t0: { up: 64, oversubscription: \"1:1\" } }"), ["E0316"]);
        assert_eq!(codes("tiers: { t0: { up: 64, oversubscription: \"2:1\" } }"), Vec::<&str>::new());
        assert_eq!(codes("tiers: { t0: { oversubscription: \"128:128\" } }"), Vec::<&str>::new());
        assert_eq!(
            message("tiers: { t0: { up: 120, oversubscription: \"1:1\" } }", "E0316"),
            "the T0s are oversubscribed 16:15, but the file states 1:1"
        );
    }
}
