//! Actions called by name.

use crate::check::{Fault, Place, Violation};
use crate::info::{Action, ObjectKind, Param};
use crate::proto::v1;
use crate::value::Value;

/// The arguments of an action, by the names of its parameters, in any order.
pub type Arguments<'a> = &'a [(&'a str, Value<'a>)];

/// Calls an action; all parameters must be given and fit.
pub fn action(action: &Action, arguments: Arguments<'_>) -> Result<v1::Action, Violation> {
    let mut params = Vec::with_capacity(arguments.len());
    // Arguments are mostly in the order of the parameters. In this case, no name is looked up and nothing is
    // sorted.
    let mut in_order = true;
    for (position, (name, value)) in arguments.iter().enumerate() {
        let param = match action.params().get(position) {
            Some(param) if param.name == *name => param,
            Some(_) | None => {
                in_order = false;
                action.param(name)?
            }
        };
        let value = param.width.encode(value).map_err(|error| at_param(action, param, error))?;
        params.push(v1::action::Param { param_id: param.id, value });
    }
    if !in_order {
        params.sort_by_key(|argument| action.param_by_id(argument.param_id).map(|(place, _)| place));
    }
    let call = v1::Action { action_id: action.preamble.id, params };
    crate::check::check_action(action, &call)?;
    Ok(call)
}

fn at_param(action: &Action, param: &Param, fault: impl Into<Fault>) -> Violation {
    let part = Some((ObjectKind::Param, param.name.clone()));
    let place = Place { kind: ObjectKind::Action, name: action.preamble.name.clone(), part };
    Violation { place: Some(Box::new(place)), fault: fault.into() }
}
