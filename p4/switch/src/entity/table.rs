//! Writes table entries and default entries.

#![expect(deprecated, reason = "older controllers name watched ports and cookies by number")]

use std::sync::Arc;

use closc_runtime::check::{Call, EntryPlace, Form, SetPart};
use closc_runtime::info;
use closc_runtime::proto::v1;
use v1::action_profile_action::WatchKind;
use v1::table_action;

use super::undo::Undo;
use super::{Fault, Store, action, key, meter};
use crate::pipeline::{Pipeline, TableBinding};
use crate::state::{
    ActionRef, Counter, DefaultAction, Entry, EntryMeta, Key, MemberAction, Meter, Profile, ProfileError,
    SetMember, Table, TableError,
};

/// A table in P4Info and program.
#[derive(Clone, Copy)]
pub(super) struct Target<'p> {
    pub(super) binding: &'p TableBinding,
    pub(super) table: &'p info::Table,
    pub(super) spec: &'p crate::program::Table,
}

/// Returns a table by id.
pub(super) fn target(pipeline: &Pipeline, id: u32) -> Result<Target<'_>, Fault> {
    let table = pipeline.info().table_by_id(id).ok_or(Fault::NotFound { kind: "table", id })?;
    target_of(pipeline, table)
}

/// Returns a table of the P4Info.
pub(super) fn target_of<'p>(pipeline: &'p Pipeline, table: &'p info::Table) -> Result<Target<'p>, Fault> {
    let removed = || Fault::removed_object("table", &table.preamble.name);
    let binding = pipeline.table(table.preamble.id).ok_or_else(removed)?;
    Ok(Target { binding, table, spec: &pipeline.program().tables[binding.index] })
}

impl Target<'_> {
    pub(super) fn table_fault(&self, error: TableError) -> Fault {
        Fault::Table { table: self.table.preamble.name.clone(), error }
    }

    /// Finds the entry with a key.
    pub(super) fn find(&self, table: &Table, key: &Key) -> Result<u32, Fault> {
        table.find_exact(key).ok_or_else(|| self.table_fault(TableError::NotFound))
    }
}

impl Store {
    pub(super) fn insert(
        &mut self,
        now_ns: u64,
        place: &EntryPlace<'_>,
        form: &Form<'_>,
    ) -> Result<(), Fault> {
        let pipeline = Arc::clone(&self.pipeline);
        let target = target_of(&pipeline, place.table)?;
        let key = key::encode(target.binding, target.spec, place)?;
        let index = target.binding.index;
        let mut new = Entry::new(ActionRef::Member(0), now_ns);
        attach(&mut new, target, place.entry)?;
        // A set takes space in the profile, so a duplicate entry is rejected before its set is added.
        if !matches!(form, Form::Call(_)) && self.engine.tables[index].find_exact(&key).is_some() {
            return Err(target.table_fault(TableError::Exists));
        }
        new.action = self.acquire(target, form)?;
        let ages = new.idle_ns > 0;
        match self.engine.tables[index].try_insert(&key, new) {
            Ok(handle) => {
                self.ageing_entries += usize::from(ages);
                self.remember(|| Undo::Inserted { table: index, handle });
                Ok(())
            }
            Err((error, unused)) => {
                self.release(target.binding.profile, &unused.action);
                Err(target.table_fault(error))
            }
        }
    }

    pub(super) fn modify(
        &mut self,
        now_ns: u64,
        place: &EntryPlace<'_>,
        form: Option<&Form<'_>>,
    ) -> Result<(), Fault> {
        let pipeline = Arc::clone(&self.pipeline);
        let target = target_of(&pipeline, place.table)?;
        let key = key::encode(target.binding, target.spec, place)?;
        let index = target.binding.index;
        let handle = target.find(&self.engine.tables[index], &key)?;
        let missing = || target.table_fault(TableError::NotFound);
        let old = self.engine.tables[index].get(handle).ok_or_else(missing)?;
        if old.constant && form.is_some() {
            return Err(Fault::ConstEntry { table: target.table.preamble.name.clone() });
        }
        let (counter, constant, meter) = (old.counter, old.constant, old.meter.clone());
        let mut new = Entry { counter, meter, constant, ..Entry::new(old.action.clone(), now_ns) };
        let selection = old.meta.as_ref().map_or((0, 0), |meta| meta.selection);
        attach(&mut new, target, place.entry)?;
        if form.is_none() && selection != (0, 0) {
            new.meta.get_or_insert_default().selection = selection;
        }
        let replaced = match form {
            Some(form) => {
                let action = self.acquire(target, form)?;
                Some(std::mem::replace(&mut new.action, action))
            }
            None => None,
        };
        let place = self.engine.tables[index].get_mut(handle).ok_or_else(missing)?;
        let ages = new.idle_ns > 0;
        let old = std::mem::replace(place, new);
        self.ageing_entries = self.ageing_entries + usize::from(ages) - usize::from(old.idle_ns > 0);
        if let Some(replaced) = replaced {
            self.release(target.binding.profile, &replaced);
        }
        self.remember(|| Undo::Modified { table: index, handle, entry: Box::new(old) });
        Ok(())
    }

    pub(super) fn delete(&mut self, place: &EntryPlace<'_>) -> Result<(), Fault> {
        let pipeline = Arc::clone(&self.pipeline);
        let target = target_of(&pipeline, place.table)?;
        let key = key::encode(target.binding, target.spec, place)?;
        let index = target.binding.index;
        let table = &mut self.engine.tables[index];
        let handle = target.find(table, &key)?;
        if table.get(handle).is_some_and(|entry| entry.constant) {
            return Err(Fault::ConstEntry { table: target.table.preamble.name.clone() });
        }
        let entry = table.remove(handle).map_err(|error| target.table_fault(error))?;
        self.ageing_entries -= usize::from(entry.idle_ns > 0);
        self.release(target.binding.profile, &entry.action);
        self.remember(|| Undo::Deleted { table: index, handle, key, entry: Box::new(entry) });
        Ok(())
    }

    pub(super) fn write_default(
        &mut self,
        table: &info::Table,
        entry: &v1::TableEntry,
        call: Option<&Call<'_>>,
    ) -> Result<(), Fault> {
        let pipeline = Arc::clone(&self.pipeline);
        let target = target_of(&pipeline, table)?;
        let index = target.binding.index;
        let mut new = match call {
            None => Table::initial_default(target.spec),
            Some(call) => {
                let (action, args) = action::encode(pipeline.program(), &target.binding.actions, call)?;
                let next = target.spec.next_on_miss(action);
                let old = &self.engine.tables[index].default;
                let (counter, meter) = (old.counter, old.meter.clone());
                DefaultAction { action: Some(action), args, next, meta: EntryMeta::default(), counter, meter }
            }
        };
        if call.is_some() {
            new.meta = meta(entry);
        }
        attach_counter(&mut new.counter, entry.counter_data.as_ref())?;
        attach_meter(&mut new.meter, target, entry)?;
        let old = std::mem::replace(&mut self.engine.tables[index].default, new);
        self.remember(|| Undo::Default { table: index, default: Box::new(old) });
        Ok(())
    }

    /// Resolves the action of an entry, and counts its use of a profile.
    fn acquire(&mut self, target: Target, form: &Form<'_>) -> Result<ActionRef, Fault> {
        let profile_of =
            |direct: &'static str| target.binding.profile.ok_or_else(|| Fault::unsupported(direct));
        let name = |store: &Self, index: usize| store.pipeline.program().profiles[index].name.clone();
        let (index, found) = match form {
            Form::Call(call) => {
                let (action, args) = action::encode(self.pipeline.program(), &target.binding.actions, call)?;
                return Ok(ActionRef::Direct { action, args, next: target.spec.next_on_hit(action) });
            }
            Form::Set(set, parts) => {
                let index = profile_of("a set of actions of a table without action profile")?;
                let members = self.members(target, set, parts)?;
                check_mode(&self.engine.profiles[index], true, || name(self, index))?;
                self.remember_profile(index);
                return Ok(ActionRef::Group(self.engine.profiles[index].add_set(members)));
            }
            Form::Member(id) => {
                let index = profile_of("a member of a table without action profile")?;
                let slot = self.engine.profiles[index].member_slot(*id);
                (index, slot.map(ActionRef::Member).ok_or(ProfileError::NoMember(*id)))
            }
            Form::Group(id) => {
                let index = profile_of("a group of a table without action profile")?;
                let slot = self.engine.profiles[index].group_slot(*id);
                (index, slot.map(ActionRef::Group).ok_or(ProfileError::NoGroup(*id)))
            }
        };
        check_mode(&self.engine.profiles[index], false, || name(self, index))?;
        let found = found.map_err(|error| Fault::Profile { profile: name(self, index), error })?;
        self.remember_profile(index);
        self.engine.profiles[index].count_use(&found, true);
        Ok(found)
    }

    /// Returns the members of an entry's one-shot set.
    fn members(
        &self,
        target: Target,
        set: &v1::ActionProfileActionSet,
        parts: &[SetPart<'_>],
    ) -> Result<Vec<SetMember>, Fault> {
        use v1::action_profile_action_set::ActionSelectionMode;
        if set.group_action.is_some() {
            return Err(Fault::unsupported("an action for a whole group"));
        }
        if set.action_selection_mode == ActionSelectionMode::Random as i32 {
            return Err(Fault::unsupported("a random choice in a group"));
        }
        let (program, ports) = (self.pipeline.program(), self.port_width());
        let member = |part: &SetPart<'_>| {
            let (action, args) = action::encode(program, &target.binding.actions, &part.call)?;
            let watch = match part.watch {
                None => None,
                Some(WatchKind::WatchPort(bytes)) => ports.parse_watch_port(bytes)?,
                Some(WatchKind::Watch(number)) => ports.parse_watch_number(*number)?,
            };
            // If the selector does not allow weights, they are all 0, so every member has the same share.
            let weight = part.weight.max(1).unsigned_abs();
            Ok(SetMember { action: MemberAction { action, args }, weight, watch })
        };
        parts.iter().map(member).collect()
    }

    /// Releases an entry's use of a profile.
    fn release(&mut self, profile: Option<usize>, action: &ActionRef) {
        let Some(index) = profile else { return };
        self.remember_profile(index);
        self.engine.profiles[index].count_use(action, false);
    }
}

/// Checks that a profile is used in one mode only.
pub(super) fn check_mode(profile: &Profile, sets: bool, name: impl Fn() -> String) -> Result<(), Fault> {
    let (used, given) = ("sets of actions", "members and groups");
    if sets && profile.has_members() {
        return Err(Fault::MixedProfile { profile: name(), current_kind: given, rejected_kind: used });
    }
    if !sets && profile.has_sets() {
        return Err(Fault::MixedProfile { profile: name(), current_kind: used, rejected_kind: given });
    }
    Ok(())
}

fn meta(entry: &v1::TableEntry) -> EntryMeta {
    let selection = match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
        Some(table_action::Type::ActionProfileActionSet(set)) => {
            (set.action_selection_mode, set.size_semantics)
        }
        Some(
            table_action::Type::Action(_)
            | table_action::Type::ActionProfileMemberId(_)
            | table_action::Type::ActionProfileGroupId(_),
        )
        | None => (0, 0),
    };
    EntryMeta { controller: entry.controller_metadata, metadata: entry.metadata.clone(), selection }
}

/// Sets all properties of an entry except its action.
fn attach(new: &mut Entry, target: Target, entry: &v1::TableEntry) -> Result<(), Fault> {
    new.idle_ns = entry.idle_timeout_ns.max(0).cast_unsigned();
    let meta = meta(entry);
    new.meta = (meta != EntryMeta::default()).then(|| Box::new(meta));
    attach_counter(&mut new.counter, entry.counter_data.as_ref())?;
    attach_meter(&mut new.meter, target, entry)
}

fn attach_counter(counter: &mut Counter, given: Option<&v1::CounterData>) -> Result<(), Fault> {
    if let Some(data) = given {
        *counter = super::array::counter(data)?;
    }
    Ok(())
}

fn attach_meter(place: &mut Option<Box<Meter>>, target: Target, entry: &v1::TableEntry) -> Result<(), Fault> {
    let config = match (&entry.meter_config, &target.table.direct_meter) {
        (Some(config), Some(meter)) => Some(meter::config(meter.kind, &meter.preamble.name, config)?),
        (Some(_) | None, _) => None,
    };
    if config.is_some() || place.is_some() {
        let meter = place.get_or_insert_default();
        if meter.config() != config {
            meter.configure(config);
        }
        if entry.meter_counter_data.is_some() {
            meter.clear_colours();
        }
    }
    Ok(())
}
