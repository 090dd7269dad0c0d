//! W0302: more than half of the ports of a T1 are neither in use nor spare.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::{Capability, Support};

use crate::checks::w_parallel_locators::drops_locators;
use crate::checks::words::count;
use crate::coordinate::TierId;
use crate::draft::{Draft, Hardware};
use crate::field;

/// More than half of the ports of a T1 are neither in use nor spare.
pub(crate) static RULE: Rule = Rule {
    code: "W0302",
    title: "most ports of the T1s are unused",
    condition: "At least half of the ports of a T1 are in use or reserved as spare.",
    impact: "With so few T0s, fewer T1s with parallel links, or smaller T1s, cost less for the same bandwidth.",
    example: "# 64 T0s in each plane, below T1s with 256 ports\n\
           hosts: { groups: 64 }",
    fix: "If the message proposes a value of `tiers.t0.parallel`, set it. If the fabric will grow, reserve \
           ports with `tiers.t1.down: {spare: N}`. Otherwise use a smaller platform.",
};

/// Counts the ports of a T1 in use.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let tier = &draft.t1;
    let (Some(platform), Some(breakout)) = (&tier.platform, tier.down.breakout) else { return };
    // Ports of software cost nothing.
    if platform.is_software() || tier.count < 2 {
        return;
    }
    let ports = u64::from(platform.panel.cages) * u64::from(breakout.ports);
    // Uplinks can have another breakout, so they are counted as the number of downlinks that fit on their lanes.
    let as_downlinks =
        |up: u64| tier.up.breakout.map_or(up, |split| breakout.ports_for(up, split, platform.panel.lanes));
    let used = tier.down.count + tier.down.spare + as_downlinks(tier.up.count + tier.up.spare);
    let plugged = tier.down.count + as_downlinks(tier.up.count);
    let reserved = match used - plugged {
        0 => String::new(),
        1 => ", 1 is spare".to_owned(),
        spare => format!(", {spare} are spare"),
    };
    if used == 0 || used * 2 >= ports {
        return;
    }
    let fewer = ports / used * draft.t0.parallel;
    // In a single plane, one T1 would be a single point of failure.
    let least = if draft.planes > 1 { 1 } else { 2 };
    let is_enough =
        |times: &u64| draft.t0.up.count.is_multiple_of(*times) && draft.t0.up.count / times >= least;
    let times = (1..=fewer).rev().find(is_enough);
    let diagnostic = Diagnostic::warning(
        &RULE,
        format!("{} of the {} of each T1 are unused", ports - used, count(ports, "port")),
    )
    .at(tier.name.span, count(ports, "port"))
    .and(draft.at(field!("hosts.groups")), format!("{plugged} are in use{reserved}"));
    // With T2s, fewer T1s would have fewer cables to them. Besides, not every system supports several uSIDs per switch
    // (W0402).
    let is_alone = draft.t2.is_none();
    let takes_several =
        |hardware: &Hardware| hardware.tier == TierId::T2 || has_several_locators(draft, hardware);
    let is_safe = is_alone && (!draft.routing.is_source_routed() || draft.hardware.iter().all(takes_several));
    out.push(match times {
        Some(times) if times > draft.t0.parallel && is_safe => diagnostic
            .help(format!(
                "`tiers.t0.parallel: {times}` gives the same bandwidth with {} instead of {} in each plane{}",
                count(draft.t0.up.count / times, "T1"),
                tier.count,
                if draft.zones > 1 { " and zone" } else { "" }
            ))
            .help("or set `tiers.t1.down.spare` to the ports kept for growth"),
        Some(_) | None => diagnostic
            .help("use a smaller platform, or set `tiers.t1.down.spare` to the ports kept for growth"),
    });
}

/// Returns whether a switch supports several uSIDs in the release of the file.
fn has_several_locators(draft: &Draft<'_>, hardware: &Hardware) -> bool {
    let is_rendered = !matches!(hardware.os.support(Capability::SeveralLocators), Support::Not(_));
    is_rendered && !drops_locators(draft, hardware)
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, help, message};

    #[test]
    fn proposes_parallel_links() {
        assert_eq!(codes("hosts: { groups: 64 }"), ["W0302"]);
        assert_eq!(message("hosts: { groups: 64 }", "W0302"), "192 of the 256 ports of each T1 are unused");
        assert_eq!(
            codes("{ hosts: { groups: 64 }, tiers: { t1: { down: { spare: 192 } } } }"),
            Vec::<&str>::new()
        );
        assert_eq!(codes("hosts: { groups: 128 }"), Vec::<&str>::new());
    }

    /// T1s of a zone connect only its T0s, and a lone T1 of the only plane would be a single point of failure.
    #[test]
    fn the_proposed_number_of_t1s_is_that_of_a_zone() {
        let advice = |start: &str| {
            let tiers = "tiers: { t0: { platform: th5-128x400g, os: eos, up: 8 }, t1: { platform: th5-128x400g, os: eos } }";
            let hosts = "{ groups: 4, per_group: 8, nics_per_node: 8, rails: 4, zones_per_node: 4, nic: { speed: 400G, lanes: 4 } }";
            let text = format!("{{ {start}, routing: ecmp-static, qos: none, hosts: {hosts}, {tiers} }}");
            help(&text, "W0302")
        };
        assert_eq!(
            advice("planes: 1, zones: 4"),
            "`tiers.t0.parallel: 4` gives the same bandwidth with 2 T1s instead of 8 in each plane and zone"
        );
        let two = "use a smaller platform, or set `tiers.t1.down.spare` to the ports kept for growth";
        let lone = "{ planes: 1, routing: ecmp-static, qos: none, hosts: { groups: 4, per_group: 8, nic: { speed: 400G, lanes: 4 } }, \
                    tiers: { t0: { platform: th5-128x400g, os: eos, up: 2 }, t1: { platform: th5-128x400g, os: eos } } }";
        assert_eq!(help(lone, "W0302"), two);
    }

    #[test]
    fn spare_ports_are_not_in_use() {
        let labels = |groups: &str| -> Vec<String> {
            let found = crate::testing::findings(&format!(
                "{{ hosts: {{ groups: 4 }}, tiers: {{ t1: {{ down: {{ spare: {groups} }} }} }} }}"
            ));
            let one = found.iter().find(|found| found.rule.code == "W0302").expect("few groups");
            one.labels.iter().map(|label| label.text.clone()).collect()
        };
        assert_eq!(labels("4")[1], "4 are in use, 4 are spare");
        assert_eq!(labels("0")[1], "4 are in use");
    }

    /// 16 cages of downlinks and 16 of uplinks are together half of 64 cages.
    #[test]
    fn uplinks_of_another_breakout_count_by_their_cages() {
        let with = |uplinks: u32| {
            format!(
                "{{ zones: 2, hosts: {{ groups: 64 }}, tiers: {{ t1: {{ up: {{ count: {uplinks}, breakout: 1x800G }} }}, \
                 t2: {{ platform: th5-64x800g, os: sonic }} }} }}"
            )
        };
        assert!(!codes(&with(16)).contains(&"W0302"), "{:?}", codes(&with(16)));
        assert_eq!(message(&with(15), "W0302"), "132 of the 256 ports of each T1 are unused");
    }
}
