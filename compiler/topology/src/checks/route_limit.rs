//! E0902: a switch has more routes than its platform supports.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostics, Rule};
use closc_platform::Limit;

use crate::checks::limit_basis::Basis;
use crate::checks::words::count;
use crate::choice::Pin;
use crate::coordinate::TierId;
use crate::draft::{Draft, DraftTier, Hardware};

/// A switch has more routes than its platform supports.
pub(crate) static RULE: Rule = Rule {
    code: "E0902",
    title: "a switch needs more routes than its tables have",
    condition: "The IPv6 routes of every switch fit its table. `srv6-static` needs one per neighbour and one for \
           the block. `ecmp-static` needs one per NIC (on T0s) or T0 group (on T1s) below, one per zone, and \
           on T0s one per pinned NIC. `bgp-unnumbered` needs one per T0 group, one per switch of the plane, \
           and on T0s one per NIC.",
    impact: "Routes that do not fit are missing in hardware although the control plane lists them.",
    example: "# box-200-routes is a platform of a site's own with 200 routes\n\
           tiers: { t0: { platform: box-200-routes, os: frr } }",
    fix: "Use a platform with larger tables, or make the fabric smaller.",
};

/// Compares the routes of every kind of switch with limits that are published, measured or stated.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    compare(draft, Basis::Firm, out);
}

/// Counts the routes of every kind of switch.
pub(super) fn compare(draft: &Draft<'_>, basis: Basis, out: &mut Diagnostics) {
    for hardware in draft.hardware.iter().filter(|hardware| basis.covers(hardware, Limit::Ipv6Routes)) {
        let Some(tier) = draft.tier(hardware.tier) else { continue };
        let (needed, arithmetic) = routes(draft, tier);
        let limit = u64::from(hardware.platform.limits.ipv6_routes);
        if needed <= limit || !fits_panel(hardware, tier) {
            continue; // The routes fit, or the ports do not (another rule).
        }
        let message = format!(
            "{} needs {needed} IPv6 routes, but `{}` holds {limit}",
            hardware.subject, hardware.platform.id
        );
        out.push(
            basis
                .finding(&RULE, hardware, Limit::Ipv6Routes, message)
                .at(hardware.platform_span, format!("{limit} routes"))
                .note(format!("{arithmetic} = {needed}"))
                .help("use a platform with larger tables, or make the fabric smaller"),
        );
    }
}

/// Returns whether the ports of a tier fit on the panel.
pub(super) fn fits_panel(hardware: &Hardware, tier: &DraftTier) -> bool {
    tier.down.cages_with(&tier.up) <= u64::from(hardware.platform.panel.cages)
}

/// Returns the number of routes of a switch, and a description of how it adds up.
fn routes(draft: &Draft<'_>, tier: &DraftTier) -> (u64, String) {
    let (down, up) = (tier.down.count, tier.up.count);
    let (groups, zones) = (draft.groups, draft.zones_joined());
    // Local destinations of a T0: its NICs and a blackhole for the rest of its group.
    let own = if tier.id == TierId::T0 { draft.per_group + 1 } else { 0 };
    match draft.routing {
        Routing::Srv6Static => (down + up + 1, format!("{down} below + {up} above + 1 for the block")),
        Routing::EcmpStatic => {
            let pinned = match (tier.id, draft.ecmp.pin) {
                (TierId::T0, Pin::Downlink) => (groups * zones).saturating_sub(1) * draft.per_group,
                (TierId::T0, Pin::None) => draft.pins.max_per_t0,
                (TierId::T1 | TierId::T2, _) => 0,
            };
            let (what, far) = match tier.id {
                TierId::T0 | TierId::T2 => ("zone", zones),
                TierId::T1 => ("T0 group and other zone", groups + zones - 1),
            };
            let text = format!("{own} for NICs + {pinned} pinned + {} + 1 for the rest", count(far, what));
            (own + pinned + far + 1, text)
        }
        Routing::BgpUnnumbered => {
            let received = groups * zones;
            let switches = zones * (groups + draft.t1.count) + draft.t2.as_ref().map_or(0, |t2| t2.count);
            let text =
                format!("{own} for NICs + {received} T0 groups + {switches} loopbacks of the plane + 1");
            (own + received + switches + 1, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn routes_fit() {
        let fragment = "tiers: { t0: { platform: box-200-routes, os: frr } }";
        assert!(codes(fragment).contains(&"E0902"));
        assert_eq!(
            message(fragment, "E0902"),
            "each T0 needs 257 IPv6 routes, but `box-200-routes` holds 200"
        );
        // 128 NICs and their blackhole, 256 groups, 384 loopbacks, and one more route.
        assert_eq!(
            message(&format!("{{ routing: bgp-unnumbered, {fragment} }}"), "E0902"),
            "each T0 needs 770 IPv6 routes, but `box-200-routes` holds 200"
        );
        assert!(!codes(&format!("{{ routing: ecmp-static, {fragment} }}")).contains(&"E0902"));
        assert_eq!(
            message(&format!("{{ routing: ecmp-static, ecmp: {{ pin: downlink }}, {fragment} }}"), "E0902"),
            "each T0 needs 32771 IPv6 routes, but `box-200-routes` holds 200"
        );
    }
}
