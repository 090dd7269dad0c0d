//! Converts action calls between P4Runtime and data plane.

use closc_runtime::check::Call;
use closc_runtime::proto::v1;

use super::Fault;
use super::key::{bytes, put};
use crate::pipeline::ActionBinding;
use crate::program::Program;

/// Returns an action of the program with its arguments as words.
pub(super) fn encode(
    program: &Program,
    actions: &[ActionBinding],
    call: &Call<'_>,
) -> Result<(u16, Box<[u64]>), Fault> {
    let action = call.action;
    let name = &action.preamble.name;
    let Some(bound) = actions.iter().find(|bound| bound.id == action.preamble.id) else {
        return Err(Fault::removed_object("action", name));
    };
    let target = &program.actions[bound.action as usize];
    let mut args = vec![0; target.words];
    for (place, value) in &call.arguments {
        let at = bound.params[*place].param;
        let bits = target.params[at].1;
        let wide = || {
            let param = &action.params()[*place].name;
            Fault::TooWide { place: format!("action `{name}`, parameter `{param}`"), bits }
        };
        put(value, bits, &mut args[target.range(at)]).ok_or_else(wide)?;
    }
    Ok((bound.action, args.into()))
}

/// Returns an action call with its arguments; `None` if the P4Info does not allow the action here.
pub(super) fn decode(
    program: &Program,
    actions: &[ActionBinding],
    action: u16,
    args: &[u64],
) -> Option<v1::Action> {
    let target = &program.actions[action as usize];
    let same_name = |bound: &&ActionBinding| program.actions[bound.action as usize].name == target.name;
    let exact = actions.iter().find(|bound| bound.action == action);
    let bound = exact.or_else(|| actions.iter().find(same_name))?;
    let param = |param: &crate::pipeline::ParamBinding| v1::action::Param {
        param_id: param.id,
        value: bytes(&args[target.range(param.param)]),
    };
    Some(v1::Action { action_id: bound.id, params: bound.params.iter().map(param).collect() })
}
