//! E0602: a cable is longer than the reach of its medium.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};

use crate::coordinate::{Link, Subject, TierId};
use crate::draft::{Draft, DraftCable};
use crate::field;
use crate::media::{Lanes, Medium};

/// A cable is longer than the reach of its medium.
pub(crate) static RULE: Rule = Rule {
    code: "E0602",
    title: "a cable is longer than its medium reaches",
    condition: "Every cable is within the reach of its medium at the speed of a serial lane of its ports. With \
           100G lanes, passive copper (`dac`) reaches 2 m from cage to cage, and 3 m as a breakout cable.",
    impact: "The link comes up with errors or not at all.",
    example: "cables: { nic-t0: { length: 12m, medium: dac } }",
    fix: "Use a medium with enough reach, or a shorter cable. The message proposes a medium, and contains \
           the source of the reach.",
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
        let lanes = if what.starts_with("NIC") {
            draft.nic_lanes()
        } else {
            draft.uplink_lanes(if what.starts_with("T0") { TierId::T0 } else { TierId::T1 })
        };
        explain(&format!("the {what} cables"), cable, lanes, span, out);
    }
    for (entry, doc) in draft.exceptions.cables() {
        let Ok(Subject::Link(link)) = entry.subject else { continue };
        let lanes = match link {
            Link::Host(_) => draft.nic_lanes(),
            Link::Fabric { lower, .. } => draft.uplink_lanes(lower.tier),
        };
        let cable = DraftCable::over(draft.kind_of(link), Some(doc));
        if cable.length_span.is_some() || cable.medium_span.is_some() {
            explain(&format!("cable `{}`", entry.name), &cable, lanes, entry.span, out);
        }
    }
}

fn explain(what: &str, cable: &DraftCable, lanes: Option<Lanes>, span: Span, out: &mut Diagnostics) {
    let (Some(medium), Some(lanes)) = (Medium::find(&cable.cable.medium), lanes) else { return };
    let lane = lanes.speed;
    let Some(reach) = medium.reach(lanes) else { return };
    let length = cable.cable.length;
    if length <= reach.length {
        return;
    }
    let verb = if what.starts_with("the") { "are" } else { "is" };
    let mut diagnostic = Diagnostic::error(
        &RULE,
        format!(
            "{what} {verb} {length} of `{}`, which reaches {} at {lane} per lane",
            medium.keyword, reach.length
        ),
    )
    .at(
        cable.length_span.unwrap_or(span),
        if cable.length_span.is_some() { String::new() } else { format!("{length} by default") },
    );
    if let Some(medium_span) = cable.medium_span {
        diagnostic =
            diagnostic.and(medium_span, format!("{}, {} at {lane} per lane", medium.title, reach.length));
    }
    let further = Medium::all().iter().find(|other| {
        !matches!(other.keyword, "virtual" | "dwdm")
            && other.reach(lanes).is_some_and(|reach| reach.length >= length)
    });
    let help = match further {
        Some(further) => format!("use `{}` ({}), or a shorter cable", further.keyword, further.title),
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
        // Ports of 200G over two lanes: 100G lanes have a shorter reach than 25G lanes, regardless of the speed of
        // the port.
        assert_eq!(codes("cables: { nic-t0: { length: 5m } }"), ["E0602"]);
        assert_eq!(codes("cables: { t0-t1: { length: 600m } }"), ["E0602"]);
        assert_eq!(codes("exceptions: { cables: { p0-t0-001--p0-t1-001: { length: 3km } } }"), ["E0602"]);
        let straight = "{ planes: 1, hosts: { nic: { speed: 800G, lanes: 8 } }, tiers: { t0: { platform: th5-64x800g, up: 16 }, \
                        t1: { platform: th5-64x800g } }";
        for (cable, expected) in [("nic-t0: { length: 3m }", true), ("nic-t0: { length: 2m }", false)] {
            let found = codes(&format!("{straight}, cables: {{ {cable} }} }}"));
            assert_eq!(found.contains(&"E0602"), expected, "{cable} {found:?}");
        }
        let split = straight
            .replace("up: 16", "up: 16, down: { breakout: 2x400G }")
            .replace("800G, lanes: 8", "400G");
        assert!(!codes(&format!("{split}, cables: {{ nic-t0: {{ length: 3m }} }} }}")).contains(&"E0602"));
        assert_eq!(
            message("cables: { nic-t0: { length: 12m, medium: dac } }", "E0602"),
            "the NIC to T0 cables are 12m of `dac`, which reaches 3m at 100G per lane"
        );
    }
}
