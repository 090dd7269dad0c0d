//! E0905: a switch has more neighbours than its platform supports.

use closc_diagnostics::{Diagnostics, Rule};
use closc_platform::Limit;

use super::route_limit::fits_panel;
use crate::checks::limit_basis::Basis;
use crate::draft::Draft;

/// A switch has more neighbours than its platform supports.
pub(crate) static RULE: Rule = Rule {
    code: "E0905",
    title: "a switch has more neighbours than its table allows",
    condition: "The neighbours of every switch, one per port in use, fit its neighbour table.",
    impact: "Packets cannot be sent to a next hop without a neighbour entry.",
    example: "# box-100-neighbours is a platform of a site's own with 100 neighbours\n\
           tiers: { t0: { platform: box-100-neighbours, os: frr } }",
    fix: "Use a platform with a larger table, or fewer ports.",
};

/// Compares the neighbours of every kind of switch with limits that are published, measured or stated.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    compare(draft, Basis::Firm, out);
}

/// Counts the neighbours of every kind of switch.
pub(super) fn compare(draft: &Draft<'_>, basis: Basis, out: &mut Diagnostics) {
    for hardware in draft.hardware.iter().filter(|hardware| basis.covers(hardware, Limit::Neighbours)) {
        let Some(tier) = draft.tier(hardware.tier) else { continue };
        let (down, up) = (tier.down.count, tier.up.count);
        let (needed, limit) = (down + up, u64::from(hardware.platform.limits.neighbours));
        if needed <= limit || !fits_panel(hardware, tier) {
            continue; // The neighbours fit, or the ports do not (another rule).
        }
        let message = format!(
            "{} has {needed} neighbours, but `{}` holds {limit}",
            hardware.subject, hardware.platform.id
        );
        out.push(
            basis
                .finding(&RULE, hardware, Limit::Neighbours, message)
                .at(hardware.platform_span, format!("{limit} neighbours"))
                .note(format!("{down} below + {up} above = {needed}"))
                .help("use a platform with a larger table, or fewer ports"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, findings, message};

    #[test]
    fn neighbours_fit() {
        let fragment = "tiers: { t0: { platform: box-100-neighbours, os: frr } }";
        assert!(codes(fragment).contains(&"E0905"));
        assert_eq!(
            message(fragment, "E0905"),
            "each T0 has 256 neighbours, but `box-100-neighbours` holds 100"
        );
        let tiers = |fragment: &str| -> Vec<Option<u8>> {
            let found = findings(fragment);
            found.iter().filter(|found| found.rule.code == "E0905").map(|found| found.tier).collect()
        };
        assert_eq!(tiers(fragment), [Some(0)]);
        assert_eq!(tiers(&fragment.replace("t0", "t1")), [Some(1)]);
    }
}
