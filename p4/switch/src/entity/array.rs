//! Indexed counters, meters and registers.

use std::ops::Range;

use closc_runtime::info::{self, CounterUnit};
use closc_runtime::proto::v1;
use v1::entity::Entity;

use super::page::Page;
use super::undo::Undo;
use super::{Fault, Store, data, entity, meter};
use crate::pipeline::Pipeline;
use crate::state::{Counter, Meter, MeterBank};

fn array(pipeline: &Pipeline, what: &'static str, id: u32) -> Result<usize, Fault> {
    pipeline.array(id).ok_or(Fault::NotFound { kind: what, id })
}

/// Returns the indices from the start of a page.
fn from(page: &Page, part: usize, indices: Range<u32>) -> Range<u32> {
    let first = u32::try_from(page.first(part)).unwrap_or(u32::MAX);
    indices.start.max(first)..indices.end.max(first)
}

/// Returns the cells of an update: one, or all if it has no index.
fn cells(index: Option<u32>, size: u32) -> Range<u32> {
    index.map_or(0..size, |index| index..index.saturating_add(1))
}

/// Returns the indices of a request: one, or all if it has no index.
fn indices(index: Option<v1::Index>, size: u32) -> Range<u32> {
    match index {
        // The index has already been validated against the size.
        Some(index) => index.index as u32..index.index as u32 + 1,
        None => 0..size,
    }
}

/// Converts a counter from P4Runtime.
pub(super) fn counter(data: &v1::CounterData) -> Result<Counter, Fault> {
    let number = |what, value: i64| {
        u64::try_from(value).map_err(|_| Fault::Range { field: what, value, least: 0, most: i64::MAX })
    };
    Ok(Counter {
        packets: number("`packet_count`", data.packet_count)?,
        bytes: number("`byte_count`", data.byte_count)?,
    })
}

/// Converts a counter to P4Runtime.
pub(super) fn counter_data(counter: Counter, unit: CounterUnit) -> v1::CounterData {
    let (bytes, packets) = (counter.bytes.cast_signed(), counter.packets.cast_signed());
    match unit {
        CounterUnit::Bytes => v1::CounterData { byte_count: bytes, packet_count: 0 },
        CounterUnit::Packets => v1::CounterData { byte_count: 0, packet_count: packets },
        CounterUnit::Both => v1::CounterData { byte_count: bytes, packet_count: packets },
    }
}

impl Store {
    /// Sets one counter of an array, or all of them. Without data they stay unchanged, as P4Runtime
    /// specifies.
    pub(super) fn write_counter(
        &mut self,
        info: &info::Counter,
        index: Option<u32>,
        data: Option<v1::CounterData>,
    ) -> Result<(), Fault> {
        let array = array(&self.pipeline, "counter array", info.preamble.id)?;
        let Some(data) = data else { return Ok(()) };
        let new = counter(&data)?;
        let bank = &mut self.engine.arrays.counters[array];
        let range = cells(index, bank.size());
        let first = range.start;
        let old: Vec<Counter> = if self.undo.is_some() {
            range.clone().filter_map(|at| bank.get(at)).collect()
        } else {
            Vec::new()
        };
        if new == Counter::default() && index.is_none() {
            bank.clear();
        } else {
            for at in range {
                bank.set(at, new);
            }
        }
        self.remember(|| Undo::Counters { array, first, counters: old });
        Ok(())
    }

    pub(super) fn read_counters(&self, request: &v1::CounterEntry, out: &mut Page) -> Result<(), Fault> {
        let id = request.counter_id;
        let infos = self.pipeline.info().counters().iter().enumerate();
        for (part, info) in infos.filter(|(_, c)| id == 0 || c.preamble.id == id) {
            let counter_id = info.preamble.id;
            let bank = &self.engine.arrays.counters[array(&self.pipeline, "counter array", counter_id)?];
            // An index is meaningless without an array.
            let index = request.index.filter(|_| id != 0);
            for at in from(out, part, indices(index, bank.size())) {
                let full = out.put(part, u64::from(at), || {
                    let data = Some(counter_data(bank.get(at)?, info.unit));
                    let index = Some(v1::Index { index: i64::from(at) });
                    Some(entity(Entity::CounterEntry(v1::CounterEntry { counter_id, index, data })))
                });
                if full.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn write_meter(
        &mut self,
        info: &info::Meter,
        index: Option<u32>,
        entry: &v1::MeterEntry,
    ) -> Result<(), Fault> {
        let array = array(&self.pipeline, "meter array", info.preamble.id)?;
        let config = match &entry.config {
            Some(config) => Some(meter::config(info.kind, &info.preamble.name, config)?),
            None => None,
        };
        let bank = &mut self.engine.arrays.meters[array];
        let size = bank.size();
        if let Some(index) = index {
            let what = "a meter of the array";
            let old = bank.get(index).ok_or(Fault::NotFound { kind: what, id: index })?;
            let mut new = old;
            new.configure(config);
            if entry.counter_data.is_some() {
                new.clear_colours();
            }
            bank.set(index, new);
            self.remember(|| Undo::Meter { array, index, meter: old });
            return Ok(());
        }
        let old = std::mem::replace(bank, MeterBank::new(size));
        if config.is_some() || entry.counter_data.is_none() {
            for index in 0..size {
                let mut new = old.get(index).unwrap_or_default();
                new.configure(config);
                if entry.counter_data.is_some() {
                    new.clear_colours();
                }
                if !new.is_default() {
                    bank.set(index, new);
                }
            }
        }
        self.remember(|| Undo::Meters { array, meters: Box::new(old) });
        Ok(())
    }

    pub(super) fn read_meters(&self, request: &v1::MeterEntry, out: &mut Page) -> Result<(), Fault> {
        let id = request.meter_id;
        let infos = self.pipeline.info().meters().iter().enumerate();
        for (part, info) in infos.filter(|(_, m)| id == 0 || m.preamble.id == id) {
            let meter_id = info.preamble.id;
            let bank = &self.engine.arrays.meters[array(&self.pipeline, "meter array", meter_id)?];
            let index = request.index.filter(|_| id != 0);
            for at in from(out, part, indices(index, bank.size())) {
                let full = out.put(part, u64::from(at), || {
                    let state: Meter = bank.get(at)?;
                    let counter_data = request.counter_data.as_ref().map(|_| meter::colours(&state));
                    let config = state.config().map(meter::config_message);
                    let index = Some(v1::Index { index: i64::from(at) });
                    Some(entity(Entity::MeterEntry(v1::MeterEntry { meter_id, index, config, counter_data })))
                });
                if full.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn write_register(
        &mut self,
        info: &info::Register,
        index: Option<u32>,
        given: &v1::P4Data,
    ) -> Result<(), Fault> {
        let array = array(&self.pipeline, "register array", info.preamble.id)?;
        let place = || format!("register array `{}`", info.preamble.name);
        let bank = &mut self.engine.arrays.registers[array];
        let words = data::words(given, &info.spec, bank.bits(), place)?;
        let range = cells(index, bank.size());
        let first = range.start;
        let cell = |at: u32| bank.get(u64::from(at)).map(Box::from);
        let old: Vec<Box<[u64]>> =
            if self.undo.is_some() { range.clone().filter_map(cell).collect() } else { Vec::new() };
        if index.is_none() && words.iter().all(|word| *word == 0) {
            bank.clear();
        } else {
            for at in range {
                bank.set(u64::from(at), &words);
            }
        }
        self.remember(|| Undo::Registers { array, first, cells: old });
        Ok(())
    }

    pub(super) fn read_registers(&self, request: &v1::RegisterEntry, out: &mut Page) -> Result<(), Fault> {
        let id = request.register_id;
        let infos = self.pipeline.info().registers().iter().enumerate();
        for (part, info) in infos.filter(|(_, r)| id == 0 || r.preamble.id == id) {
            let register_id = info.preamble.id;
            let bank = &self.engine.arrays.registers[array(&self.pipeline, "register array", register_id)?];
            let index = request.index.filter(|_| id != 0);
            for at in from(out, part, indices(index, bank.size())) {
                let full = out.put(part, u64::from(at), || {
                    let words = bank.get(u64::from(at)).unwrap_or_default();
                    let data = Some(data::single(&info.spec, words, bank.bits()));
                    let index = Some(v1::Index { index: i64::from(at) });
                    Some(entity(Entity::RegisterEntry(v1::RegisterEntry { register_id, index, data })))
                });
                if full.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
