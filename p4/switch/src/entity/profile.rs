//! Members and groups of action profiles.

#![expect(deprecated, reason = "older controllers name watched ports and cookies by number")]

use std::sync::Arc;

use closc_runtime::check::{Call, Change};
use closc_runtime::info::ActionProfile;
use closc_runtime::proto::v1;
use v1::action_profile_group::member::WatchKind;
use v1::entity::Entity;

use super::page::Page;
use super::port::PortWidth;
use super::table::check_mode;
use super::{Fault, Store, action, entity};
use crate::pipeline::{Pipeline, ProfileBinding};
use crate::state::{GroupMember, MemberAction, Profile, ProfileError};

fn find<'p>(pipeline: &'p Pipeline, profile: &ActionProfile) -> Result<&'p ProfileBinding, Fault> {
    let removed = || Fault::removed_object("action profile", &profile.preamble.name);
    pipeline.profile(profile.preamble.id).ok_or_else(removed)
}

fn profile_fault(profile: &ActionProfile) -> impl Fn(ProfileError) -> Fault {
    move |error| Fault::Profile { profile: profile.preamble.name.clone(), error }
}

impl Store {
    pub(super) fn write_member(
        &mut self,
        profile: &ActionProfile,
        id: u32,
        change: &Change<Call<'_>>,
    ) -> Result<(), Fault> {
        let pipeline = Arc::clone(&self.pipeline);
        let binding = find(&pipeline, profile)?;
        let err = profile_fault(profile);
        check_mode(&self.engine.profiles[binding.index], false, || profile.preamble.name.clone())?;
        let does = |call| {
            let (action, args) = action::encode(pipeline.program(), &binding.actions, call)?;
            Ok::<_, Fault>(MemberAction { action, args })
        };
        match change {
            Change::Insert(call) => {
                let does = does(call)?;
                self.edit_profile(binding.index).add_member(id, does).map_err(err)
            }
            Change::Modify(call) => {
                let does = does(call)?;
                self.edit_profile(binding.index).modify_member(id, does).map_err(err)
            }
            Change::Delete => self.edit_profile(binding.index).remove_member(id).map_err(err),
        }
    }

    /// Returns a profile to change. It is restored if the batch fails.
    fn edit_profile(&mut self, index: usize) -> &mut Profile {
        self.remember_profile(index);
        &mut self.engine.profiles[index]
    }

    pub(super) fn write_group(
        &mut self,
        profile: &ActionProfile,
        id: u32,
        change: Change<&v1::ActionProfileGroup>,
    ) -> Result<(), Fault> {
        let pipeline = Arc::clone(&self.pipeline);
        let index = find(&pipeline, profile)?.index;
        let (err, ports) = (profile_fault(profile), self.port_width());
        check_mode(&self.engine.profiles[index], false, || profile.preamble.name.clone())?;
        let members = |group: &v1::ActionProfileGroup| {
            group.members.iter().map(|given| member(given, ports)).collect::<Result<Vec<_>, Fault>>()
        };
        match change {
            Change::Insert(group) => {
                let (members, max_size) = (members(group)?, group.max_size.unsigned_abs());
                self.edit_profile(index).add_group(id, max_size, members).map_err(err)
            }
            Change::Modify(group) => {
                self.check_size(&pipeline, index, group)?;
                let members = members(group)?;
                self.edit_profile(index).modify_group(id, members).map_err(err)
            }
            Change::Delete => self.edit_profile(index).remove_group(id).map_err(err),
        }
    }

    /// The maximum size of a group is fixed: a modification may omit it, but not change it.
    fn check_size(
        &self,
        pipeline: &Pipeline,
        index: usize,
        group: &v1::ActionProfileGroup,
    ) -> Result<(), Fault> {
        let given = group.max_size.unsigned_abs();
        let Some(made_for) = self.engine.profiles[index].group_max_size(group.group_id) else {
            return Ok(());
        };
        if given != 0 && given != made_for {
            let what = "`max_size` of a group that exists";
            let size = i64::from(made_for);
            return Err(Fault::Range { field: what, value: i64::from(given), least: size, most: size });
        }
        // If the size is omitted, the original size is still the limit.
        if given == 0 && made_for > 0 {
            let max_size = made_for.cast_signed();
            let whole = v1::Update::modify(v1::ActionProfileGroup { max_size, ..group.clone() });
            closc_runtime::check::update(pipeline.info(), &whole)?;
        }
        Ok(())
    }

    pub(super) fn read_members(
        &self,
        request: &v1::ActionProfileMember,
        out: &mut Page,
    ) -> Result<(), Fault> {
        for (part, (binding, profile)) in self.profiles(request.action_profile_id).enumerate() {
            let state = &self.engine.profiles[binding.index];
            let id = request.member_id;
            if id != 0 && state.member(id).is_none() {
                return Err(profile_fault(profile)(ProfileError::NoMember(id)));
            }
            for (member_id, what) in state.members().filter(|(member, _)| id == 0 || *member == id) {
                let full = out.put(part, u64::from(member_id), || {
                    let action =
                        action::decode(self.pipeline.program(), &binding.actions, what.action, &what.args);
                    let action_profile_id = profile.preamble.id;
                    let member = v1::ActionProfileMember { action_profile_id, member_id, action };
                    Some(entity(Entity::ActionProfileMember(member)))
                });
                if full.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn read_groups(&self, request: &v1::ActionProfileGroup, out: &mut Page) -> Result<(), Fault> {
        for (part, (binding, profile)) in self.profiles(request.action_profile_id).enumerate() {
            let state = &self.engine.profiles[binding.index];
            let id = request.group_id;
            if id != 0 && state.group_slot(id).is_none() {
                return Err(profile_fault(profile)(ProfileError::NoGroup(id)));
            }
            for (group_id, max_size, members) in state.groups().filter(|(group, ..)| id == 0 || *group == id)
            {
                let full = out.put(part, u64::from(group_id), || {
                    let members =
                        members.iter().map(|m| member_message(m, profile.weights_disallowed)).collect();
                    let (action_profile_id, max_size) = (profile.preamble.id, max_size.cast_signed());
                    let group = v1::ActionProfileGroup { action_profile_id, group_id, members, max_size };
                    Some(entity(Entity::ActionProfileGroup(group)))
                });
                if full.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns a profile, or all of them for 0.
    fn profiles(&self, id: u32) -> impl Iterator<Item = (&ProfileBinding, &ActionProfile)> {
        let wanted = move |profile: &&Arc<ActionProfile>| id == 0 || profile.preamble.id == id;
        let profiles = self.pipeline.info().profiles().iter().filter(wanted);
        profiles.filter_map(|profile| Some((self.pipeline.profile(profile.preamble.id)?, profile.as_ref())))
    }
}

fn member(given: &v1::action_profile_group::Member, ports: PortWidth) -> Result<GroupMember, Fault> {
    let watch = match &given.watch_kind {
        None => None,
        Some(WatchKind::WatchPort(bytes)) => ports.parse_watch_port(bytes)?,
        Some(WatchKind::Watch(number)) => ports.parse_watch_number(*number)?,
    };
    // If the selector does not allow weights, they are all 0, so every member has the same share.
    Ok(GroupMember { member: given.member_id, weight: given.weight.max(1).unsigned_abs(), watch })
}

/// Returns a weight as written.
pub(super) fn weight(weight: u32, disallowed: bool) -> i32 {
    if disallowed { 0 } else { weight.cast_signed() }
}

fn member_message(member: &GroupMember, weights_disallowed: bool) -> v1::action_profile_group::Member {
    let watch_kind = member.watch.map(|port| {
        if port.is_numeric() {
            WatchKind::Watch(port.number().cast_signed())
        } else {
            WatchKind::WatchPort(port.bytes())
        }
    });
    let weight = weight(member.weight, weights_disallowed);
    v1::action_profile_group::Member { member_id: member.member, weight, watch_kind }
}
