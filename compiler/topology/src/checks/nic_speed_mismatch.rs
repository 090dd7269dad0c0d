//! E0205: a NIC port and the T0 downlink it is plugged into differ in speed.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Breakout;
use closc_qos::units::Speed;

use crate::checks::words::{count, fields_and_values};
use crate::coordinate::Side;
use crate::draft::{Draft, Place};

/// A NIC port and the T0 downlink it is plugged into differ in speed.
pub(crate) static RULE: Rule = Rule {
    code: "E0205",
    title: "NIC ports and T0 downlinks have different speeds",
    condition: "The share of a NIC's speed in one plane equals the speed of a T0 downlink.",
    impact: "The link does not come up.",
    example: "hosts: { nic: { speed: 800G, lanes: 8 } }",
    fix: "Change the NIC's speed, the number of planes, or the breakout of `tiers.t0.down`.",
};

/// Compares the two ends of host cables, place by place.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for place in draft.places() {
        if let Some(found) = compare(draft, &place) {
            out.push(found);
        }
    }
}

fn compare(draft: &Draft<'_>, place: &Place<'_>) -> Option<Diagnostic> {
    let t0 = &place.tiers[0];
    let breakout = t0.down.breakout?;
    let nic = place.nic;
    // Settings that all zones share are compared once.
    if place.zone.is_some() && t0.is_whole() && nic.span == draft.doc.hosts.nic.speed.span {
        return None;
    }
    let whole = draft.planes > 0
        && u64::from(nic.value.mbps()).is_multiple_of(draft.planes)
        && place.lanes.is_multiple_of(draft.planes);
    // If the planes do not divide the speed or the lanes, other rules report that.
    let port = Speed::from_mbps(place.port_mbps(draft.planes) as u32).filter(|_| whole)?;
    if port == breakout.speed {
        return None;
    }
    let (planes, zone) = (count(draft.planes, "plane"), place.of_zone());
    let diagnostic = Diagnostic::error(
        &RULE,
        format!("a NIC port{zone} has {port}, but its T0 downlink has {}", breakout.speed),
    )
    .at(nic.span, format!("{} over {planes}", nic.value))
    .and(t0.breakout_span(draft, Side::Down), format!("downlinks use breakout {breakout}"))
    .note(format!("{} / {planes} = {port} per port", nic.value));
    let fitting = t0.platform.iter().flat_map(|platform| &platform.panel.breakouts);
    // Advice that does not fit on the panel would lead to another error.
    let room = t0.platform.map_or(0, |platform| u64::from(platform.panel.cages));
    let ports = t0.down.count + t0.down.spare;
    let fits = |offered: &&Breakout| ports.div_ceil(u64::from(offered.ports.max(1))) + t0.up.cages() <= room;
    let fitting =
        fitting.filter(|offered| offered.speed == port && fits(offered)).max_by_key(|offered| offered.ports);
    Some(if let Some(fitting) = fitting {
        let whole = t0.split(t0.down.count, fitting);
        let fits = |other: &Place<'_>| other.port_mbps(draft.planes) == u64::from(breakout.speed.mbps());
        let fields = draft.split_downlinks(place, t0, (*fitting, whole), fits);
        let help = format!("set {}", fields_and_values(&fields));
        diagnostic.set_all(fields, help)
    } else {
        let fitting = total(breakout.speed, draft.planes);
        let help = format!(
            "use a NIC of {fitting}, or a platform with room for {} of {port}",
            count(ports, "downlink")
        );
        diagnostic.propose(nic.span, fitting, help)
    })
}

fn total(speed: Speed, planes: u64) -> String {
    let mbps = u64::from(speed.mbps()) * planes;
    u32::try_from(mbps)
        .ok()
        .and_then(Speed::from_mbps)
        .map_or_else(|| format!("{mbps}M"), |total| total.to_string())
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, help, message};

    #[test]
    fn divides_the_nic_over_the_planes() {
        assert_eq!(codes("hosts: { nic: { speed: 800G, lanes: 8 } }"), ["E0205"]);
        assert_eq!(message("planes: 1", "E0205"), "a NIC port has 400G, but its T0 downlink has 200G");
    }

    /// Two zones with NICs of two speeds.
    fn zones(down: &str, own: &str) -> String {
        format!(
            "{{ planes: 1, zones: 2, hosts: {{ groups: 8, per_group: 32, nic: {{ speed: 400G, lanes: 4 }}, \
             nic_by_zone: {{ 1: {{ speed: 200G, lanes: 2 }} }} }}, tiers: {{ \
             t0: {{ platform: th5-64x800g, down: {down}, up: {{ count: 16, breakout: 1x800G }}{own} }}, \
             t1: {{ platform: th5-64x800g, up: {{ count: 8, breakout: 1x800G }}, down: {{ breakout: 1x800G }} }}, \
             t2: {{ platform: th5-64x800g, os: sonic, down: {{ breakout: 1x800G }}, ports_per_zone: 16 }} }} }}"
        )
    }

    #[test]
    fn help_for_one_zone_leaves_the_others_as_they_are() {
        let (fast, slow) = ("{count: 32, breakout: 2x400G}", "{count: 32, breakout: 4x200G}");
        let own = "`tiers.t0.by_zone.1.down` to `{breakout: 4x200G}`";
        assert_eq!(help(&zones(fast, ""), "E0205"), format!("set {own}"));
        assert_eq!(help(&zones(slow, ""), "E0205"), format!("set `tiers.t0.down` to `{fast}` and {own}"));
        let followed = zones(fast, ", by_zone: { 1: { down: { breakout: 4x200G } } }");
        assert!(codes(&followed).iter().all(|code| code.starts_with('W')), "{:?}", codes(&followed));
    }

    #[test]
    fn a_fault_of_all_zones_is_reported_once() {
        let fragment = "{ zones: 2, planes: 1, hosts: { per_group_by_zone: { 1: 64 } } }";
        let found = crate::testing::findings(fragment);
        assert_eq!(found.iter().filter(|found| found.rule.code == "E0205").count(), 1);
    }
}
