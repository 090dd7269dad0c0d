//! E0205: a NIC port and the T0 downlink it is plugged into differ in speed.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Breakout;
use closc_qos::units::Speed;

use crate::checks::words::count;
use crate::coordinate::Side;
use crate::draft::Draft;

/// A NIC port and the T0 downlink it is plugged into differ in speed.
pub(crate) static RULE: Rule = Rule {
    code: "E0205",
    title: "NIC ports and T0 downlinks have different speeds",
    what: "The share of a NIC's speed that one plane gets is the speed of a T0 downlink.",
    why: "The link would not come up.",
    example: "hosts: { nic: { speed: 800G, lanes: 8 } }",
    fix: "Change the NIC's speed, the number of planes, or the breakout of `tiers.t0.down`.",
};

/// Compares the two ends of host cables.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(breakout) = draft.t0.down.breakout else { return };
    let nic = draft.doc.hosts.nic.speed;
    let port = draft.nic_port_mbps();
    let whole = draft.planes > 0
        && u64::from(nic.value.mbps()).is_multiple_of(draft.planes)
        && draft.nic_lanes.is_multiple_of(draft.planes);
    let Some(port) = Speed::from_mbps(port as u32).filter(|_| whole) else {
        return; // The checks of the split say so.
    };
    if port == breakout.speed {
        return;
    }
    let planes = count(draft.planes, "plane");
    let diagnostic = Diagnostic::error(
        &RULE,
        format!("a NIC port has {port}, the T0 downlink it is plugged into {}", breakout.speed),
    )
    .at(nic.span, format!("{} over {planes}", nic.value))
    .and(draft.breakout_span(&draft.t0, Side::Down), format!("downlinks are split {breakout}"))
    .note(format!("{} / {planes} = {port} a port", nic.value));
    let fitting = draft.t0.platform.iter().flat_map(|platform| &platform.panel.breakouts);
    // Advice that the panel has no room for leads from one error to the next.
    let room = draft.t0.platform.as_ref().map_or(0, |platform| u64::from(platform.panel.cages));
    let ports = draft.t0.down.count + draft.t0.down.spare;
    let fits =
        |offered: &&Breakout| ports.div_ceil(u64::from(offered.ports.max(1))) + draft.t0.up.cages() <= room;
    let fitting =
        fitting.filter(|offered| offered.speed == port && fits(offered)).max_by_key(|offered| offered.ports);
    out.push(match fitting {
        Some(fitting) => {
            let ports = draft.t0.down.count;
            diagnostic.help(format!("set `tiers.t0.down` to `{{count: {ports}, breakout: {fitting}}}`"))
        }
        None => diagnostic.help(format!(
            "use a NIC of {}, or a platform with room for {} of {port}",
            total(breakout.speed, draft.planes),
            count(ports, "downlink")
        )),
    });
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
    use crate::testing::{codes, message};

    #[test]
    fn divides_the_nic_over_the_planes() {
        assert_eq!(codes("hosts: { nic: { speed: 800G, lanes: 8 } }"), ["E0205"]);
        assert_eq!(
            message("planes: 1", "E0205"),
            "a NIC port has 400G, the T0 downlink it is plugged into 200G"
        );
    }
}
