//! Unused action parameters, which p4c removes from a P4-14 program but not from its P4Info.
//!
//! In: a P4Info and its program. Out: the program with the unused parameters appended to the parameters of
//! its actions, so that entries keep their values. Invariants: parameters are appended only if the binding is
//! unambiguous; [`super::bind`] rejects other differences.

use std::collections::BTreeMap;

use closc_runtime::info::{Info, Param};
use closc_runtime::value::Width;

use crate::bits;
use crate::program::{Action, Program};

/// Adds the parameters that only the P4Info contains to the actions of a program.
pub(super) fn keep(info: &Info, program: &mut Program) {
    let listed = info.tables().iter().flat_map(|table| table.actions());
    let params: BTreeMap<&str, &[Param]> =
        listed.map(|of| (of.action.preamble.name.as_str(), of.action.params())).collect();
    for action in &mut program.actions {
        for (name, width) in
            params.get(action.name.as_str()).map_or_else(Vec::new, |all| missing_params(all, action))
        {
            add(action, name, width);
        }
    }
    fill(program);
}

/// Returns the missing parameters of an action that p4c may have removed. As in P4-14, the name of such an
/// action has no control prefix. Its other parameters have the same order in the P4Info.
fn missing_params<'i>(params: &'i [Param], action: &Action) -> Vec<(&'i str, u32)> {
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

/// Adds zeros to the program's own calls of these actions.
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
