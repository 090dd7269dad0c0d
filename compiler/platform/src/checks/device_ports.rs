//! E1014: the port map numbers every lane once.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::file::File;
use crate::{Panel, PortNaming};

pub(crate) static RULE: Rule = Rule {
    code: "E1014",
    title: "the port map does not match the cages",
    condition: "`device_ports` has the first number of every cage. No two lanes share a number, and all numbers \
           fit the port bits. `naming: device` is set only with `device_ports`. A `pipeline` needs an \
           operating system that a controller programs.",
    impact: "Table entries name ports by these numbers. With a duplicate or truncated number, packets leave \
           through a port other than the cabled one. Other operating systems do not read a pipeline.",
    example: "panel: {cages: 2, lanes: 4, device_ports: [136, 138]}",
    fix: "Copy the numbers from the switch. `pm show` in the shell of Tofino's SDE lists them in column \
           `D_P`.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    if let Some(pipeline) =
        file.pipeline.as_ref().filter(|_| !file.os.value.iter().any(|os| os.takes_pipelines()))
    {
        let message = format!(
            "pipeline `{}` is set, but `os` lists only systems that do not support `pipeline`",
            pipeline.value
        );
        found.push(Diagnostic::error(&RULE, message).at(pipeline.span(source), "never used"));
    }
    let panel = &file.panel;
    let names = |naming: &PortNaming| matches!(naming, PortNaming::Device);
    let Some(map) = &panel.device_ports else {
        if names(&panel.naming) || panel.namings.values().any(names) {
            let message = "naming `device` needs `device_ports`";
            found.push(Diagnostic::error(&RULE, message).at(panel.cages.span(source), "these cages"));
        }
        return;
    };
    let place = map.span(source);
    let (cages, lanes) = (panel.cages.value, u16::from(panel.lanes.value));
    if map.value.len() != usize::from(cages) {
        let message = format!("`device_ports` has {} entries for {cages} cages", map.value.len());
        let diagnostic = Diagnostic::error(&RULE, message).at(place, format!("{} entries", map.value.len()));
        found.push(diagnostic.and(panel.cages.span(source), format!("{cages} cages")));
        return;
    }
    let bits = panel.port_bits.as_ref().map_or(Panel::V1MODEL_PORT_BITS, |at| at.value);
    let max = (1_u32 << bits.min(16)) - 1;
    let mut seen = BTreeMap::new();
    for (cage, first) in (1..).zip(&map.value) {
        for number in u32::from(*first)..u32::from(*first) + u32::from(lanes) {
            let message = if number > max {
                format!("device port {number} of cage {cage} exceeds {bits} bits, expected at most {max}")
            } else if let Some(other) = seen.insert(number, cage) {
                format!("device port {number} is in cage {other} and in cage {cage}")
            } else {
                continue;
            };
            found.push(
                Diagnostic::error(&RULE, message).at(place, "cages counted from 1 in the order of the file"),
            );
            return;
        }
    }
}
