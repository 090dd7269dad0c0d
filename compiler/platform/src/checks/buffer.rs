//! E1009: the sizes of the buffer are valid.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};
use closc_qos::headroom::Model;
use closc_qos::units::Bytes;

use super::format_list;
use crate::file::{File, SonicFile};
use crate::nearest::nearest;

pub(crate) static RULE: Rule = Rule {
    code: "E1009",
    title: "invalid buffer sizes",
    condition: "The cell is above zero and at most 64 KiB, the buffer has at least a thousand cells, and closc \
           knows the headroom model. `totals` has hwskus of the platform.",
    impact: "Pools and headroom are counted in cells. A buffer of a few cells indicates a wrong unit. \
           Without a model, headroom cannot be computed.",
    example: "buffer: {total: 165KB, cell: 254KB, headroom: tomahawk5}",
    fix: "Correct the numbers and their units.",
};

const CELL_MAX: Bytes = Bytes(65_536);
const CELLS_MIN: u64 = 1_000;

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    let Some(buffer) = &file.buffer else { return };
    let (total, cell) = (buffer.total.value, buffer.cell.value);
    if cell == Bytes(0) || cell > CELL_MAX {
        let message = format!("`cell` of `buffer` is {cell}, expected 1 B to {CELL_MAX}");
        found.push(Diagnostic::error(&RULE, message).at(buffer.cell.span(source), ""));
    } else if total.0 / cell.0 < CELLS_MIN {
        found.push(
            Diagnostic::error(
                &RULE,
                format!("a buffer of {total} holds {} cells of {cell}", total.0 / cell.0),
            )
            .at(buffer.total.span(source), "the complete buffer")
            .and(buffer.cell.span(source), "one cell")
            .note(format!("expected at least {CELLS_MIN} cells")),
        );
    }
    totals(file, source, found);
    for at in std::iter::once(&buffer.headroom).chain(buffer.headrooms.values()) {
        let name = at.value.as_str();
        if name.parse::<Model>().is_ok() {
            continue;
        }
        let place = at.span(source);
        let diagnostic = Diagnostic::error(&RULE, format!("`{name}` is not a headroom model"));
        let diagnostic = match nearest(name, Model::all().map(Model::name)) {
            Some(near) => diagnostic.at(place, format!("did you mean `{near}`?")),
            None => diagnostic.at(place, ""),
        };
        found.push(diagnostic.note(format!("known: {}", format_list(Model::all()))));
    }
}

/// Checks the sizes of single hwskus.
fn totals(file: &File, source: SourceId, found: &mut Diagnostics) {
    let Some(buffer) = &file.buffer else { return };
    let hwskus = file.sonic.as_ref().map(|sonic| &sonic.value);
    let cell = buffer.cell.value;
    for (hwsku, own) in &buffer.totals {
        let is_known = |sonic: &SonicFile| {
            sonic.hwsku == *hwsku || sonic.hwskus.iter().any(|known| known.hwsku == *hwsku)
        };
        let (message, label) = if !hwskus.is_some_and(is_known) {
            let message = format!("`totals` of `buffer` names {hwsku}, which is not a hwsku of the platform");
            (message, String::new())
        } else if own.value.0 / cell.0.max(1) < CELLS_MIN {
            let message = format!("a buffer of {} on {hwsku} is too small", own.value);
            (message, format!("expected at least {CELLS_MIN} cells of {cell}"))
        } else {
            continue;
        };
        found.push(Diagnostic::error(&RULE, message).at(own.span(source), label));
    }
}
