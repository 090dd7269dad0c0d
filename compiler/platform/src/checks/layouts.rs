//! E1015: a layout fits the panel.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::file::File;

pub(crate) static RULE: Rule = Rule {
    code: "E1015",
    title: "layout does not fit the panel",
    what: "A layout in a platform file uses cages of the panel, numbered from 0, and breakouts of the list \
           `breakouts`. It has either ports (`down`, `up`) or `refused`: the reason why closc does not \
           support the layout.",
    why: "A tier that names the layout would have ports that the switch does not have.",
    example: "panel: {cages: 64}  # 0 to 63\nlayouts: {d256u256: {up: {breakout: 8x100G, cages: 40-72}}}",
    fix: "Correct `cages` or `breakout` of the layout. If the layout bundles ports into a LAG or spans two \
           ASICs, closc does not support it: write `refused: REASON` instead of ports.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    for (name, at) in &file.layouts {
        let layout = &at.value;
        let mut push = |message: String, label: &str| {
            found.push(Diagnostic::error(&RULE, message).at(at.span(source), label.to_owned()));
        };
        let sides = [&layout.down, &layout.up].into_iter().flatten();
        if layout.refused.is_some() == sides.clone().next().is_some() {
            push(
                format!("layout `{name}` needs ports, or the reason why it is refused"),
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
                let message = format!("layout `{name}` uses cage {} of {cages}", side.cages.last());
                push(message, "cages count from 0");
            }
        }
    }
}
