//! E0904: a switch needs an ECMP group with more members than its platform or BGP supports.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Limit;

use crate::checks::limit_basis::Basis;
use crate::checks::or_routing;
use crate::checks::words::{choice, count};
use crate::coordinate::{Side, TierId};
use crate::draft::{Draft, DraftTier};

/// A switch needs an ECMP group with more members than its platform or BGP supports.
pub(crate) static RULE: Rule = Rule {
    code: "E0904",
    title: "an ECMP group is wider than the platform allows",
    condition: "With `ecmp-static` and `bgp-unnumbered`, the uplinks of a switch fit one ECMP group of its \
           platform. So do its downlinks towards one T0 or zone. Some platforms have larger groups of certain sizes \
           only, and round others up. With BGP, they are also within the limit of \
           the routing daemon: 514 on SONiC, 256 elsewhere.",
    impact: "Members that do not fit get no traffic, or the whole group is rejected and all traffic uses one \
           link.",
    example: "routing: ecmp-static\n\
           tiers: { t0: { platform: box-64-ecmp, os: frr } }",
    fix: "Use a platform with wider groups, fewer uplinks, or `routing: srv6-static`, which needs no \
           groups.",
};

/// Compares the size of the widest group with limits that are published, measured or stated.
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
        let width = hardware.group_width();
        let held = width.members;
        let (ways, what, side) = widest(draft, tier);
        let paths = hardware.os.multipath_max().map(u64::from).filter(|_| draft.routing.speaks_bgp());
        // The limit of the daemon is published, even if that of the platform is assumed.
        let holder = match paths.filter(|most| ways > *most) {
            Some(most) if basis == Basis::Firm => {
                format!("the BGP of `{}` uses at most {most}", hardware.os.keyword())
            }
            Some(_) => continue,
            None if width.accepts(ways) || !basis.covers(hardware, Limit::EcmpWidth) => continue,
            None => format!("an ECMP group of `{}` has {held}", hardware.platform.id),
        };
        let message = format!("{} spreads over {}, but {holder}", hardware.subject, links(ways, what));
        let finding = basis
            .finding(&RULE, hardware, Limit::EcmpWidth, message)
            .at(draft.ports_span(tier.id, side), links(ways, what))
            .and(hardware.platform_span, format!("{held} members"));
        let larger = width.larger.filter(|_| !holder.starts_with("the BGP"));
        let rounded = larger.map(|sizes| {
            let sizes = choice(sizes.iter().copied().map(u64::from));
            format!("groups of other sizes than {sizes} are rounded up, so that some members get more")
        });
        out.push({ rounded.into_iter() }.fold(finding, Diagnostic::note).help(or_routing(
            "use fewer uplinks, or a platform with wider groups",
            "",
            draft,
            &[Routing::Srv6Static],
        )));
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
    use crate::testing::{codes, findings, message};

    #[test]
    fn groups_are_wide_enough() {
        let fragment = "{ routing: ecmp-static, tiers: { t0: { platform: box-64-ecmp, os: frr } } }";
        assert!(codes(fragment).contains(&"E0904"));
        assert_eq!(
            message(fragment, "E0904"),
            "each T0 spreads over 128 uplinks, but an ECMP group of `box-64-ecmp` has 64"
        );
    }

    /// sonic-buildimage builds FRR with 514 paths, Debian with 256.
    #[test]
    fn paths_of_bgp_are_those_of_the_daemon() {
        let of = |os: &str| {
            let fragment = format!(
                "{{ routing: bgp-unnumbered, qos: none, hosts: {{ groups: 2, per_group: 192, nic: {{ speed: 100G, lanes: 1 }} }}, \
                 planes: 1, tiers: {{ t0: {{ platform: th5-512x100g, os: {os}, up: 320 }}, \
                 t1: {{ platform: th5-512x100g, os: {os} }} }} }}"
            );
            codes(&fragment).contains(&"E0904").then(|| message(&fragment, "E0904"))
        };
        assert_eq!(of("sonic"), None);
        let expected = "each T0 spreads over 320 uplinks, but the BGP of `frr` uses at most 256";
        assert_eq!(of("frr").as_deref(), Some(expected));
    }

    /// The driver of Spectrum has groups of 256 members and rounds 200 up. SONiC's hwskus of one switch differ.
    #[test]
    fn published_sizes_are_accepted() {
        let of = |platform: &str, up: u32| {
            let found = findings(&format!(
                "{{ routing: ecmp-static, qos: none, hosts: {{ groups: 2, per_group: 40, nic: {{ speed: 100G }} }}, \
                 tiers: {{ t0: {{ platform: {platform}, os: sonic, down: {{ breakout: 8x100G }}, \
                 up: {{ count: {up}, breakout: 8x100G }} }} }} }}"
            ));
            // W0904 also covers other limits.
            let found = found
                .iter()
                .filter(|finding| ["E0904", "W0904"].contains(&finding.rule.code))
                .filter(|finding| finding.message.contains("ECMP group"));
            found.map(|finding| (finding.message.clone(), finding.notes.clone())).collect::<Vec<_>>()
        };
        for platform in ["spectrum5-sn5640", "th5-64x800g"] {
            assert!(of(platform, 256).is_empty(), "{platform}");
        }
        let (message, notes) = &of("spectrum4-sn5600-256x100g", 200)[0];
        assert!(message.ends_with("but an ECMP group of `spectrum4-sn5600-256x100g` has 128"), "{message}");
        assert!(
            notes[0].starts_with("groups of other sizes than 256, 512, 1024, 2048 or 4096 are"),
            "{notes:?}"
        );
    }
}
