//! Checks of actions, and of the forms in which a table entry may specify an action.

use super::{Fault, Violation, at, part_violation};
use crate::info::{Action, ActionProfile, ActionRef, Info, ObjectKind, Scope, SizeSemantics, Table};
use crate::proto::v1;
use v1::table_action::Type;

/// Checks that an action is called with each of its parameters exactly once, that the values fit, and that they satisfy
/// the restriction of the action.
pub(crate) fn check_action(action: &Action, call: &v1::Action) -> Result<(), Violation> {
    let name = &action.preamble.name;
    for (position, argument) in call.params.iter().enumerate() {
        let Some((_, param)) = action.param_by_id(argument.param_id) else {
            let unknown = crate::info::LookupError::UnknownId {
                kind: ObjectKind::Param,
                scope: Some(name.clone()),
                id: argument.param_id,
            };
            return Err(unknown.into());
        };
        if call.params[..position].iter().any(|other| other.param_id == param.id) {
            let (action, param) = (name.clone(), param.name.clone());
            return Err(Fault::ParamTwice { action, param }.into());
        }
        param.width.canonical(&argument.value).map_err(|error| {
            part_violation(ObjectKind::Action, name, ObjectKind::Param, &param.name, error)
        })?;
    }
    if call.params.len() < action.params().len() {
        let given = |id: u32| call.params.iter().any(|argument| argument.param_id == id);
        let missing = action.params().iter().find(|param| !given(param.id));
        let param = missing.expect("fewer arguments than parameters, none twice").name.clone();
        return Err(Fault::MissingParam { action: name.clone(), param }.into());
    }
    let restriction = action.restriction.as_ref();
    match restriction.and_then(|restriction| restriction.call_violation(call)) {
        Some(clause) => {
            Err(at(ObjectKind::Action, &action.preamble, Fault::Restricted { subject: "arguments", clause }))
        }
        None => Ok(()),
    }
}

/// Where in a table an action is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Entry,
    Default,
    Group,
}

/// Checks that a table has the action, that it may be used here, and that the call is complete.
pub(super) fn check_in_table(
    info: &Info,
    table: &Table,
    call: &v1::Action,
    usage: Use,
) -> Result<(), Violation> {
    let Some(reference) = table.action_by_id(call.action_id) else {
        let action = info.require_action(call.action_id)?.preamble.name.clone();
        return Err(at(ObjectKind::Table, &table.preamble, Fault::ForeignAction { action }));
    };
    if !allows(reference, usage) {
        let action = reference.action.preamble.name.clone();
        let fault = Fault::ActionScope { action, scope: scope_name(reference.scope) };
        return Err(at(ObjectKind::Table, &table.preamble, fault));
    }
    check_action(&reference.action, call)
}

fn allows(reference: &ActionRef, usage: Use) -> bool {
    match reference.scope {
        Scope::Everywhere => usage != Use::Group,
        Scope::EntriesOnly => usage == Use::Entry,
        Scope::DefaultOnly => usage == Use::Default,
        Scope::GroupOnly => usage == Use::Group,
    }
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Everywhere => "not for whole groups",
        Scope::EntriesOnly => "for entries only",
        Scope::DefaultOnly => "for the default entry only",
        Scope::GroupOnly => "for whole groups only",
    }
}

/// Checks that the action of an entry is complete and has the form that the table requires.
pub(super) fn check_table_action(
    info: &Info,
    table: &Table,
    action: &v1::TableAction,
    usage: Use,
) -> Result<(), Violation> {
    let wrong = |given: &'static str, wanted: &'static str| {
        Err(at(
            ObjectKind::Table,
            &table.preamble,
            Fault::WrongActionForm { actual: given, expected: wanted },
        ))
    };
    let zero = |what: &'static str| Err(at(ObjectKind::Table, &table.preamble, Fault::ZeroId { name: what }));
    match (action.r#type.as_ref(), table.profile.as_deref()) {
        (None, _) => Err(at(ObjectKind::Table, &table.preamble, Fault::NoAction)),
        (Some(Type::Action(call)), None) => check_in_table(info, table, call, usage),
        (Some(Type::Action(_)), Some(_)) => wrong("an action", "a member, a group or a set of actions"),
        (Some(Type::ActionProfileMemberId(0)), Some(_)) => zero("the member id"),
        (Some(Type::ActionProfileMemberId(_)), Some(_)) => Ok(()),
        (Some(Type::ActionProfileMemberId(_)), None) => wrong("a member", "an action"),
        (Some(Type::ActionProfileGroupId(_)), None) => wrong("a group", "an action"),
        (Some(Type::ActionProfileGroupId(0)), Some(_)) => zero("the group id"),
        (Some(Type::ActionProfileGroupId(_)), Some(profile)) if profile.with_selector => Ok(()),
        (Some(Type::ActionProfileGroupId(_)), Some(_)) => wrong("a group", "a member"),
        (Some(Type::ActionProfileActionSet(_)), None) => wrong("a set of actions", "an action"),
        (Some(Type::ActionProfileActionSet(set)), Some(profile)) if profile.with_selector => {
            check_set(info, table, profile, set)
        }
        (Some(Type::ActionProfileActionSet(_)), Some(_)) => wrong("a set of actions", "a member"),
    }
}

fn check_set(
    info: &Info,
    table: &Table,
    profile: &ActionProfile,
    set: &v1::ActionProfileActionSet,
) -> Result<(), Violation> {
    let semantics =
        set_semantics(profile, set).map_err(|fault| at(ObjectKind::Table, &table.preamble, fault))?;
    if let Some(call) = &set.group_action {
        check_in_table(info, table, call, Use::Group)?;
    }
    let mut weights = Vec::with_capacity(set.action_profile_actions.len());
    for (position, action) in set.action_profile_actions.iter().enumerate() {
        let call =
            action.action.as_ref().ok_or_else(|| at(ObjectKind::Table, &table.preamble, Fault::NoAction))?;
        check_in_table(info, table, call, Use::Entry)?;
        weights.push((position as u32, action.weight));
    }
    check_weights(profile, semantics, &weights, u64::from(profile.max_group_size))
        .map_err(|fault| at(ObjectKind::Table, &table.preamble, fault))
}

/// Returns the unit of the size of a set: the one that the set states, or by default that of the selector.
fn set_semantics(profile: &ActionProfile, set: &v1::ActionProfileActionSet) -> Result<SizeSemantics, Fault> {
    use v1::action_profile_action_set::{ActionSelectionMode, SizeSemantics as ProtoSemantics};
    let unknown = |field, value| Fault::UnknownEnum { field, value };
    let mode = set.action_selection_mode;
    ActionSelectionMode::try_from(mode).map_err(|_| unknown("action_selection_mode", mode))?;
    let semantics = set.size_semantics;
    let given = ProtoSemantics::try_from(semantics).map_err(|_| unknown("size_semantics", semantics))?;
    Ok(match (given, profile.semantics) {
        (ProtoSemantics::DefaultSizeDeterminedByActionSelector, semantics)
        | (ProtoSemantics::SumOfMembers, semantics @ SizeSemantics::Members { .. }) => semantics,
        (ProtoSemantics::SumOfWeights, _) => SizeSemantics::Weights,
        (ProtoSemantics::SumOfMembers, SizeSemantics::Weights) => SizeSemantics::Members { max_weight: 0 },
    })
}

/// Checks the weights of a group, and its size counted by `semantics`. A `limit` of 0 means that the size is unlimited.
pub(super) fn check_weights(
    profile: &ActionProfile,
    semantics: SizeSemantics,
    weights: &[(u32, i32)],
    limit: u64,
) -> Result<(), Fault> {
    for (member, weight) in weights.iter().copied() {
        if profile.weights_disallowed {
            if weight != 0 {
                return Err(Fault::WeightsDisallowed);
            }
        } else if weight < 1 {
            return Err(Fault::Weight { member, weight });
        } else if let SizeSemantics::Members { max_weight } = semantics
            && max_weight > 0
            && weight.unsigned_abs() > max_weight
        {
            return Err(Fault::WeightAbove { weight, limit: max_weight });
        }
    }
    let size = match semantics {
        SizeSemantics::Weights if !profile.weights_disallowed => {
            weights.iter().map(|(_, weight)| u64::from(weight.unsigned_abs())).sum()
        }
        SizeSemantics::Weights | SizeSemantics::Members { .. } => weights.len() as u64,
    };
    if limit > 0 && size > limit { Err(Fault::GroupSize { size, limit }) } else { Ok(()) }
}
