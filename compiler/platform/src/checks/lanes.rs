//! E1006: every cage has its own serial lanes.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::file::{File, LanesFile};

pub(crate) static RULE: Rule = Rule {
    code: "E1006",
    title: "serial lanes do not match the cages",
    condition: "`serial_lanes` has an entry for every cage, with as many lanes as the cage has. No lane of the \
           ASIC is in two cages.",
    impact: "SONiC programs the ASIC with these numbers. A duplicate lane makes orchagent fail, and a wrong \
           one brings up a port other than the cabled one.",
    example: "panel: {cages: 2, lanes: 4, serial_lanes: {first: [1, 3]}}",
    fix: "Copy the lanes from `port_config.ini` of the hwsku.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    let panel = &file.panel;
    let (cages, lanes) = (usize::from(panel.cages.value), usize::from(panel.lanes.value));
    let place = panel.serial_lanes.span(source);
    let entries = match &panel.serial_lanes.value {
        LanesFile::From(_) => cages,
        LanesFile::First(first) => first.len(),
        LanesFile::Each(each) => each.len(),
    };
    if entries != cages {
        found.push(
            Diagnostic::error(&RULE, format!("`serial_lanes` has {entries} entries for {cages} cages"))
                .at(place, format!("{entries} entries"))
                .and(panel.cages.span(source), format!("{cages} cages")),
        );
        return;
    }
    if let LanesFile::Each(each) = &panel.serial_lanes.value
        && let Some((cage, has)) = each.iter().map(Vec::len).enumerate().find(|(_, has)| *has != lanes)
    {
        found.push(
            Diagnostic::error(&RULE, format!("entry {} of `serial_lanes` has {has} lanes", cage + 1))
                .at(place, format!("{has} lanes"))
                .and(panel.lanes.span(source), format!("{lanes} lanes per cage")),
        );
        return;
    }
    let Some(all) = panel.serial_lanes() else {
        let message = "`serial_lanes` counts past lane 65535".to_owned();
        found.push(Diagnostic::error(&RULE, message).at(place, ""));
        return;
    };
    let mut seen = BTreeMap::new();
    for (index, lane) in all.into_iter().enumerate() {
        let cage = index / lanes.max(1) + 1;
        if let Some(other) = seen.insert(lane, cage) {
            let message = format!("lane {lane} is in cage {other} and in cage {cage}");
            found.push(
                Diagnostic::error(&RULE, message).at(place, "cages counted from 1 in the order of the file"),
            );
            return;
        }
    }
}
