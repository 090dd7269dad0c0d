//! Reads table entries and default entries.

#![expect(deprecated, reason = "older controllers name watched ports and cookies by number")]

use std::ops::ControlFlow;

use closc_runtime::check::EntryPlace;
use closc_runtime::info::CounterUnit;
use closc_runtime::proto::v1;
use v1::action_profile_action::WatchKind;
use v1::entity::Entity;
use v1::table_action;

use super::page::Page;
use super::table::{Target, target};
use super::{Fault, Store, action, array, entity, key, meter, profile};
use crate::state::{ActionRef, Counter, Entry, EntryMeta, Key, Meter, SetMember, Table};

impl Store {
    /// Returns a table, or all of them for 0, in the order of the P4Info.
    pub(super) fn targets(&self, id: u32) -> Result<Vec<Target<'_>>, Fault> {
        if id != 0 {
            return Ok(vec![target(&self.pipeline, id)?]);
        }
        let tables = self.pipeline.info().tables().iter().map(|table| table.preamble.id);
        Ok(tables.filter_map(|id| target(&self.pipeline, id).ok()).collect())
    }

    pub(super) fn read_tables(
        &self,
        now_ns: u64,
        request: &v1::TableEntry,
        out: &mut Page,
    ) -> Result<(), Fault> {
        for (part, target) in self.targets(request.table_id)?.into_iter().enumerate() {
            let wrap = |entry| entity(Entity::TableEntry(entry));
            if self.read_table(now_ns, (part, target), request, out, wrap)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Reads the requested entries of a table; breaks when the page is full.
    pub(super) fn read_table(
        &self,
        now_ns: u64,
        (part, target): (usize, Target),
        request: &v1::TableEntry,
        out: &mut Page,
        wrap: impl Fn(v1::TableEntry) -> v1::Entity,
    ) -> Result<ControlFlow<()>, Fault> {
        let table = &self.engine.tables[target.binding.index];
        // If all tables are requested, only the kind of entry is a filter.
        let all = request.table_id == 0;
        if request.is_default_action {
            return Ok(out.put(part, 0, || Some(wrap(self.default_entry(target, request)))));
        }
        if request.r#match.is_empty() || all {
            let first = out.first(part);
            let handles = table.handles_from(usize::try_from(first).unwrap_or(usize::MAX));
            for handle in handles.filter(|handle| all || passes_filters(target, table, *handle, request)) {
                let full = out.put(part, u64::from(handle), || {
                    let entry = table.get(handle)?;
                    Some(wrap(self.entry(now_ns, target, request, &table.key(handle), entry)))
                });
                if full.is_break() {
                    return Ok(full);
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let key = key::encode(target.binding, target.spec, &EntryPlace::of(target.table, request)?)?;
        if let Some(handle) = table.find_exact(&key)
            && let Some(entry) = table.get(handle)
            && passes_filters(target, table, handle, request)
        {
            let entry = || Some(wrap(self.entry(now_ns, target, request, &table.key(handle), entry)));
            return Ok(out.put(part, u64::from(handle), entry));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn entry(
        &self,
        now_ns: u64,
        target: Target,
        request: &v1::TableEntry,
        key: &Key,
        entry: &Entry,
    ) -> v1::TableEntry {
        let empty = EntryMeta::default();
        let meta = entry.meta.as_deref().unwrap_or(&empty);
        let elapsed = || {
            let elapsed_ns = now_ns.saturating_sub(entry.hit_ns).cast_signed();
            v1::table_entry::IdleTimeout { elapsed_ns }
        };
        let attached = DirectState { counter: entry.counter, meter: entry.meter.as_deref() };
        v1::TableEntry {
            table_id: target.table.preamble.id,
            r#match: key::decode(target.binding, target.table, target.spec, key),
            action: self.action(target, &entry.action, meta.selection),
            priority: if target.spec.has_priority() { key::priority(key.priority) } else { 0 },
            controller_metadata: meta.controller,
            metadata: meta.metadata.clone(),
            meter_config: attached.meter_config(request),
            counter_data: attached.counter_data(target, request),
            meter_counter_data: attached.meter_counter_data(target, request),
            is_default_action: false,
            idle_timeout_ns: entry.idle_ns.cast_signed(),
            time_since_last_hit: request.time_since_last_hit.as_ref().map(|_| elapsed()),
            is_const: entry.constant,
        }
    }

    /// Returns the entry with the key and priority of another.
    pub(super) fn find_entry(&self, wanted: &v1::TableEntry) -> Option<v1::TableEntry> {
        let target = target(&self.pipeline, wanted.table_id).ok()?;
        let key =
            key::encode(target.binding, target.spec, &EntryPlace::of(target.table, wanted).ok()?).ok()?;
        let handle = self.engine.tables[target.binding.index].find_exact(&key)?;
        self.identify(target, handle)
    }

    /// Returns an entry with its identifying fields and its controller data.
    pub(super) fn identify(&self, target: Target, handle: u32) -> Option<v1::TableEntry> {
        let table = &self.engine.tables[target.binding.index];
        let request = v1::TableEntry::default();
        Some(self.entry(0, target, &request, &table.key(handle), table.get(handle)?))
    }

    fn default_entry(&self, target: Target, request: &v1::TableEntry) -> v1::TableEntry {
        let default = &self.engine.tables[target.binding.index].default;
        let call = default.action.and_then(|action| {
            action::decode(self.pipeline.program(), &target.binding.actions, action, &default.args)
        });
        let action = call.map(|call| v1::TableAction { r#type: Some(table_action::Type::Action(call)) });
        let attached = DirectState { counter: default.counter, meter: default.meter.as_deref() };
        v1::TableEntry {
            table_id: target.table.preamble.id,
            action,
            is_default_action: true,
            controller_metadata: default.meta.controller,
            metadata: default.meta.metadata.clone(),
            meter_config: attached.meter_config(request),
            counter_data: attached.counter_data(target, request),
            meter_counter_data: attached.meter_counter_data(target, request),
            is_const: target.table.const_default_action.is_some(),
            ..v1::TableEntry::default()
        }
    }

    /// Returns the action of an entry, as written.
    fn action(&self, target: Target, action: &ActionRef, selection: (i32, i32)) -> Option<v1::TableAction> {
        let profile = target.binding.profile.map(|index| &self.engine.profiles[index]);
        let given = match action {
            ActionRef::Direct { action, args, .. } => {
                let program = self.pipeline.program();
                table_action::Type::Action(action::decode(program, &target.binding.actions, *action, args)?)
            }
            ActionRef::Member(slot) => table_action::Type::ActionProfileMemberId(profile?.member_of(*slot)?),
            ActionRef::Group(slot) => {
                if let Some(group) = profile?.group_of(*slot) {
                    table_action::Type::ActionProfileGroupId(group)
                } else {
                    let set = profile?.set_of(*slot)?;
                    table_action::Type::ActionProfileActionSet(self.set(target, &set, selection))
                }
            }
        };
        Some(v1::TableAction { r#type: Some(given) })
    }

    fn set(&self, target: Target, set: &[SetMember], selection: (i32, i32)) -> v1::ActionProfileActionSet {
        let disallowed = target.table.profile.as_ref().is_some_and(|profile| profile.weights_disallowed);
        let program = self.pipeline.program();
        let member = |member: &SetMember| v1::ActionProfileAction {
            action: action::decode(
                program,
                &target.binding.actions,
                member.action.action,
                &member.action.args,
            ),
            weight: profile::weight(member.weight, disallowed),
            watch_kind: member.watch.map(|port| {
                if port.is_numeric() {
                    WatchKind::Watch(port.number().cast_signed())
                } else {
                    WatchKind::WatchPort(port.bytes())
                }
            }),
        };
        v1::ActionProfileActionSet {
            group_action: None,
            action_profile_actions: set.iter().map(member).collect(),
            action_selection_mode: selection.0,
            size_semantics: selection.1,
        }
    }
}

/// Returns whether an entry passes the filters of a request, other than its key.
fn passes_filters(target: Target, table: &Table, handle: u32, request: &v1::TableEntry) -> bool {
    let Some(entry) = table.get(handle) else { return false };
    if request.priority != 0 && key::priority(table.priority(handle)) != request.priority {
        return false;
    }
    let meta = entry.meta.as_deref();
    if request.controller_metadata != 0
        && meta.is_none_or(|meta| meta.controller != request.controller_metadata)
    {
        return false;
    }
    if !request.metadata.is_empty() && meta.is_none_or(|meta| meta.metadata != request.metadata) {
        return false;
    }
    let Some(table_action::Type::Action(call)) =
        request.action.as_ref().and_then(|action| action.r#type.as_ref())
    else {
        return true;
    };
    match &entry.action {
        ActionRef::Direct { action, .. } => {
            target.binding.action_at(*action).is_some_and(|bound| bound.id == call.action_id)
        }
        ActionRef::Member(_) | ActionRef::Group(_) => false,
    }
}

/// Counter and meter of an entry.
#[derive(Clone, Copy)]
struct DirectState<'e> {
    counter: Counter,
    meter: Option<&'e Meter>,
}

impl DirectState<'_> {
    fn counter_data(self, target: Target, request: &v1::TableEntry) -> Option<v1::CounterData> {
        let unit: CounterUnit = target.table.direct_counter.as_ref()?.unit;
        request.counter_data.as_ref().map(|_| array::counter_data(self.counter, unit))
    }

    fn meter_config(self, request: &v1::TableEntry) -> Option<v1::MeterConfig> {
        request.meter_config.as_ref()?;
        self.meter?.config().map(meter::config_message)
    }

    fn meter_counter_data(self, target: Target, request: &v1::TableEntry) -> Option<v1::MeterCounterData> {
        request.meter_counter_data.as_ref()?;
        target.table.direct_meter.as_ref()?;
        Some(meter::colours(&self.meter.copied().unwrap_or_default()))
    }
}
