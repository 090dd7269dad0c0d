//! E0602: a cable is longer than the reach of its medium.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};
use closc_qos::units::Speed;

use crate::coordinate::Link;
use crate::coordinate::Subject;
use crate::draft::{Draft, DraftBlock, DraftCable, DraftTier};
use crate::field;
use crate::media::Medium;

/// A cable is longer than the reach of its medium.
pub(crate) static RULE: Rule = Rule {
    code: "E0602",
    title: "a cable is longer than its medium reaches",
    what: "Every cable is within the reach of its medium at the speed of a serial lane of its ports.",
    why: "The link comes up with errors or not at all.",
    example: "cables: { nic-t0: { length: 12m, medium: dac } }",
    fix: "Use a medium with enough reach; the message proposes one. It names the source of the reach.",
};

/// Checks every kind of cable, and every cable of `exceptions.cables`.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let cables = &draft.cables;
    let zones = cables
        .by_zone
        .iter()
        .map(|(zone, cable)| (format!("T1 to T2 of zone {}", zone.value), cable, zone.span));
    let kinds = [
        ("NIC to T0", &cables.nic_t0, field!("cables.nic-t0")),
        ("T0 to T1", &cables.t0_t1, field!("cables.t0-t1")),
    ]
    .into_iter()
    .chain(cables.t1_t2.iter().map(|cable| ("T1 to T2", cable, field!("cables.t1-t2"))))
    .map(|(what, cable, path)| (what.to_owned(), cable, draft.at(path)));
    for (what, cable, span) in kinds.chain(zones) {
        let lane = if what.starts_with("NIC") {
            lane(&draft.t0, &draft.t0.down)
        } else if what.starts_with("T0") {
            lane(&draft.t0, &draft.t0.up)
        } else {
            lane(&draft.t1, &draft.t1.up)
        };
        explain(&format!("the {what} cables"), cable, lane, span, out);
    }
    for (entry, doc) in draft.exceptions.cables() {
        let Ok(Subject::Link(link)) = entry.subject else { continue };
        let lane = match link {
            Link::Host(_) => lane(&draft.t0, &draft.t0.down),
            Link::Fabric { lower, .. } => draft.tier(lower.tier).and_then(|tier| lane(tier, &tier.up)),
        };
        let cable = DraftCable::over(draft.kind_of(link), Some(doc));
        if cable.length_span.is_some() || cable.medium_span.is_some() {
            explain(&format!("cable `{}`", entry.name), &cable, lane, entry.span, out);
        }
    }
}

/// Returns the speed of a serial lane of the ports of a tier: 1x800G and 8x100G of one cage have lanes of 100G.
fn lane(tier: &DraftTier, block: &DraftBlock) -> Option<Speed> {
    let (platform, breakout) = (tier.platform.as_ref()?, block.breakout?);
    let lanes = u32::from(platform.panel.lanes / breakout.ports.max(1)).max(1);
    Speed::from_mbps(breakout.speed.mbps() / lanes)
}

fn explain(what: &str, cable: &DraftCable, lane: Option<Speed>, span: Span, out: &mut Diagnostics) {
    let (Some(medium), Some(lane)) = (Medium::find(&cable.cable.medium), lane) else { return };
    let Some(reach) = medium.reach(lane) else { return };
    let length = cable.cable.length;
    if length <= reach.length {
        return;
    }
    let verb = if what.starts_with("the") { "are" } else { "is" };
    let mut diagnostic = Diagnostic::error(
        &RULE,
        format!(
            "{what} {verb} {length} of `{}`, which reaches {} at {lane} a lane",
            medium.word, reach.length
        ),
    )
    .at(
        cable.length_span.unwrap_or(span),
        if cable.length_span.is_some() { String::new() } else { format!("{length} by default") },
    );
    if let Some(medium_span) = cable.medium_span {
        diagnostic =
            diagnostic.and(medium_span, format!("{}, {} at {lane} a lane", medium.title, reach.length));
    }
    let further = Medium::all().iter().find(|other| {
        !matches!(other.word, "virtual" | "dwdm")
            && other.reach(lane).is_some_and(|reach| reach.length >= length)
    });
    let help = match further {
        Some(further) => format!("use `{}` ({}), or a shorter cable", further.word, further.title),
        None => "use `dwdm` for a line system of your own, or a shorter cable".to_owned(),
    };
    out.push(diagnostic.note(reach.source).help(help));
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn media_reach_so_far() {
        assert_eq!(codes("cables: { nic-t0: { length: 12m } }"), ["E0602"]);
        assert_eq!(codes("cables: { nic-t0: { length: 3m } }"), Vec::<&str>::new());
        // Ports of 200G over two lanes: 100G lanes reach less than 25G lanes, regardless of the speed of the port.
        assert_eq!(codes("cables: { nic-t0: { length: 5m } }"), ["E0602"]);
        assert_eq!(codes("cables: { t0-t1: { length: 600m } }"), ["E0602"]);
        assert_eq!(codes("exceptions: { cables: { p0-t0-001--p0-t1-001: { length: 3km } } }"), ["E0602"]);
        assert_eq!(
            message("cables: { nic-t0: { length: 12m, medium: dac } }", "E0602"),
            "the NIC to T0 cables are 12m of `dac`, which reaches 3m at 100G a lane"
        );
    }
}
