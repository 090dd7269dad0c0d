//! E0206: uplinks and the downlinks above them differ in speed.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::Side;
use crate::draft::Draft;
use crate::tier_field;

/// Uplinks and the downlinks above them differ in speed.
pub(crate) static RULE: Rule = Rule {
    code: "E0206",
    title: "the two ends of a fabric link have different speeds",
    what: "The uplinks of a tier have the speed of the downlinks of the tier above.",
    why: "The link would not come up.",
    example: "tiers: { t1: { down: { breakout: 8x100G } } }",
    fix: "Give both tiers ports of one speed: change `breakout` on one side.",
};

/// Compares the uplinks of each tier with the downlinks above.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let pairs = [(Some(&draft.t0), Some(&draft.t1)), (Some(&draft.t1), draft.t2.as_ref())];
    for (lower, upper) in pairs {
        let (Some(lower), Some(upper)) = (lower, upper) else { continue };
        let (Some(up), Some(down)) = (lower.up.breakout, upper.down.breakout) else { continue };
        if up.speed == down.speed || lower.up.count == 0 {
            continue;
        }
        let (below, above) = (lower.id.label(), upper.id.label());
        let path = tier_field!(upper.id, "down");
        let offered = upper.platform.iter().flat_map(|platform| &platform.panel.breakouts);
        let fitting = offered.filter(|offered| offered.speed == up.speed).max_by_key(|offered| offered.ports);
        let help = match fitting {
            Some(fitting) => {
                format!("set `{path}` to `{{breakout: {fitting}}}`, or change the uplinks below")
            }
            None => format!(
                "use a platform with ports of {} for the {above}s, or change the uplinks below",
                up.speed
            ),
        };
        out.push(
            Diagnostic::error(
                &RULE,
                format!(
                    "{below} uplinks have {}, the {above} downlinks they lead to {}",
                    up.speed, down.speed
                ),
            )
            .at(draft.breakout_span(upper, Side::Down), format!("{above} downlinks are split {down}"))
            .and(draft.breakout_span(lower, Side::Up), format!("{below} uplinks are split {up}"))
            .help(help),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn compares_neighbouring_tiers() {
        assert!(codes("tiers: { t1: { down: { breakout: 8x100G } } }").contains(&"E0206"));
        assert_eq!(
            message("tiers: { t1: { platform: th5-64x800g, down: { breakout: 1x800G } } }", "E0206"),
            "T0 uplinks have 200G, the T1 downlinks they lead to 800G"
        );
    }
}
