//! Members and groups of action profiles, and sets of actions, which need neither.

use super::action::{Arguments, action};
use crate::check::{Violation, check_group, check_member};
use crate::info::Info;
use crate::proto::v1;
use v1::update::Type;

/// A member of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupMember {
    /// Its id in the profile.
    pub id: u32,
    /// Its weight, at least 1.
    pub weight: i32,
    /// The member is not used while this port is down, if the target supports this.
    pub watch_port: Option<u32>,
}

/// An action of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedAction<'a> {
    /// The action.
    pub action: &'a str,
    /// Its arguments.
    pub arguments: Arguments<'a>,
    /// Its weight, at least 1.
    pub weight: i32,
    /// The action is not used while this port is down, if the target supports this.
    pub watch_port: Option<u32>,
}

/// Returns a member of a profile: an action under an id.
pub fn member(
    info: &Info,
    profile: &str,
    id: u32,
    name: &str,
    arguments: Arguments<'_>,
) -> Result<v1::ActionProfileMember, Violation> {
    let profile = info.profile(profile)?;
    let tables = profile.table_ids.iter().filter_map(|id| info.table_by_id(*id));
    // The name is looked up among the actions that the profile may use, so a shorter suffix can be unique.
    let call = match tables.into_iter().next() {
        Some(table) => action(&table.action(name)?.action, arguments)?,
        None => action(info.action(name)?.as_ref(), arguments)?,
    };
    let member =
        v1::ActionProfileMember { action_profile_id: profile.preamble.id, member_id: id, action: Some(call) };
    check_member(info, Type::Insert, &member)?;
    Ok(member)
}

/// Returns a group of members; a `max_size` of 0 uses the limit of the selector.
pub fn group(
    info: &Info,
    profile: &str,
    id: u32,
    members: &[GroupMember],
    max_size: i32,
) -> Result<v1::ActionProfileGroup, Violation> {
    use v1::action_profile_group::Member;
    use v1::action_profile_group::member::WatchKind;
    let profile = info.profile(profile)?;
    let members = members.iter().map(|member| Member {
        member_id: member.id,
        weight: member.weight,
        watch_kind: member.watch_port.map(|port| WatchKind::WatchPort(info.port(port))),
    });
    let group = v1::ActionProfileGroup {
        action_profile_id: profile.preamble.id,
        group_id: id,
        members: members.collect(),
        max_size,
    };
    check_group(info, Type::Insert, &group)?;
    Ok(group)
}

/// Returns a set of actions for one table entry, for [`super::EntryBuilder::action_set`].
pub fn action_set(
    info: &Info,
    table: &str,
    actions: &[WeightedAction<'_>],
) -> Result<v1::ActionProfileActionSet, Violation> {
    use v1::action_profile_action::WatchKind;
    let table = info.table(table)?;
    let mut action_profile_actions = Vec::with_capacity(actions.len());
    for weighted in actions {
        let call = action(&table.action(weighted.action)?.action, weighted.arguments)?;
        let watch_kind = weighted.watch_port.map(|port| WatchKind::WatchPort(info.port(port)));
        action_profile_actions.push(v1::ActionProfileAction {
            action: Some(call),
            weight: weighted.weight,
            watch_kind,
        });
    }
    Ok(v1::ActionProfileActionSet { action_profile_actions, ..Default::default() })
}
