//! E1004: every breakout fits the cage.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use super::format_list;
use crate::file::File;

pub(crate) static RULE: Rule = Rule {
    code: "E1004",
    title: "a breakout does not fit the cage",
    condition: "The ports of a breakout divide the lanes of the cage. The speed of a port divides evenly over its \
           lanes and needs at most `lane_speed` per lane. A breakout is listed once. A breakout in `partial` uses \
           fewer lanes than the cage has. `breakout_cages` and `disables_next` name breakouts of the panel, and the \
           cages of a breakout are on the panel.",
    impact: "A port is a whole number of serial lanes. A breakout that does not fit cannot be cabled.",
    example: "panel: {cages: 32, lanes: 4, lane_speed: 25G, breakouts: [1x400G], default: 1x400G}",
    fix: "Correct `lanes`, `lane_speed` or the breakout.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    partial(file, source, found);
    single_cages(file, source, found);
    let panel = &file.panel;
    let (lanes, fastest) = (u32::from(panel.lanes.value), panel.lane_speed.value);
    for (index, at) in panel.breakouts.iter().enumerate() {
        let breakout = at.value;
        let ports = u32::from(breakout.ports);
        let place = at.span(source);
        if let Some(first) = panel.breakouts[..index].iter().find(|other| other.value == breakout) {
            let message = format!("breakout `{breakout}` is listed twice");
            found.push(Diagnostic::error(&RULE, message).at(place, "again").and(first.span(source), "first"));
        }
        if ports > lanes || lanes % ports != 0 {
            let diagnostic = Diagnostic::error(
                &RULE,
                format!("`{breakout}` cannot split {lanes} lanes into {ports} ports"),
            )
            .at(place, format!("{ports} ports"))
            .and(panel.lanes.span(source), format!("{lanes} lanes per cage"));
            let divisors = format_list((1..=lanes).filter(|n| lanes % n == 0));
            found.push(if divisors.is_empty() {
                diagnostic
            } else {
                diagnostic.help(format!("split into {divisors} ports"))
            });
            continue;
        }
        let width = lanes / ports;
        let speed = breakout.speed.mbps();
        if speed % width != 0 || speed / width > fastest.mbps() {
            let each = speed.div_ceil(width);
            found.push(
                Diagnostic::error(&RULE, format!("`{breakout}` does not fit the speed of the lanes"))
                    .at(place, format!("{} over {width} lanes", breakout.speed))
                    .and(panel.lane_speed.span(source), format!("{fastest} per lane"))
                    .note(format!(
                        "{speed} Mb/s / {width} lanes = {each} Mb/s; a lane has {} Mb/s",
                        fastest.mbps()
                    )),
            );
        }
    }
}

/// Checks the breakouts that leave lanes of a cage unused.
fn partial(file: &File, source: SourceId, found: &mut Diagnostics) {
    let panel = &file.panel;
    for (index, at) in panel.partial.iter().enumerate() {
        let breakout = at.value;
        let place = at.span(source);
        let Some(share) = breakout.share.filter(|share| share.lanes < panel.lanes.value) else {
            let message = format!("`{breakout}` does not leave lanes of the cage unused");
            let label = format!("expected a number of lanes below {}, as in `1x100G(4)`", panel.lanes.value);
            found.push(Diagnostic::error(&RULE, message).at(place, label));
            continue;
        };
        if let Some(first) = panel.partial[..index].iter().find(|other| other.value == breakout) {
            let message = format!("breakout `{breakout}` is listed twice");
            found.push(Diagnostic::error(&RULE, message).at(place, "again").and(first.span(source), "first"));
        }
        let (ports, lanes) = (u32::from(breakout.ports), u32::from(share.lanes));
        let fastest = panel.lane_speed.value.mbps();
        let is_whole = ports <= lanes && lanes.is_multiple_of(ports.max(1));
        let width = lanes / ports.max(1);
        let fits = || breakout.speed.mbps().is_multiple_of(width) && breakout.speed.mbps() / width <= fastest;
        if !is_whole || !fits() {
            let message = format!("`{breakout}` does not fit {lanes} lanes");
            let label = format!("{ports} ports of {} over {lanes} lanes", breakout.speed);
            found.push(Diagnostic::error(&RULE, message).at(place, label));
        }
    }
}

/// Checks the breakouts that only some cages support, and those that disable the next cage.
fn single_cages(file: &File, source: SourceId, found: &mut Diagnostics) {
    let panel = &file.panel;
    let cages = panel.cages.value;
    for (breakout, at) in &panel.breakout_cages {
        let place = at.span(source);
        if !panel.offers(*breakout) {
            let message =
                format!("`breakout_cages` has cages of `{breakout}`, which the panel does not offer");
            found.push(Diagnostic::error(&RULE, message).at(place, "not in `breakouts` or `partial`"));
        } else if at.value.last() >= cages {
            let message =
                format!("`{breakout}` is in cage {}, which the panel does not have", at.value.last());
            found.push(Diagnostic::error(&RULE, message).at(place, format!("cages 0 to {}", cages - 1)));
        }
    }
    for at in &panel.disables_next {
        let breakout = at.value;
        if !panel.offers(breakout) {
            let message = format!("`disables_next` has `{breakout}`, which the panel does not offer");
            found.push(
                Diagnostic::error(&RULE, message).at(at.span(source), "not in `breakouts` or `partial`"),
            );
        }
    }
}
