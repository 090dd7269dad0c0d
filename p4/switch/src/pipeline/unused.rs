//! Parameters that p4c leaves out of a P4-14 program because its action never reads them, while their P4Info keeps them.
//!
//! In: a P4Info and its program. Out: the program with each of them after the parameters of its action, so that an entry keeps
//! what a controller gives them. Invariants: only where one way to bind is possible; whatever else differs stays as it is,
//! for [`super::bind`] to refuse.

use std::collections::BTreeMap;

use closc_runtime::info::{Info, Param};
use closc_runtime::value::Width;

use crate::bits;
use crate::program::{Action, Program};

/// Gives the actions of a program the parameters that only its P4Info has.
pub(super) fn keep(info: &Info, program: &mut Program) {
    let listed = info.tables().iter().flat_map(|table| table.actions());
    let params: BTreeMap<&str, &[Param]> =
        listed.map(|of| (of.action.preamble.name.as_str(), of.action.params())).collect();
    for action in &mut program.actions {
        for (name, width) in
            params.get(action.name.as_str()).map_or_else(Vec::new, |all| missing(all, action))
        {
            add(action, name, width);
        }
    }
    fill(program);
}

/// Returns the parameters that an action lacks, where p4c could have left them out: a name without control is one of
/// P4-14, and those that the action has are in the P4Info, in this order.
fn missing<'i>(params: &'i [Param], action: &Action) -> Vec<(&'i str, u32)> {
    if action.name.contains('.') {
        return Vec::new();
    }
    let mut kept = action.params.iter().peekable();
    let is_missing = |param: &&Param| kept.next_if(|(name, _)| *name == param.name).is_none();
    let absent: Vec<&Param> = params.iter().filter(is_missing).collect();
    if kept.peek().is_some() {
        return Vec::new();
    }
    let width = |param: &&'i Param| match param.width {
        Width::Bits(bits) => Some((param.name.as_str(), bits)),
        Width::Text => None,
    };
    absent.iter().map(width).collect::<Option<_>>().unwrap_or_default()
}

/// Adds a parameter that no primitive reads.
fn add(action: &mut Action, name: &str, width: u32) {
    let Ok(start) = u16::try_from(action.words) else { return };
    action.params.push((name.to_owned(), width));
    action.offsets.push(start);
    action.words += bits::words_for(width as usize);
}

/// Gives the calls that the program itself makes zeros for what it does not say.
fn fill(program: &mut Program) {
    let actions = &program.actions;
    let grow = |action: u16, args: &mut Box<[u64]>| {
        let words = actions[action as usize].words;
        if args.len() < words {
            let mut longer = std::mem::take(args).into_vec();
            longer.resize(words, 0);
            *args = longer.into();
        }
    };
    for table in &mut program.tables {
        if let Some(default) = &mut table.default {
            grow(default.action, &mut default.args);
        }
        for entry in table.entries.iter_mut().flatten() {
            grow(entry.action, &mut entry.args);
        }
    }
}
