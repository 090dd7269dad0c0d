//! E1007: the size of the panel permits port numbers.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::Breakout;
use crate::file::{File, LocatedValue};

/// Maximum number of lanes, including those of unused cages, with which port numbers fit in 16 bits.
const LANES_MAX: u32 = 32_767;

pub(crate) static RULE: Rule = Rule {
    code: "E1007",
    title: "the panel is empty or too large",
    condition: "A panel has at least one cage of at least one lane. Cage numbers ascend in steps of 1 to 16. \
           There are at most 32,767 lanes, including those of skipped cage numbers. `port_bits` is 9 to 12, \
           and `rack_units` at least 1. `power` has a typical or a maximum value above 0, and the typical \
           one is not above the maximum. `port_numbers` gives every cage its own numbers, up to 32,767. \
           `lanes_per_number` is at least 1, and no port has fewer lanes. `listed_lanes` is at least 1.",
    impact: "Names and port numbers count lanes over the panel, in 16 bits. P4 pipelines are made for a number \
           of port bits: v1model has 9, and counters by port and class grow with them.",
    example: "panel: {cages: 0, lanes: 8}",
    fix: "Correct the key that the message names.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    let panel = &file.panel;
    let (cages, lanes) = (u32::from(panel.cages.value), u32::from(panel.lanes.value));
    let (first, step) = (u32::from(panel.numbers.first), u32::from(panel.numbers.step));
    if cages == 0 || lanes == 0 {
        let (at, what) = if cages == 0 {
            (panel.cages.span(source), "cages")
        } else {
            (panel.lanes.span(source), "lanes")
        };
        found.push(Diagnostic::error(&RULE, format!("the panel has no {what}")).at(at, ""));
        return;
    }
    if panel.numbers.cages == 0 {
        let message = "no cage has a number: `numbers.cages` is 0; expected at least 1";
        found.push(Diagnostic::error(&RULE, message).at(panel.cages.span(source), "these cages"));
        return;
    }
    if step == 0 || step > 16 {
        let message = format!("cages are numbered in steps of {step}; expected 1 to 16");
        found.push(Diagnostic::error(&RULE, message).at(panel.cages.span(source), "these cages"));
        return;
    }
    if let Some(bits) = panel.port_bits.as_ref().filter(|bits| !(9..=12).contains(&bits.value)) {
        let message = format!("`port_bits` is {}; expected 9 to 12", bits.value);
        found.push(Diagnostic::error(&RULE, message).at(bits.span(source), ""));
    }
    if let Some(units) = file.rack_units.as_ref().filter(|units| units.value == 0) {
        let message = "`rack_units` is 0; expected at least 1";
        found.push(
            Diagnostic::error(&RULE, message)
                .at(units.span(source), "write the height of the switch, or remove the key"),
        );
    }
    power(file, source, found);
    counted_lanes(file, source, found);
    port_numbers(file, source, found);
    let counted = cages * step * lanes;
    if counted > LANES_MAX || first + cages * step > LANES_MAX {
        found.push(
            Diagnostic::error(
                &RULE,
                format!("the panel counts {counted} lanes; at most {LANES_MAX} can be numbered"),
            )
            .at(panel.cages.span(source), format!("{cages} cages"))
            .and(panel.lanes.span(source), format!("{lanes} lanes"))
            .note(format!("{cages} cages * step {step} * {lanes} lanes = {counted}")),
        );
    }
}

/// Checks `lanes_per_number` and `listed_lanes`.
fn counted_lanes(file: &File, source: SourceId, found: &mut Diagnostics) {
    let panel = &file.panel;
    let zero = [("lanes_per_number", &panel.lanes_per_number), ("listed_lanes", &panel.listed_lanes)];
    for (key, given) in zero {
        if let Some(given) = given.as_ref().filter(|given| given.value == 0) {
            found
                .push(Diagnostic::error(&RULE, format!("`{key}` is 0")).at(given.span(source), "at least 1"));
        }
    }
    let Some(given) = &panel.lanes_per_number else { return };
    let is_narrow = |split: &&LocatedValue<Breakout>| split.value.width(panel.lanes.value) < given.value;
    if let Some(split) = panel.breakouts.iter().find(is_narrow) {
        let breakout = split.value;
        let message = format!("several ports of `{breakout}` have the same number in their names");
        let lanes = breakout.width(panel.lanes.value);
        found.push(
            Diagnostic::error(&RULE, message)
                .at(given.span(source), format!("one number for {} lanes", given.value))
                .and(split.span(source), format!("lanes of a port: {lanes}")),
        );
    }
}

/// Checks that all ports have different names.
fn port_numbers(file: &File, source: SourceId, found: &mut Diagnostics) {
    let panel = &file.panel;
    let (Some(given), Some(numbers)) = (&panel.port_numbers, panel.port_numbers()) else { return };
    let place = given.span(source);
    let (cages, lanes) = (usize::from(panel.cages.value), u32::from(panel.lanes.value));
    if numbers.len() != cages {
        let message = format!("`port_numbers` has {} entries for {cages} cages", numbers.len());
        let diagnostic = Diagnostic::error(&RULE, message).at(place, format!("{} entries", numbers.len()));
        found.push(diagnostic.and(panel.cages.span(source), format!("{cages} cages")));
        return;
    }
    let mut by_number: Vec<(u32, usize)> = numbers.into_iter().zip(1..).collect();
    by_number.sort_unstable();
    let past = by_number.last().filter(|(first, _)| first + lanes > LANES_MAX);
    let used = numbers_of_cage(file);
    let message = match (past, by_number.windows(2).find(|pair| pair[1].0 < pair[0].0 + used)) {
        (Some((first, cage)), _) => format!("port {first} of cage {cage} is above {LANES_MAX}"),
        (None, Some(pair)) => {
            format!("port {} is in cage {} and in cage {}", pair[1].0, pair[0].1, pair[1].1)
        }
        (None, None) => return,
    };
    let label = "cages counted from 1 in the order of the file";
    found.push(Diagnostic::error(&RULE, message).at(place, label));
}

/// Returns the number of port numbers per cage, from that of the first lane to that of the last port of any breakout.
fn numbers_of_cage(file: &File) -> u32 {
    let (lanes, per_number) = (u32::from(file.panel.lanes.value), file.panel.lanes_per_number());
    let hwskus = file.sonic.iter().flat_map(|sonic| &sonic.value.hwskus);
    let listed = file.panel.breakouts.iter().chain(&file.panel.partial);
    let splits = listed.chain(hwskus.flat_map(|hwsku| &hwsku.breakouts));
    let is_partial = |split: Breakout| file.panel.partial.iter().any(|at| at.value == split);
    let used = splits.map(|split| match (split.value.share, u32::from(split.value.ports)) {
        (None, ports @ 1..) => lanes / ports * (ports - 1) / per_number + 1,
        (Some(share), ports @ 1..) if is_partial(split.value) => {
            u32::from(share.lanes) / ports * (ports - 1) / per_number + 1
        }
        _ => lanes / per_number,
    });
    used.max().unwrap_or(lanes)
}

fn power(file: &File, source: SourceId, found: &mut Diagnostics) {
    let Some(power) = &file.power else { return };
    let (typical, maximum) = (power.value.typical_watts, power.value.maximum_watts);
    let message = match (typical, maximum) {
        (None, None) => "`power` has no value".to_owned(),
        (Some(0), _) | (_, Some(0)) => "the switch draws 0 W".to_owned(),
        (Some(typical), Some(maximum)) if typical > maximum => {
            format!("the typical power, {typical} W, is above the maximum, {maximum} W")
        }
        _ => return,
    };
    found.push(
        Diagnostic::error(&RULE, message).at(power.span(source), "write watts above 0, or remove `power`"),
    );
}
