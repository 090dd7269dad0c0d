//! Action profiles: members, groups, and one-shot sets of table entries.
//!
//! A group selects slot `hash % n` of its `n` active slots, in their order. A member has as many slots as its greatest
//! weight in any group. They are the lowest free ones, and all groups share them. This is the same as in BMv2, so both
//! select the same member.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use thiserror::Error;

use super::port::Port;
use super::table::ActionRef;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemberAction {
    pub(crate) action: u16,
    /// Its arguments.
    pub(crate) args: Box<[u64]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupMember {
    pub(crate) member: u32,
    pub(crate) weight: u32,
    /// Port that must be up for the member to be active.
    pub(crate) watch: Option<Port>,
}

/// An action of a one-shot set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetMember {
    pub(crate) action: MemberAction,
    pub(crate) weight: u32,
    /// Port that must be up for the action to be active.
    pub(crate) watch: Option<Port>,
}

/// The reason why a profile rejects a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// The member exists.
    #[error("member {0} exists")]
    MemberExists(u32),
    /// The member does not exist.
    #[error("member {0} does not exist")]
    NoMember(u32),
    /// The group exists.
    #[error("group {0} exists")]
    GroupExists(u32),
    /// The group does not exist.
    #[error("group {0} does not exist")]
    NoGroup(u32),
    /// The member is in use.
    #[error("member {0} is used by a group or a table entry")]
    MemberUsed(u32),
    /// The group is in use.
    #[error("group {0} is used by a table entry")]
    GroupUsed(u32),
    /// The profile is full.
    #[error("the profile is full, it holds {0} members")]
    Full(u32),
}

#[derive(Clone, Debug)]
struct Member {
    action: MemberAction,
    /// Its slots: first its own, then those for weights.
    slots: Vec<u32>,
    /// Number of groups per weight.
    weights: BTreeMap<u32, u32>,
    /// Number of table entries that use it.
    entries: u32,
}

#[derive(Clone, Debug)]
struct Group {
    slot: u32,
    max_size: u32,
    members: BTreeMap<u32, GroupMember>,
    /// Number of table entries that use it.
    entries: u32,
}

/// A group in the data plane.
#[derive(Clone, Debug, Default)]
struct Choice {
    /// Slots of the active members, in order.
    active: Vec<u32>,
    /// All slots, each with the port that it depends on.
    all: BTreeMap<u32, Option<u32>>,
    /// Members of a one-shot set, with their first slots.
    set: Option<Vec<(u32, SetMember)>>,
}

/// Allocates numbers, always the lowest free one.
#[derive(Clone, Debug, Default)]
struct Slots {
    free: BinaryHeap<Reverse<u32>>,
    next: u32,
}

impl Slots {
    fn take(&mut self) -> u32 {
        self.free.pop().map_or_else(
            || {
                self.next += 1;
                self.next - 1
            },
            |Reverse(slot)| slot,
        )
    }

    fn give_back(&mut self, slot: u32) {
        self.free.push(Reverse(slot));
    }
}

/// An action profile.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    size: u32,
    actions: Vec<Option<MemberAction>>,
    /// Members by their first slot.
    owners: BTreeMap<u32, u32>,
    slots: Slots,
    members: BTreeMap<u32, Member>,
    groups: BTreeMap<u32, Group>,
    choices: Vec<Choice>,
    /// Groups by choice.
    choice_owners: BTreeMap<u32, u32>,
    choice_slots: Slots,
    /// Number of choices that are sets.
    sets: usize,
    down: BTreeSet<u32>,
}

impl Profile {
    /// Returns an empty profile for this many members; 0 means no limit.
    pub(crate) fn new(size: u32) -> Self {
        Self {
            size,
            actions: Vec::new(),
            owners: BTreeMap::new(),
            slots: Slots::default(),
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            choices: Vec::new(),
            choice_owners: BTreeMap::new(),
            choice_slots: Slots::default(),
            sets: 0,
            down: BTreeSet::new(),
        }
    }

    /// Returns whether there are members or groups.
    pub(crate) fn has_members(&self) -> bool {
        !self.members.is_empty() || !self.groups.is_empty()
    }

    /// Returns whether any table entry has a one-shot set.
    pub(crate) fn has_sets(&self) -> bool {
        self.sets > 0
    }

    /// Returns the action of a slot.
    #[inline]
    pub(crate) fn action(&self, slot: u32) -> Option<&MemberAction> {
        self.actions.get(slot as usize).and_then(Option::as_ref)
    }

    /// Selects a slot of a group by hash; `None` if no member is active.
    #[inline]
    pub(crate) fn pick(&self, group_slot: u32, hash: u32) -> Option<u32> {
        let active = &self.choices.get(group_slot as usize)?.active;
        let count = u32::try_from(active.len()).ok().filter(|count| *count > 0)?;
        active.get((hash % count) as usize).copied()
    }

    /// Returns the members in order, with their actions.
    pub(crate) fn members(&self) -> impl Iterator<Item = (u32, &MemberAction)> {
        self.members.iter().map(|(id, member)| (*id, &member.action))
    }

    /// Returns the action of a member.
    pub(crate) fn member(&self, id: u32) -> Option<&MemberAction> {
        self.members.get(&id).map(|member| &member.action)
    }

    /// Returns the groups in order: number, maximum size, members.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (u32, u32, Vec<GroupMember>)> {
        self.groups.iter().map(|(id, group)| (*id, group.max_size, group.members.values().cloned().collect()))
    }

    /// Returns the maximum size of a group, as given.
    pub(crate) fn group_max_size(&self, id: u32) -> Option<u32> {
        self.groups.get(&id).map(|group| group.max_size)
    }

    /// Returns the slot of a member.
    pub(crate) fn member_slot(&self, id: u32) -> Option<u32> {
        self.members.get(&id).and_then(|member| member.slots.first().copied())
    }

    /// Returns the slot of a group.
    pub(crate) fn group_slot(&self, id: u32) -> Option<u32> {
        self.groups.get(&id).map(|group| group.slot)
    }

    /// Returns the member of a slot.
    pub(crate) fn member_of(&self, slot: u32) -> Option<u32> {
        self.owners.get(&slot).copied()
    }

    /// Returns the group of a slot.
    pub(crate) fn group_of(&self, slot: u32) -> Option<u32> {
        self.choice_owners.get(&slot).copied()
    }

    /// Returns the one-shot set of an entry.
    pub(crate) fn set_of(&self, slot: u32) -> Option<Vec<SetMember>> {
        let set = self.choices.get(slot as usize)?.set.as_ref()?;
        Some(set.iter().map(|(_, member)| member.clone()).collect())
    }

    pub(crate) fn add_member(&mut self, id: u32, action: MemberAction) -> Result<(), ProfileError> {
        if self.members.contains_key(&id) {
            return Err(ProfileError::MemberExists(id));
        }
        if self.size > 0 && self.members.len() >= self.size as usize {
            return Err(ProfileError::Full(self.size));
        }
        let slot = self.add_slot(action.clone());
        self.owners.insert(slot, id);
        self.members.insert(id, Member { action, slots: vec![slot], weights: BTreeMap::new(), entries: 0 });
        Ok(())
    }

    /// Changes the action of a member.
    pub(crate) fn modify_member(&mut self, id: u32, action: MemberAction) -> Result<(), ProfileError> {
        let member = self.members.get_mut(&id).ok_or(ProfileError::NoMember(id))?;
        for slot in &member.slots {
            self.actions[*slot as usize] = Some(action.clone());
        }
        member.action = action;
        Ok(())
    }

    /// Removes an unused member.
    pub(crate) fn remove_member(&mut self, id: u32) -> Result<(), ProfileError> {
        let member = self.members.get(&id).ok_or(ProfileError::NoMember(id))?;
        if !member.weights.is_empty() || member.entries > 0 {
            return Err(ProfileError::MemberUsed(id));
        }
        for slot in self.members.remove(&id).map_or_else(Vec::new, |member| member.slots) {
            self.owners.remove(&slot);
            self.remove_slot(slot);
        }
        Ok(())
    }

    pub(crate) fn add_group(
        &mut self,
        id: u32,
        max_size: u32,
        members: Vec<GroupMember>,
    ) -> Result<(), ProfileError> {
        if self.groups.contains_key(&id) {
            return Err(ProfileError::GroupExists(id));
        }
        self.check_members(&members)?;
        let slot = self.add_choice();
        self.choice_owners.insert(slot, id);
        self.groups.insert(id, Group { slot, max_size, members: BTreeMap::new(), entries: 0 });
        self.set_group_members(id, members);
        Ok(())
    }

    /// Replaces the members of a group.
    pub(crate) fn modify_group(&mut self, id: u32, members: Vec<GroupMember>) -> Result<(), ProfileError> {
        if !self.groups.contains_key(&id) {
            return Err(ProfileError::NoGroup(id));
        }
        self.check_members(&members)?;
        self.set_group_members(id, members);
        Ok(())
    }

    /// Removes an unused group.
    pub(crate) fn remove_group(&mut self, id: u32) -> Result<(), ProfileError> {
        let group = self.groups.get(&id).ok_or(ProfileError::NoGroup(id))?;
        if group.entries > 0 {
            return Err(ProfileError::GroupUsed(id));
        }
        let slot = group.slot;
        self.set_group_members(id, Vec::new());
        self.groups.remove(&id);
        self.choice_owners.remove(&slot);
        self.choice_slots.give_back(slot);
        Ok(())
    }

    /// Adds a one-shot set; returns its group slot.
    pub(crate) fn add_set(&mut self, set: Vec<SetMember>) -> u32 {
        let mut kept = Vec::with_capacity(set.len());
        let mut all = BTreeMap::new();
        for member in set {
            let slots: Vec<u32> = (0..member.weight).map(|_| self.add_slot(member.action.clone())).collect();
            let port = member.watch.map(Port::number);
            all.extend(slots.iter().map(|slot| (*slot, port)));
            kept.push((slots.first().copied().unwrap_or(0), member));
        }
        let slot = self.add_choice();
        let choice = &mut self.choices[slot as usize];
        (choice.all, choice.set) = (all, Some(kept));
        self.sets += 1;
        self.activate(slot);
        slot
    }

    /// Removes a one-shot set.
    pub(crate) fn remove_set(&mut self, slot: u32) {
        let Some(choice) = self.choices.get_mut(slot as usize) else { return };
        let choice = std::mem::take(choice);
        self.sets -= usize::from(choice.set.is_some());
        choice.all.into_keys().for_each(|slot| self.remove_slot(slot));
        self.choice_slots.give_back(slot);
    }

    /// Increments or decrements the number of table entries that use the profile. A one-shot set is removed
    /// with its entry.
    pub(crate) fn count_use(&mut self, action: &ActionRef, more: bool) {
        match action {
            ActionRef::Member(slot) => self.use_member(*slot, more),
            ActionRef::Group(slot) if self.group_of(*slot).is_some() => self.use_group(*slot, more),
            ActionRef::Group(slot) if !more => self.remove_set(*slot),
            ActionRef::Direct { .. } | ActionRef::Group(_) => {}
        }
    }

    /// Increments or decrements the number of table entries that use a member.
    pub(crate) fn use_member(&mut self, slot: u32, more: bool) {
        let owner = self.owners.get(&slot).and_then(|id| self.members.get_mut(id));
        if let Some(member) = owner {
            member.entries = if more { member.entries + 1 } else { member.entries.saturating_sub(1) };
        }
    }

    /// Increments or decrements the number of table entries that use a group.
    pub(crate) fn use_group(&mut self, slot: u32, more: bool) {
        let owner = self.choice_owners.get(&slot).and_then(|id| self.groups.get_mut(id));
        if let Some(group) = owner {
            group.entries = if more { group.entries + 1 } else { group.entries.saturating_sub(1) };
        }
    }

    /// Updates members that depend on a port.
    pub(crate) fn set_port(&mut self, port: u32, up: bool) {
        let changed = if up { self.down.remove(&port) } else { self.down.insert(port) };
        if changed {
            (0..self.choices.len() as u32).for_each(|slot| self.activate(slot));
        }
    }

    fn check_members(&self, members: &[GroupMember]) -> Result<(), ProfileError> {
        match members.iter().find(|m| !self.members.contains_key(&m.member)) {
            Some(missing) => Err(ProfileError::NoMember(missing.member)),
            None => Ok(()),
        }
    }

    fn add_slot(&mut self, action: MemberAction) -> u32 {
        let slot = self.slots.take();
        if slot as usize >= self.actions.len() {
            self.actions.resize(slot as usize + 1, None);
        }
        self.actions[slot as usize] = Some(action);
        slot
    }

    fn remove_slot(&mut self, slot: u32) {
        self.actions[slot as usize] = None;
        self.slots.give_back(slot);
    }

    fn add_choice(&mut self) -> u32 {
        let slot = self.choice_slots.take();
        if slot as usize >= self.choices.len() {
            self.choices.resize_with(slot as usize + 1, Choice::default);
        }
        self.choices[slot as usize] = Choice::default();
        slot
    }

    /// Sets the members of a group: allocates slots for new weights in the order of members, then releases
    /// unneeded slots.
    fn set_group_members(&mut self, id: u32, members: Vec<GroupMember>) {
        let new: BTreeMap<u32, GroupMember> = members.into_iter().map(|m| (m.member, m)).collect();
        for (member, wanted) in &new {
            while self.members.get(member).is_some_and(|m| m.slots.len() < wanted.weight as usize) {
                let action = self.members[member].action.clone();
                let slot = self.add_slot(action);
                if let Some(owner) = self.members.get_mut(member) {
                    owner.slots.push(slot);
                }
            }
        }
        let Some(group) = self.groups.get_mut(&id) else { return };
        let slot = group.slot;
        let old = std::mem::replace(&mut group.members, new.clone());
        let mut all = BTreeMap::new();
        for (member, part) in &new {
            let port = part.watch.map(Port::number);
            let slots = self.members.get(member).map_or(&[][..], |m| m.slots.as_slice());
            all.extend(slots.iter().take(part.weight as usize).map(|slot| (*slot, port)));
            self.weigh(*member, part.weight, true);
        }
        self.choices[slot as usize].all = all;
        self.activate(slot);
        for (member, part) in &old {
            self.weigh(*member, part.weight, false);
        }
        for member in old.into_keys().chain(new.into_keys()) {
            self.shrink(member);
        }
    }

    /// Increments or decrements the number of groups that give a member this weight.
    fn weigh(&mut self, id: u32, weight: u32, more: bool) {
        let Some(member) = self.members.get_mut(&id) else { return };
        let count = member.weights.entry(weight).or_insert(0);
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            member.weights.remove(&weight);
        }
    }

    /// Releases the slots of a member that no group needs.
    fn shrink(&mut self, id: u32) {
        let Some(member) = self.members.get_mut(&id) else { return };
        let needed = member.weights.last_key_value().map_or(1, |(weight, _)| *weight as usize).max(1);
        let spare = member.slots.split_off(needed.min(member.slots.len()));
        for slot in spare.into_iter().rev() {
            self.remove_slot(slot);
        }
    }

    fn activate(&mut self, slot: u32) {
        let down = &self.down;
        let choice = &mut self.choices[slot as usize];
        let up = |port: &Option<u32>| port.is_none_or(|port| !down.contains(&port));
        choice.active = choice.all.iter().filter(|(_, port)| up(port)).map(|(slot, _)| *slot).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(n: u16) -> MemberAction {
        MemberAction { action: n, args: Box::default() }
    }

    fn part(member: u32, weight: u32) -> GroupMember {
        GroupMember { member, weight, watch: None }
    }

    fn picks(profile: &Profile, group: u32, count: u32) -> Vec<u16> {
        let slot = profile.group_slot(group).expect("the group exists");
        let pick = |hash| profile.pick(slot, hash).and_then(|slot| profile.action(slot)).map(|a| a.action);
        (0..count).filter_map(pick).collect()
    }

    #[test]
    fn weights_take_the_lowest_free_slots() {
        let mut profile = Profile::new(0);
        for id in 1..=3 {
            profile.add_member(id, action(id as u16)).expect("new");
        }
        profile.add_group(1, 0, vec![part(1, 3), part(3, 1)]).expect("members exist");
        // Slots: 0, 1, 2 are the members' own, 3 and 4 the second and third of member 1.
        assert_eq!(picks(&profile, 1, 4), [1, 3, 1, 1]);
        profile.modify_group(1, vec![part(3, 1)]).expect("the group exists");
        assert_eq!(picks(&profile, 1, 2), [3, 3]);
        profile.add_group(2, 0, vec![part(2, 2)]).expect("members exist");
        assert_eq!(picks(&profile, 2, 2), [2, 2]);
    }

    #[test]
    fn what_is_used_cannot_go() {
        let mut profile = Profile::new(2);
        profile.add_member(1, action(1)).expect("new");
        assert_eq!(profile.add_member(1, action(1)), Err(ProfileError::MemberExists(1)));
        profile.add_group(7, 0, vec![part(1, 1)]).expect("members exist");
        assert_eq!(profile.remove_member(1), Err(ProfileError::MemberUsed(1)));
        let slot = profile.group_slot(7).expect("the group exists");
        profile.use_group(slot, true);
        assert_eq!(profile.remove_group(7), Err(ProfileError::GroupUsed(7)));
        profile.use_group(slot, false);
        assert_eq!(profile.remove_group(7), Ok(()));
        assert_eq!(profile.remove_member(1), Ok(()));
        assert!(!profile.has_members() && !profile.has_sets());
        assert_eq!(profile.add_group(7, 0, vec![part(1, 1)]), Err(ProfileError::NoMember(1)));
    }

    #[test]
    fn members_of_a_port_that_is_down_take_no_part() {
        let mut profile = Profile::new(0);
        let watch = |port| Port::from_number(port, 9);
        let set =
            (1..=2).map(|n| SetMember { action: action(n), weight: 1, watch: watch(i64::from(n)) }).collect();
        let slot = profile.add_set(set);
        let pick = |profile: &Profile, hash| {
            profile.pick(slot, hash).and_then(|s| profile.action(s)).map(|a| a.action)
        };
        assert_eq!((pick(&profile, 0), pick(&profile, 1)), (Some(1), Some(2)));
        profile.set_port(1, false);
        assert_eq!((pick(&profile, 0), pick(&profile, 1)), (Some(2), Some(2)));
        profile.set_port(2, false);
        assert_eq!(pick(&profile, 0), None);
        profile.set_port(1, true);
        assert_eq!(pick(&profile, 1), Some(1));
        profile.remove_set(slot);
        assert!(!profile.has_members() && !profile.has_sets());
    }
}
