//! E0904: the uplinks of a switch are more than one ECMP group holds.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::coordinate::Side;
use crate::lower::Draft;
use crate::model::Routing;

/// The uplinks of a switch are more than one ECMP group holds.
pub(crate) static RULE: Rule = Rule {
    code: "E0904",
    title: "an ECMP group is wider than the platform allows",
    what: "With `ecmp-static` and `bgp-unnumbered` the uplinks of a switch fit one ECMP group of its \
           platform.",
    why: "Members that do not fit get no traffic, or the whole group is refused and traffic collapses onto \
           one link.",
    example: "routing: ecmp-static\n\
           tiers: { t0: { platform: box-64-ecmp, os: frr } }",
    fix: "Use a platform with wider groups, fewer uplinks, or `routing: srv6-static`, which needs no \
           groups.",
};

/// Counts the members of the widest group.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.routing == Routing::Srv6Static {
        return;
    }
    for hardware in &draft.hardware {
        let Some(tier) = draft.tier(hardware.tier) else { continue };
        let limit = u64::from(hardware.platform.limits.ecmp_width);
        if tier.up.count <= limit {
            continue;
        }
        out.push(
            Diagnostic::error(
                &RULE,
                format!(
                    "{} spreads over {}, an ECMP group of `{}` has {limit}",
                    hardware.who,
                    count(tier.up.count, "uplink"),
                    hardware.platform.id
                ),
            )
            .at(draft.ports_span(tier.id, Side::Up), count(tier.up.count, "uplink"))
            .and(hardware.platform_span, format!("{limit} members"))
            .help("use fewer uplinks, a platform with wider groups, or `routing: srv6-static`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::{codes, message};

    #[test]
    fn groups_are_wide_enough() {
        let fragment = "{ routing: ecmp-static, tiers: { t0: { platform: box-64-ecmp, os: frr } } }";
        assert!(codes(fragment).contains(&"E0904"));
        assert_eq!(
            message(fragment, "E0904"),
            "each T0 spreads over 128 uplinks, an ECMP group of `box-64-ecmp` has 64"
        );
    }
}
