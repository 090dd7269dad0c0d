//! E1015: layouts and the cages of hwskus fit the panel.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::Breakout;
use crate::file::File;

pub(crate) static RULE: Rule = Rule {
    code: "E1015",
    title: "a layout or hwsku does not fit the panel",
    condition: "A layout in a platform file uses cages of the panel, numbered from 0, and breakouts of the list \
           `breakouts`. It has either ports (`down`, `up`) or `refused`: the reason why closc does not \
           support the layout. The `cages` of a hwsku are also cages of the panel, and belong to breakouts \
           of this hwsku. Each cage is listed once, or twice if two breakouts share it.",
    impact: "A tier that names the layout would have ports that the switch does not have.",
    example: "panel: {cages: 64}  # 0 to 63\nlayouts: {d256u256: {up: {breakout: 8x100G, cages: 40-72}}}",
    fix: "Correct `cages` or `breakout` of the layout or hwsku. If the layout bundles ports into a LAG or spans two \
           ASICs, closc does not support it: write `refused: REASON` instead of ports.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    hwskus(file, source, found);
    for (name, at) in &file.layouts {
        let layout = &at.value;
        let mut push = |message: String, label: &str| {
            found.push(Diagnostic::error(&RULE, message).at(at.span(source), label.to_owned()));
        };
        let sides = [&layout.down, &layout.up].into_iter().flatten();
        if layout.refused.is_some() == sides.clone().next().is_some() {
            push(
                format!("layout `{name}` needs either ports (`down`, `up`) or `refused`, not both"),
                "exactly one of them",
            );
        }
        for side in sides {
            if !file.panel.offers(side.breakout) {
                push(
                    format!("layout `{name}`: `{}` is not one of `breakouts`", side.breakout),
                    "not offered",
                );
            }
            let cages = file.panel.cages.value;
            if side.cages.last() >= cages {
                let last = side.cages.last();
                let message = format!("layout `{name}` uses cage {last}, but the panel has {cages} cages");
                push(message, "cages are numbered from 0");
            }
        }
    }
}

/// Checks the cages of each hwsku.
fn hwskus(file: &File, source: SourceId, found: &mut Diagnostics) {
    let panel = file.panel.cages.value;
    for hwsku in file.sonic.iter().flat_map(|sonic| &sonic.value.hwskus) {
        let Some(first) = hwsku.breakouts.first() else { continue };
        let mut push = |message: String| {
            found.push(Diagnostic::error(&RULE, message).at(first.span(source), ""));
        };
        let name = &hwsku.hwsku;
        for (breakout, cages) in &hwsku.cages {
            if !hwsku.breakouts.iter().any(|at| at.value == *breakout) {
                push(format!(
                    "hwsku `{name}` lists cages for `{breakout}`, which is not one of its breakouts"
                ));
            }
            if cages.last() >= panel {
                push(format!(
                    "hwsku `{name}` uses cage {}, but the panel has {panel} cages, numbered from 0",
                    cages.last()
                ));
            }
            let is_partial = |of: &Breakout| file.panel.partial.iter().any(|at| at.value == *of);
            let is_whole = |other: &Breakout| {
                [other, breakout].into_iter().all(|of| of.share.is_none() || is_partial(of))
            };
            let others = hwsku.cages.iter().filter(|(other, _)| *other < breakout && is_whole(other));
            let twice = others.flat_map(|(_, other)| other.iter()).find(|cage| cages.contains(*cage));
            if let Some(cage) = twice {
                push(format!("hwsku `{name}` lists cage {cage} for two breakouts"));
            }
        }
    }
}
