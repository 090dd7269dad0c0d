//! E0206: uplinks and the downlinks above them differ in speed.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::layout;
use crate::checks::words::fields_and_values;
use crate::coordinate::{Side, TierId};
use crate::draft::{Draft, Place, PlaceTier};

/// Uplinks and the downlinks above them differ in speed.
pub(crate) static RULE: Rule = Rule {
    code: "E0206",
    title: "the two ends of a fabric link have different speeds",
    condition: "The uplinks of a tier have the speed of the downlinks of the tier above.",
    impact: "The link does not come up.",
    example: "tiers: { t1: { down: { breakout: 8x100G } } }",
    fix: "Change `breakout` on one side, so that both have one port speed.",
};

/// Compares the uplinks of each tier with the downlinks above, place by place.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for place in draft.places() {
        let [t0, t1] = &place.tiers;
        // All zones are connected to the same T2s.
        let t2 = draft.t2.as_ref().map(PlaceTier::from_tier);
        let found = [compare(draft, &place, t0, t1), t2.and_then(|t2| compare(draft, &place, t1, &t2))];
        for found in found.into_iter().flatten() {
            out.push(found);
        }
    }
}

fn compare(
    draft: &Draft<'_>,
    place: &Place<'_>,
    lower: &PlaceTier<'_>,
    upper: &PlaceTier<'_>,
) -> Option<Diagnostic> {
    let (up, down) = (lower.up.breakout?, upper.down.breakout?);
    // Settings that all zones share are compared once.
    let is_known = place.zone.is_some() && lower.is_whole() && upper.is_whole();
    let has_layouts = [lower, upper].iter().all(|tier| !layout::is_unusable(draft, tier.tier.id));
    if up.speed == down.speed || lower.up.count == 0 || is_known || !has_layouts {
        return None;
    }
    let (below, above, zone) = (lower.tier.id.label(), upper.tier.id.label(), place.of_zone());
    let offered = upper.platform.iter().flat_map(|platform| &platform.panel.breakouts);
    let fitting = offered.filter(|offered| offered.speed == up.speed).max_by_key(|offered| offered.ports);
    let message = format!(
        "{below} uplinks{zone} have {}, but the {above} downlinks at the other end have {}",
        up.speed, down.speed
    );
    let diagnostic = Diagnostic::error(&RULE, message)
        .at(upper.breakout_span(draft, Side::Down), format!("{above} downlinks use breakout {down}"))
        .and(lower.breakout_span(draft, Side::Up), format!("{below} uplinks use breakout {up}"));
    Some(match fitting {
        _ if upper.tier.id == TierId::T2 && place.zone.is_some() => diagnostic.help(format!(
            "all zones share the {above}s: set `{}` to ports of {}, and use fewer or slower links below the zone's {below}s",
            lower.path(Side::Up),
            down.speed
        )),
        Some(fitting) => {
            let whole = format!("{{breakout: {fitting}}}");
            let fits = |other: &Place<'_>| other.tiers[0].up.breakout.is_some_and(|own| own.speed == down.speed);
            let fields = draft.split_downlinks(place, upper, (*fitting, whole), fits);
            let help = format!("set {}, or change the uplinks below", fields_and_values(&fields));
            diagnostic.set_all(fields, help)
        }
        None => diagnostic.help(format!(
            "use a platform with ports of {} for the {above}s, or change the uplinks below",
            up.speed
        )),
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, help, message};

    #[test]
    fn compares_neighbouring_tiers() {
        assert!(codes("tiers: { t1: { down: { breakout: 8x100G } } }").contains(&"E0206"));
        assert_eq!(
            message("tiers: { t1: { platform: th5-64x800g, down: { breakout: 1x800G } } }", "E0206"),
            "T0 uplinks have 200G, but the T1 downlinks at the other end have 800G"
        );
    }

    #[test]
    fn every_zone_is_compared_with_what_it_meets() {
        let zones = |t0: &str, t1: &str| {
            format!(
                "{{ zones: 2, hosts: {{ groups: 64, per_group: 64 }}, tiers: {{ \
                 t0: {{ up: 64, by_zone: {{ 1: {t0} }} }}, t1: {{ up: 64, by_zone: {{ 1: {t1} }} }}, \
                 t2: {{ platform: box-256x200g, os: sonic }} }} }}"
            )
        };
        let found = message(&zones("{ up: { breakout: 2x400G } }", "{}"), "E0206");
        assert_eq!(found, "T0 uplinks of zone 1 have 400G, but the T1 downlinks at the other end have 200G");
        let found = message(&zones("{}", "{ up: { breakout: 2x400G } }"), "E0206");
        assert_eq!(found, "T1 uplinks of zone 1 have 400G, but the T2 downlinks at the other end have 200G");
        let fine = zones("{ up: { breakout: 2x400G } }", "{ down: { breakout: 2x400G } }");
        assert!(!codes(&fine).contains(&"E0206"), "{:?}", codes(&fine));
    }

    #[test]
    fn help_for_one_zone_leaves_the_others_as_they_are() {
        let zones = |down: &str, own: &str| {
            format!(
                "{{ zones: 2, hosts: {{ groups: 64, per_group: 64 }}, tiers: {{ \
                 t0: {{ up: 64, by_zone: {{ 1: {{ up: {{ breakout: 2x400G }} }} }} }}, \
                 t1: {{ up: 64, down: {{ breakout: {down} }}{own} }}, \
                 t2: {{ platform: th5-256x200g, os: sonic }} }} }}"
            )
        };
        let own = "`tiers.t1.by_zone.1.down` to `{breakout: 2x400G}`";
        assert_eq!(help(&zones("4x200G", ""), "E0206"), format!("set {own}, or change the uplinks below"));
        let both =
            format!("set `tiers.t1.down` to `{{breakout: 4x200G}}` and {own}, or change the uplinks below");
        assert_eq!(help(&zones("2x400G", ""), "E0206"), both);
        let followed = zones("4x200G", ", by_zone: { 1: { down: { breakout: 2x400G } } }");
        assert!(!codes(&followed).contains(&"E0206"), "{:?}", codes(&followed));
    }
}
