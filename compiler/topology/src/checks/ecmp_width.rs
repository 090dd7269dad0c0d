//! E0904: a switch has more uplinks than one ECMP group holds.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostics, Rule};
use closc_platform::Limit;

use crate::checks::limit_basis::Basis;
use crate::checks::or_routing;
use crate::checks::words::count;
use crate::coordinate::{Side, TierId};
use crate::draft::{Draft, DraftTier};

/// A switch has more uplinks than one ECMP group holds.
pub(crate) static RULE: Rule = Rule {
    code: "E0904",
    title: "an ECMP group is wider than the platform allows",
    what: "With `ecmp-static` and `bgp-unnumbered`, the uplinks of a switch fit one ECMP group of its \
           platform. So do its downlinks towards one T0 or zone. With BGP, they are also within the limit of \
           the routing daemon: 514 on SONiC, 256 elsewhere.",
    why: "Members that do not fit get no traffic, or the whole group is rejected and all traffic uses one \
           link.",
    example: "routing: ecmp-static\n\
           tiers: { t0: { platform: box-64-ecmp, os: frr } }",
    fix: "Use a platform with wider groups, fewer uplinks, or `routing: srv6-static`, which needs no \
           groups.",
};

/// Compares the members of the widest group with limits that are not assumed.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    compare(draft, Basis::Firm, out);
}

/// Counts the members of the widest group.
pub(super) fn compare(draft: &Draft<'_>, basis: Basis, out: &mut Diagnostics) {
    if draft.routing.is_source_routed() {
        return;
    }
    for hardware in &draft.hardware {
        let Some(tier) = draft.tier(hardware.tier) else { continue };
        let held = u64::from(hardware.platform.limits.ecmp_width);
        let (ways, what, side) = widest(draft, tier);
        let paths = hardware.os.multipath_max().map(u64::from).filter(|_| draft.routing.speaks_bgp());
        // The limit of the daemon is published, even if that of the platform is assumed.
        let holder = match paths.filter(|most| ways > *most) {
            Some(most) if basis == Basis::Firm => {
                format!("the BGP of `{}` uses at most {most}", hardware.os.word())
            }
            Some(_) => continue,
            None if ways <= held || !basis.covers(hardware, Limit::EcmpWidth) => continue,
            None => format!("an ECMP group of `{}` has {held}", hardware.platform.id),
        };
        let message = format!("{} spreads over {}, but {holder}", hardware.who, links(ways, what));
        out.push(
            basis
                .finding(&RULE, hardware, Limit::EcmpWidth, message)
                .at(draft.ports_span(tier.id, side), links(ways, what))
                .and(hardware.platform_span, format!("{held} members"))
                .help(or_routing(
                    "use fewer uplinks, or a platform with wider groups",
                    "",
                    draft,
                    &[Routing::Srv6Static],
                )),
        );
    }
}

/// Writes a number of links with their destination: `128 uplinks`, `300 links to each zone`.
fn links(number: u64, (noun, rest): (&str, &str)) -> String {
    format!("{}{rest}", count(number, noun))
}

/// Returns the size of a switch's widest group, a description of its members, and their side.
fn widest(draft: &Draft<'_>, tier: &DraftTier) -> (u64, (&'static str, &'static str), Side) {
    let below = match tier.id {
        TierId::T0 => 1,
        TierId::T1 => draft.t0.parallel,
        TierId::T2 => draft.t1s_below_t2() * draft.t1.parallel,
    };
    match tier.id {
        TierId::T1 if below > tier.up.count => (below, ("link", " to each T0"), Side::Down),
        TierId::T2 if below > tier.up.count => (below, ("link", " to each zone"), Side::Down),
        TierId::T0 | TierId::T1 | TierId::T2 => (tier.up.count, ("uplink", ""), Side::Up),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn groups_are_wide_enough() {
        let fragment = "{ routing: ecmp-static, tiers: { t0: { platform: box-64-ecmp, os: frr } } }";
        assert!(codes(fragment).contains(&"E0904"));
        assert_eq!(
            message(fragment, "E0904"),
            "each T0 spreads over 128 uplinks, but an ECMP group of `box-64-ecmp` has 64"
        );
    }
}
