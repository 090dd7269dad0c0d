//! Direct counters and meters of table entries.

use std::cell::Cell;
use std::sync::Arc;

use closc_runtime::check::DirectPlace;
use closc_runtime::proto::v1;
use v1::entity::Entity;

use super::page::Page;
use super::table::{Target, target_of};
use super::undo::Undo;
use super::{Fault, Store, array, entity, key, meter};
use crate::pipeline::Pipeline;
use crate::state::TableError;

/// An entry, or the default entry.
#[derive(Clone, Copy)]
enum Place {
    Entry(u32),
    Default,
}

impl Store {
    /// Sets the counter of an entry. Without data it stays unchanged, as P4Runtime specifies.
    pub(super) fn write_direct_counter(
        &mut self,
        place: &DirectPlace<'_>,
        data: Option<v1::CounterData>,
    ) -> Result<(), Fault> {
        let pipeline = Arc::clone(&self.pipeline);
        let (target, place) = self.place(&pipeline, place)?;
        let Some(data) = data else { return Ok(()) };
        let new = array::counter(&data)?;
        let index = target.binding.index;
        let table = &mut self.engine.tables[index];
        match place {
            Place::Entry(handle) => {
                let missing = || target.table_fault(TableError::NotFound);
                let entry = table.get_mut(handle).ok_or_else(missing)?;
                let old = std::mem::replace(&mut entry.counter, new);
                self.remember(|| Undo::DirectCounter { table: index, handle, counter: old });
            }
            Place::Default => {
                let old = table.default.clone();
                table.default.counter = new;
                self.remember(|| Undo::Default { table: index, default: Box::new(old) });
            }
        }
        Ok(())
    }

    pub(super) fn write_direct_meter(
        &mut self,
        place: &DirectPlace<'_>,
        given: &v1::DirectMeterEntry,
    ) -> Result<(), Fault> {
        let pipeline = Arc::clone(&self.pipeline);
        let (target, place) = self.place(&pipeline, place)?;
        let config = match (&given.config, &target.table.direct_meter) {
            (Some(config), Some(info)) => Some(meter::config(info.kind, &info.preamble.name, config)?),
            (Some(_) | None, _) => None,
        };
        let index = target.binding.index;
        let table = &mut self.engine.tables[index];
        let change = |old: &Option<Box<crate::state::Meter>>| {
            let mut new = old.as_deref().copied().unwrap_or_default();
            new.configure(config);
            if given.counter_data.is_some() {
                new.clear_colours();
            }
            (!new.is_default()).then(|| Box::new(new))
        };
        match place {
            Place::Entry(handle) => {
                let missing = || target.table_fault(TableError::NotFound);
                let entry = table.get_mut(handle).ok_or_else(missing)?;
                let new = change(&entry.meter);
                let old = std::mem::replace(&mut entry.meter, new);
                self.remember(|| Undo::DirectMeter { table: index, handle, meter: old });
            }
            Place::Default => {
                let old = table.default.clone();
                table.default.meter = change(&old.meter);
                self.remember(|| Undo::Default { table: index, default: Box::new(old) });
            }
        }
        Ok(())
    }

    /// Finds the entry of an update.
    fn place<'p>(
        &self,
        pipeline: &'p Pipeline,
        place: &DirectPlace<'p>,
    ) -> Result<(Target<'p>, Place), Fault> {
        match place {
            DirectPlace::Default(table) => Ok((target_of(pipeline, table)?, Place::Default)),
            DirectPlace::Entry(place) => {
                let target = target_of(pipeline, place.table)?;
                let key = key::encode(target.binding, target.spec, place)?;
                let handle = target.find(&self.engine.tables[target.binding.index], &key)?;
                Ok((target, Place::Entry(handle)))
            }
        }
    }

    pub(super) fn read_direct_counters(
        &self,
        request: &v1::DirectCounterEntry,
        out: &mut Page,
    ) -> Result<(), Fault> {
        let mut wanted = request.table_entry.clone().unwrap_or_default();
        wanted.counter_data = Some(v1::CounterData::default());
        let has = |target: &Target| target.table.direct_counter.is_some();
        self.direct(&wanted, has, out, |mut entry| {
            let data = entry.counter_data.take();
            let table_entry = Some(bare(entry));
            entity(Entity::DirectCounterEntry(v1::DirectCounterEntry { table_entry, data }))
        })
    }

    pub(super) fn read_direct_meters(
        &self,
        request: &v1::DirectMeterEntry,
        out: &mut Page,
    ) -> Result<(), Fault> {
        let mut wanted = request.table_entry.clone().unwrap_or_default();
        wanted.meter_config = Some(v1::MeterConfig::default());
        wanted.meter_counter_data = request.counter_data;
        let has = |target: &Target| target.table.direct_meter.is_some();
        self.direct(&wanted, has, out, |mut entry| {
            let (config, counter_data) = (entry.meter_config.take(), entry.meter_counter_data.take());
            let table_entry = Some(bare(entry));
            entity(Entity::DirectMeterEntry(v1::DirectMeterEntry { table_entry, config, counter_data }))
        })
    }

    /// Reads the direct resources of a request. If the request specifies an entry, it must exist.
    fn direct(
        &self,
        wanted: &v1::TableEntry,
        has: impl Fn(&Target) -> bool,
        out: &mut Page,
        wrap: impl Fn(v1::TableEntry) -> v1::Entity,
    ) -> Result<(), Fault> {
        let targets = self.targets(wanted.table_id)?;
        for (part, target) in targets.into_iter().enumerate().filter(|(_, target)| has(target)) {
            let found = Cell::new(false);
            let full = self.read_table(0, (part, target), wanted, out, |entry| {
                found.set(true);
                wrap(entry)
            })?;
            if full.is_break() {
                break;
            }
            if !wanted.r#match.is_empty() && !found.get() {
                return Err(target.table_fault(TableError::NotFound));
            }
        }
        Ok(())
    }
}

/// Reduces an entry to its identifying fields.
fn bare(entry: v1::TableEntry) -> v1::TableEntry {
    let v1::TableEntry { table_id, r#match, priority, is_default_action, .. } = entry;
    v1::TableEntry { table_id, r#match, priority, is_default_action, ..v1::TableEntry::default() }
}
