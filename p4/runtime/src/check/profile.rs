//! Checks of members and groups of action profiles.

use super::action::{check_action, check_weights};
use super::{Fault, Violation, at};
use crate::info::{Info, ObjectKind};
use crate::proto::v1;
use v1::update::Type;

/// Checks the member of an insert, modify or delete.
pub(crate) fn check_member(
    info: &Info,
    kind: Type,
    member: &v1::ActionProfileMember,
) -> Result<(), Violation> {
    let profile = info.require_profile(member.action_profile_id)?;
    let err = |fault: Fault| at(ObjectKind::ActionProfile, &profile.preamble, fault);
    if member.member_id == 0 {
        return Err(err(Fault::ZeroId { name: "the member id" }));
    }
    if kind == Type::Delete {
        return Ok(());
    }
    let call = member.action.as_ref().ok_or_else(|| err(Fault::NoAction))?;
    // All tables of a profile have the same actions, so checking one is enough.
    let mut tables = profile.table_ids.iter().filter_map(|id| info.table_by_id(*id));
    let Some(table) = tables.next() else {
        return check_action(info.require_action(call.action_id)?, call);
    };
    if let Some(reference) = table.action_by_id(call.action_id) {
        return check_action(&reference.action, call);
    }
    let action = info.require_action(call.action_id)?.preamble.name.clone();
    Err(err(Fault::ForeignAction { action }))
}

/// Checks the group of an insert, modify or delete.
pub(crate) fn check_group(info: &Info, kind: Type, group: &v1::ActionProfileGroup) -> Result<(), Violation> {
    let profile = info.require_profile(group.action_profile_id)?;
    let err = |fault: Fault| at(ObjectKind::ActionProfile, &profile.preamble, fault);
    if !profile.with_selector {
        return Err(err(Fault::NoSelector));
    }
    if group.group_id == 0 {
        return Err(err(Fault::ZeroId { name: "the group id" }));
    }
    if kind == Type::Delete {
        return Ok(());
    }
    let limit = profile.max_group_size;
    if group.max_size < 0 || (limit > 0 && group.max_size.unsigned_abs() > limit) {
        return Err(err(Fault::MaxSize { size: group.max_size, limit }));
    }
    let mut ids: Vec<u32> = group.members.iter().map(|member| member.member_id).collect();
    ids.sort_unstable();
    if let Some(twice) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(err(Fault::MemberTwice { member: twice[0] }));
    }
    if ids.first() == Some(&0) {
        return Err(err(Fault::ZeroId { name: "a member id" }));
    }
    let weights: Vec<(u32, i32)> =
        group.members.iter().map(|member| (member.member_id, member.weight)).collect();
    // The limit is `max_size` of the group; if that is 0, it is the limit of the selector.
    let size = if group.max_size > 0 { group.max_size.unsigned_abs() } else { limit };
    check_weights(profile, profile.semantics, &weights, u64::from(size)).map_err(err)
}
