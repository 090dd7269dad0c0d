//! A table: entries with their keys, and an index that depends on the match kinds.
//!
//! Invariants: handles are the lowest free numbers, as in BMv2, because they decide between entries of equal priority.
//! Key, mask and priority of an entry never change.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use thiserror::Error;

use super::array::Counter;
use super::exact::ExactIndex;
use super::lpm::LpmIndex;
use super::meter::Meter;
use super::ternary::{StoredEntries, TernaryIndex};
use crate::program::{self, Node, TableMatch};

/// Action of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ActionRef {
    /// An action with its arguments.
    Direct {
        action: u16,
        /// Its arguments.
        args: Box<[u64]>,
        next: Node,
    },
    /// A member of the table's profile, by slot.
    Member(u32),
    /// A group of the table's profile, by slot.
    Group(u32),
}

/// Key of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    /// Words of the value; for a range field, of the first value.
    pub(crate) value: Vec<u64>,
    /// Words of the mask; for a range field, of the last value. Empty in exact and LPM tables.
    pub(crate) mask: Vec<u64>,
    /// Prefix length of the LPM field of an LPM table.
    pub(crate) prefix: u32,
    /// Priority in ternary and range tables; the smallest wins.
    pub(crate) priority: i32,
}

/// Control-plane data of an entry, which the data plane does not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryMeta {
    /// `controller_metadata` of P4Runtime.
    pub(crate) controller: u64,
    /// `metadata` of P4Runtime.
    pub(crate) metadata: Vec<u8>,
    /// Selection and size of a one-shot action set, as written by the controller.
    pub(crate) selection: (i32, i32),
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) action: ActionRef,
    /// Packets and bytes of hits.
    pub(crate) counter: Counter,
    /// Its meter, if it was configured or used.
    pub(crate) meter: Option<Box<Meter>>,
    /// Time of the last hit, or of the last write, in nanoseconds.
    pub(crate) hit_ns: u64,
    /// Idle timeout in nanoseconds, 0 for none.
    pub(crate) idle_ns: u64,
    /// Time of the last idle notification.
    pub(crate) reported_ns: u64,
    /// Whether it is a constant entry of the program.
    pub(crate) constant: bool,
    /// Metadata from the controller.
    pub(crate) meta: Option<Box<EntryMeta>>,
}

impl Entry {
    /// Returns an entry without hits.
    pub(crate) fn new(action: ActionRef, now_ns: u64) -> Self {
        let (counter, meter, meta) = (Counter::default(), None, None);
        Self { action, counter, meter, hit_ns: now_ns, idle_ns: 0, reported_ns: 0, constant: false, meta }
    }
}

/// The action of a miss.
#[derive(Clone, Debug)]
pub(crate) struct DefaultAction {
    /// The action; `None` means no operation.
    pub(crate) action: Option<u16>,
    /// Its arguments.
    pub(crate) args: Box<[u64]>,
    pub(crate) next: Node,
    /// Metadata from the controller.
    pub(crate) meta: EntryMeta,
    /// Packets and bytes of misses.
    pub(crate) counter: Counter,
    /// Its meter, if it was configured.
    pub(crate) meter: Option<Box<Meter>>,
}

/// The reason why a table rejects a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// An entry with this key exists.
    #[error("an entry with this match exists")]
    Exists,
    /// No entry has this key.
    #[error("no entry has this match")]
    NotFound,
    /// The table is full.
    #[error("the table is full, it holds {0} entries")]
    Full(u32),
    /// The table has no key.
    #[error("the table has no key and takes no entries")]
    NoKey,
}

#[derive(Debug)]
enum Index {
    Exact(ExactIndex),
    Lpm(LpmIndex),
    Ternary(TernaryIndex),
}

#[derive(Debug)]
pub(crate) struct Table {
    width: usize,
    size: u32,
    index: Index,
    entries: Vec<Option<Entry>>,
    keys: Vec<u64>,
    masks: Vec<u64>,
    prefixes: Vec<u32>,
    priorities: Vec<i32>,
    free: BinaryHeap<Reverse<u32>>,
    count: u32,
    /// The action of a miss.
    pub(crate) default: DefaultAction,
}

impl Table {
    /// Returns a table with the initial entries and default action of the program.
    pub(crate) fn new(table: &program::Table) -> Self {
        let index = match table.lookup {
            TableMatch::Exact => Index::Exact(ExactIndex::default()),
            TableMatch::Lpm => Index::Lpm(LpmIndex::new(&table.key)),
            TableMatch::Ternary | TableMatch::Range => Index::Ternary(TernaryIndex::new(&table.key)),
        };
        let mut this = Self {
            width: table.key_words,
            size: table.size,
            index,
            entries: Vec::new(),
            keys: Vec::new(),
            masks: Vec::new(),
            prefixes: Vec::new(),
            priorities: Vec::new(),
            free: BinaryHeap::new(),
            count: 0,
            default: Self::initial_default(table),
        };
        let entries = table.entries.as_deref().unwrap_or_default();
        let last = entries.iter().map(|entry| entry.priority).max().unwrap_or(0);
        for entry in entries {
            this.insert_const(table, entry, last);
        }
        this
    }

    /// Returns the initial default action.
    pub(crate) fn initial_default(table: &program::Table) -> DefaultAction {
        let (meta, counter, meter) = (EntryMeta::default(), Counter::default(), None);
        let (action, args, next) = match &table.default {
            Some(entry) => (Some(entry.action), entry.args.clone(), table.next_on_miss(entry.action)),
            None => (None, Box::default(), table.on_miss.unwrap_or(table.base_next)),
        };
        DefaultAction { action, args, next, meta, counter, meter }
    }

    /// Inserts an initial entry. Its priority is converted to the scale of P4Runtime, with 1 for the last
    /// entry, so that it is comparable with those of controllers.
    fn insert_const(&mut self, table: &program::Table, entry: &program::ConstEntry, last: i32) {
        let rank = last.saturating_sub(entry.priority).saturating_add(1);
        let mut key = Key { priority: i32::MAX - rank.max(1), ..Key::default() };
        for (field, part) in table.key.iter().zip(&entry.matches) {
            key.value.extend(&part.value);
            key.mask.extend(&part.mask);
            if field.kind == program::MatchKind::Lpm {
                key.prefix = part.prefix;
            }
        }
        key.normalise(table);
        let next = table.next_on_hit(entry.action);
        let action = ActionRef::Direct { action: entry.action, args: entry.args.clone(), next };
        let mut entry = Entry::new(action, 0);
        entry.constant = true;
        // Of two entries with the same key, the first stays, as the compiler's warning states.
        let _ = self.insert(&key, entry);
    }

    /// Increases the maximum number of entries beyond that of the program.
    pub(crate) fn grow(&mut self, size: u32) {
        self.size = self.size.max(size);
    }

    /// Sets whether initial entries are constant.
    pub(crate) fn set_constant(&mut self, constant: bool) {
        for entry in self.entries.iter_mut().flatten() {
            entry.constant = constant;
        }
    }

    /// Returns the number of entries.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns whether the table is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Finds the entry for a packet's key. `masked` is a buffer for a key.
    #[inline]
    pub(crate) fn find(&self, key: &[u64], masked: &mut [u64]) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        match &self.index {
            Index::Exact(index) => index.find(&self.keys, key),
            Index::Lpm(index) => index.find(&self.keys, &self.prefixes, key, masked),
            Index::Ternary(index) => index.find(&self.stored_entries(), key),
        }
    }

    /// Finds the entry with exactly this key.
    pub(crate) fn find_exact(&self, key: &Key) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        match &self.index {
            Index::Exact(index) => index.find(&self.keys, &key.value),
            Index::Lpm(index) => index.find_exact(&self.keys, &self.prefixes, &key.value, key.prefix),
            Index::Ternary(index) => {
                index.find_exact(&self.stored_entries(), &key.value, &key.mask, key.priority)
            }
        }
    }

    /// Returns an entry.
    pub(crate) fn get(&self, handle: u32) -> Option<&Entry> {
        self.entries.get(handle as usize).and_then(Option::as_ref)
    }

    /// Returns an entry for a change.
    pub(crate) fn get_mut(&mut self, handle: u32) -> Option<&mut Entry> {
        self.entries.get_mut(handle as usize).and_then(Option::as_mut)
    }

    /// Returns the key of an entry.
    pub(crate) fn key(&self, handle: u32) -> Key {
        let at = handle as usize;
        let words =
            |all: &[u64]| all.get(at * self.width..(at + 1) * self.width).map_or(Vec::new(), <[u64]>::to_vec);
        Key {
            value: words(&self.keys),
            mask: words(&self.masks),
            prefix: self.prefixes.get(at).copied().unwrap_or(0),
            priority: self.priorities.get(at).copied().unwrap_or(0),
        }
    }

    /// Returns the priority of an entry.
    pub(crate) fn priority(&self, handle: u32) -> i32 {
        self.priorities.get(handle as usize).copied().unwrap_or(0)
    }

    /// Returns the entries with their handles, for changes.
    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = (u32, &mut Entry)> {
        (0..).zip(&mut self.entries).filter_map(|(handle, entry)| Some((handle, entry.as_mut()?)))
    }

    /// Returns the handles in use, in order, starting at a handle.
    pub(crate) fn handles_from(&self, first: usize) -> impl Iterator<Item = u32> {
        let entries = self.entries.iter().enumerate().skip(first);
        entries.filter(|(_, entry)| entry.is_some()).map(|(at, _)| at as u32)
    }

    /// Returns the handles in use, in order.
    pub(crate) fn handles(&self) -> impl Iterator<Item = u32> {
        self.handles_from(0)
    }

    /// Adds an entry; returns its handle.
    pub(crate) fn insert(&mut self, key: &Key, entry: Entry) -> Result<u32, TableError> {
        self.try_insert(key, entry).map_err(|(error, _)| error)
    }

    /// Adds an entry; returns its handle, or the entry if the table is full.
    pub(crate) fn try_insert(&mut self, key: &Key, entry: Entry) -> Result<u32, (TableError, Entry)> {
        if self.width == 0 {
            return Err((TableError::NoKey, entry));
        }
        if self.find_exact(key).is_some() {
            return Err((TableError::Exists, entry));
        }
        if self.count >= self.size {
            return Err((TableError::Full(self.size), entry));
        }
        let handle = self.free.pop().map_or(self.entries.len() as u32, |Reverse(handle)| handle);
        if handle as usize == self.entries.len() {
            self.entries.push(None);
        }
        self.store(handle, key);
        self.entries[handle as usize] = Some(entry);
        self.count += 1;
        self.link(handle);
        Ok(handle)
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, handle: u32) -> Result<Entry, TableError> {
        let entry =
            self.entries.get_mut(handle as usize).and_then(Option::take).ok_or(TableError::NotFound)?;
        self.unlink(handle);
        self.count -= 1;
        self.free.push(Reverse(handle));
        Ok(entry)
    }

    /// Restores a removed entry under its handle.
    pub(crate) fn restore(&mut self, handle: u32, key: &Key, entry: Entry) {
        if self.get(handle).is_some() || !self.free.iter().any(|Reverse(free)| *free == handle) {
            return;
        }
        self.free.retain(|Reverse(free)| *free != handle);
        self.store(handle, key);
        self.entries[handle as usize] = Some(entry);
        self.count += 1;
        self.link(handle);
    }

    fn store(&mut self, handle: u32, key: &Key) {
        let (at, end) = (handle as usize, (handle as usize + 1) * self.width);
        let put = |all: &mut Vec<u64>, words: &[u64]| {
            all.resize(all.len().max(end), 0);
            all[at * words.len()..][..words.len()].copy_from_slice(words);
        };
        put(&mut self.keys, &key.value);
        match &self.index {
            Index::Exact(_) => {}
            Index::Lpm(_) => {
                self.prefixes.resize(self.prefixes.len().max(at + 1), 0);
                self.prefixes[at] = key.prefix;
            }
            Index::Ternary(_) => {
                put(&mut self.masks, &key.mask);
                self.priorities.resize(self.priorities.len().max(at + 1), 0);
                self.priorities[at] = key.priority;
            }
        }
    }

    fn link(&mut self, handle: u32) {
        let stored = StoredEntries {
            keys: &self.keys,
            masks: &self.masks,
            priorities: &self.priorities,
            width: self.width,
        };
        match &mut self.index {
            Index::Exact(index) => index.insert(&self.keys, self.width, handle),
            Index::Lpm(index) => index.insert(&self.keys, &self.prefixes, self.width, handle),
            Index::Ternary(index) => index.insert(&stored, handle),
        }
    }

    fn unlink(&mut self, handle: u32) {
        let stored = StoredEntries {
            keys: &self.keys,
            masks: &self.masks,
            priorities: &self.priorities,
            width: self.width,
        };
        let key = &self.keys[handle as usize * self.width..][..self.width];
        match &mut self.index {
            Index::Exact(index) => index.remove(key, handle),
            Index::Lpm(index) => index.remove(key, self.prefixes[handle as usize], handle),
            Index::Ternary(index) => index.remove(&stored, handle),
        }
    }

    fn stored_entries(&self) -> StoredEntries<'_> {
        StoredEntries {
            keys: &self.keys,
            masks: &self.masks,
            priorities: &self.priorities,
            width: self.width,
        }
    }
}

impl Key {
    /// Normalises a key for storage: masked values, the program's masks applied, and no mask if the table does not need
    /// one.
    pub(crate) fn normalise(&mut self, table: &program::Table) {
        for field in &table.key {
            let words = field.word as usize..(field.word + field.words) as usize;
            if field.kind != program::MatchKind::Range {
                for at in words.clone() {
                    self.value[at] &= self.mask.get(at).copied().unwrap_or(u64::MAX);
                }
            }
            if let Some(mask) = &field.mask {
                words.zip(mask).for_each(|(at, mask)| self.value[at] &= mask);
            }
        }
        match table.lookup {
            TableMatch::Exact => {
                self.mask.clear();
                (self.prefix, self.priority) = (0, 0);
            }
            TableMatch::Lpm => {
                self.mask.clear();
                self.priority = 0;
            }
            TableMatch::Ternary | TableMatch::Range => self.prefix = 0,
        }
    }
}

#[cfg(test)]
mod tests;
