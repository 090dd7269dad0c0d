//! E1005: a named breakout is in the list of breakouts.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use super::format_list;
use crate::Breakout;
use crate::file::{File, LocatedValue};

pub(crate) static RULE: Rule = Rule {
    code: "E1005",
    title: "a breakout is not in the list",
    condition: "The default breakout, and every breakout with its own hwsku, is in the list `breakouts`. The list \
           has breakouts of whole cages. Shares of a cage follow from them, or are in `partial`.",
    impact: "closc creates ports only for listed breakouts. A default outside the list would leave the panel \
           empty.",
    example: "panel: {breakouts: [2x400G, 1x800G], default: 8x100G}",
    fix: "Add the breakout to the list, or use one of the list.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    let panel = &file.panel;
    require(file, &panel.default, "default breakout", source, found);
    let shares = panel.breakouts.iter().chain([&panel.default]).filter(|at| at.value.share.is_some());
    for at in shares {
        found.push(
            Diagnostic::error(&RULE, format!("`{}` takes a share of a cage", at.value))
                .at(at.span(source), "list breakouts of whole cages here, and shares in `partial`"),
        );
    }
    for hwsku in file.sonic.iter().flat_map(|sonic| &sonic.value.hwskus) {
        for breakout in &hwsku.breakouts {
            require(file, breakout, "breakout of a hwsku", source, found);
        }
    }
}

fn require(file: &File, at: &LocatedValue<Breakout>, role: &str, source: SourceId, found: &mut Diagnostics) {
    let offered = &file.panel.breakouts;
    if !file.panel.offers(at.value) {
        found.push(
            Diagnostic::error(&RULE, format!("{role} `{}` is not one of `breakouts`", at.value))
                .at(at.span(source), "not offered")
                .note(format!("offered: {}", format_list(offered.iter().map(|b| b.value)))),
        );
    }
}
