//! Undo log of a batch.

use std::collections::{BTreeMap, BTreeSet};

use super::Store;
use super::copies::{MulticastGroup, Session};
use super::names::Use;
use crate::state::{Counter, DefaultAction, DigestConfig, Entry, Key, Meter, MeterBank, Profile, SetMatch};

/// A step of the undo log: what an update changed, and its earlier state, if any.
#[derive(Debug)]
pub(super) enum Undo {
    /// An entry was inserted.
    Inserted { table: usize, handle: u32 },
    /// An entry was changed.
    Modified { table: usize, handle: u32, entry: Box<Entry> },
    /// An entry was removed.
    Deleted { table: usize, handle: u32, key: Key, entry: Box<Entry> },
    /// A default entry was changed.
    Default { table: usize, default: Box<DefaultAction> },
    /// A profile was changed for the first time in the batch. Slots used by entries stay the same.
    Profile { profile: usize, state: Box<Profile> },
    /// A counter of an entry was set.
    DirectCounter { table: usize, handle: u32, counter: Counter },
    /// A meter of an entry was set.
    DirectMeter { table: usize, handle: u32, meter: Option<Box<Meter>> },
    /// Counters were set, starting at an index.
    Counters { array: usize, first: u32, counters: Vec<Counter> },
    /// A meter was set.
    Meter { array: usize, index: u32, meter: Meter },
    /// All meters of an array were set.
    Meters { array: usize, meters: Box<MeterBank> },
    /// Registers were set, starting at an index.
    Registers { array: usize, first: u32, cells: Vec<Box<[u64]>> },
    /// A multicast group was set or removed.
    Group { id: u32, group: Option<MulticastGroup> },
    /// A clone session was set or removed.
    Session { id: u32, session: Option<Session> },
    /// A value set was set.
    ValueSet { set: usize, members: Vec<Vec<SetMatch>> },
    /// Uses of names by entities changed.
    Names { held: Vec<Use>, released: Vec<Use> },
    /// A digest was configured or turned off.
    Digest { number: u32, config: Option<DigestConfig> },
}

/// Undo log of the updates of a batch.
#[derive(Debug, Default)]
pub(super) struct UndoLog {
    /// Steps in the order in which they were performed.
    pub(super) steps: Vec<Undo>,
    /// Profiles in the log.
    profiles: BTreeSet<usize>,
}

impl Store {
    /// Records a profile before its first change in a batch.
    pub(super) fn remember_profile(&mut self, profile: usize) {
        let Some(log) = &mut self.undo else { return };
        if log.profiles.insert(profile) {
            let state = Box::new(self.engine.profiles[profile].clone());
            log.steps.push(Undo::Profile { profile, state });
        }
    }

    /// Undoes one step. Steps are undone in reverse order, so each finds the state that it produced.
    pub(super) fn take_back(&mut self, step: Undo) {
        match step {
            Undo::Inserted { table, handle } => {
                if let Ok(entry) = self.engine.tables[table].remove(handle) {
                    self.ageing_entries -= usize::from(entry.idle_ns > 0);
                }
            }
            Undo::Modified { table, handle, entry } => {
                if let Some(now) = self.engine.tables[table].get_mut(handle) {
                    self.ageing_entries -= usize::from(now.idle_ns > 0);
                    self.ageing_entries += usize::from(entry.idle_ns > 0);
                    *now = *entry;
                }
            }
            Undo::Deleted { table, handle, key, entry } => {
                self.ageing_entries += usize::from(entry.idle_ns > 0);
                self.engine.tables[table].restore(handle, &key, *entry);
            }
            Undo::Default { table, default } => self.engine.tables[table].default = *default,
            Undo::Profile { profile, state } => self.engine.profiles[profile] = *state,
            Undo::DirectCounter { table, handle, counter } => {
                if let Some(entry) = self.engine.tables[table].get_mut(handle) {
                    entry.counter = counter;
                }
            }
            Undo::DirectMeter { table, handle, meter } => {
                if let Some(entry) = self.engine.tables[table].get_mut(handle) {
                    entry.meter = meter;
                }
            }
            Undo::Counters { array, first, counters } => {
                let bank = &mut self.engine.arrays.counters[array];
                for (index, counter) in (first..).zip(counters) {
                    bank.set(index, counter);
                }
            }
            Undo::Meter { array, index, meter } => {
                self.engine.arrays.meters[array].set(index, meter);
            }
            Undo::Meters { array, meters } => self.engine.arrays.meters[array] = *meters,
            Undo::Registers { array, first, cells } => {
                let bank = &mut self.engine.arrays.registers[array];
                for (index, cell) in (u64::from(first)..).zip(cells) {
                    bank.set(index, &cell);
                }
            }
            Undo::Group { id, group } => drop(set(&mut self.groups, id, group)),
            Undo::Session { id, session } => drop(set(&mut self.sessions, id, session)),
            Undo::ValueSet { set, members } => self.engine.sets[set].set(members),
            Undo::Names { held, released } => {
                if let Some(names) = &mut self.names {
                    names.hold(&released);
                    names.release(&held);
                }
            }
            Undo::Digest { number, config } => self.engine.set_digest(number, config),
        }
    }
}

/// Sets or removes a value; returns the previous one.
pub(super) fn set<V>(map: &mut BTreeMap<u32, V>, id: u32, value: Option<V>) -> Option<V> {
    match value {
        Some(value) => map.insert(id, value),
        None => map.remove(&id),
    }
}
