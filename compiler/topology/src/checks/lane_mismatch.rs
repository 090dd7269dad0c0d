//! E0210: the lanes at the two ends of a copper cable run at different speeds.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};
use closc_qos::units::Speed;

use crate::draft::{Draft, DraftBlock, DraftCable, PlaceTier};
use crate::media::Medium;

/// The lanes at the two ends of a copper cable run at different speeds.
pub(crate) static RULE: Rule = Rule {
    code: "E0210",
    title: "copper connects ports with different lane speeds",
    condition: "Both ends of a copper cable have the same speed per serial lane. This is checked for cables from \
           NICs to T0s and from T0s to T1s, if `medium` is set.",
    impact: "Copper has no electronics to convert between 100G over one lane and 100G over four lanes. Optical \
           modules and retimed cables convert.",
    example: "hosts: { nic: { lanes: 8 } }\n\
           cables: { nic-t0: { medium: dac } }",
    fix: "Use ports with equal lanes, correct `hosts.nic.lanes`, or use an optical medium.",
};

/// Checks copper cables of hosts and of the fabric, place by place.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for place in draft.places() {
        let nic_lanes = place.lanes / draft.planes.max(1);
        let nic = (nic_lanes > 0).then(|| End {
            name: "the NIC",
            mbps: place.port_mbps(draft.planes) / nic_lanes,
            span: draft.lanes_span(&place),
        });
        let [t0, t1] = &place.tiers;
        compare(&draft.cables.nic_t0, (nic, end("T0", t0, t0.down)), out);
        if place.zone.is_none() || !(t0.is_whole() && t1.is_whole()) {
            compare(&draft.cables.t0_t1, (end("T0", t0, t0.up), end("T1", t1, t1.down)), out);
        }
    }
}

/// One end of a cable: the speed of a lane there.
struct End {
    name: &'static str,
    mbps: u64,
    span: Span,
}

fn end(name: &'static str, tier: &PlaceTier<'_>, block: &DraftBlock) -> Option<End> {
    let (platform, breakout) = (tier.platform?, block.breakout?);
    let lanes = u64::from(breakout.width(platform.panel.lanes));
    (lanes > 0).then(|| End { name, mbps: u64::from(breakout.speed.mbps()) / lanes, span: tier.span })
}

fn compare(cable: &DraftCable, ends: (Option<End>, Option<End>), out: &mut Diagnostics) {
    let (Some(medium_span), (Some(lower), Some(upper))) = (cable.medium_span, ends) else { return };
    let copper = Medium::find(&cable.cable.medium).is_some_and(|medium| medium.copper);
    if !copper || lower.mbps == upper.mbps {
        return;
    }
    let speed = |mbps: u64| {
        u32::try_from(mbps).ok().and_then(Speed::from_mbps).map_or_else(|| "0".to_owned(), |s| s.to_string())
    };
    out.push(
        Diagnostic::error(
            &RULE,
            format!(
                "copper connects lanes of {} at {} with lanes of {} at the {}",
                speed(lower.mbps),
                lower.name,
                speed(upper.mbps),
                upper.name
            ),
        )
        .at(medium_span, "copper does not convert between them")
        .and(lower.span, format!("{} per lane", speed(lower.mbps)))
        .and(upper.span, format!("{} per lane", speed(upper.mbps)))
        .help("use ports with equal lanes, or a medium with electronics such as `aec` or `dr`"),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn only_stated_copper_is_compared() {
        assert_eq!(codes("{ hosts: { nic: { lanes: 8 } }, cables: { nic-t0: { medium: dac } } }"), ["E0210"]);
        assert_eq!(
            codes("{ hosts: { nic: { lanes: 8 } }, cables: { nic-t0: { medium: aoc } } }"),
            Vec::<&str>::new()
        );
        assert_eq!(codes("hosts: { nic: { lanes: 8 } }"), Vec::<&str>::new());
        assert_eq!(
            message("{ hosts: { nic: { lanes: 8 } }, cables: { nic-t0: { medium: dac } } }", "E0210"),
            "copper connects lanes of 50G at the NIC with lanes of 100G at the T0"
        );
    }
}
