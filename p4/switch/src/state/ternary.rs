//! Look-up by priority with masks and ranges: entries with the same mask share a hash table. Tables are probed in the
//! order of their best entry, until no later one can win.
//!
//! The smallest priority number wins; on a tie, the smallest handle, as in BMv2.

use std::collections::{BTreeSet, HashMap};

use hashbrown::HashTable;

use super::exact::hash;
use crate::program::{KeyField, MatchKind};

/// Rank of an entry.
type Rank = (i32, u32);

/// Entries with the same mask.
#[derive(Debug)]
struct Group {
    mask: Box<[u64]>,
    table: HashTable<u32>,
    ranks: BTreeSet<Rank>,
}

/// Fields of stored entries that the index reads.
pub(super) struct StoredEntries<'s> {
    /// Value words of all entries.
    pub(super) keys: &'s [u64],
    /// Mask words of all entries; for a range field, the last value.
    pub(super) masks: &'s [u64],
    /// Priority of all entries.
    pub(super) priorities: &'s [i32],
    /// Words of a key.
    pub(super) width: usize,
}

impl StoredEntries<'_> {
    fn key(&self, handle: u32) -> &[u64] {
        &self.keys[handle as usize * self.width..][..self.width]
    }

    fn mask(&self, handle: u32) -> &[u64] {
        &self.masks[handle as usize * self.width..][..self.width]
    }

    fn rank(&self, handle: u32) -> Rank {
        (self.priorities[handle as usize], handle)
    }
}

/// Handles by priority.
#[derive(Debug)]
pub(super) struct TernaryIndex {
    groups: Vec<Option<Group>>,
    by_mask: HashMap<Box<[u64]>, usize>,
    /// Groups by the rank of their best entry.
    order: Vec<(Rank, usize)>,
    /// Words of each range field.
    ranges: Vec<std::ops::Range<usize>>,
}

impl TernaryIndex {
    /// Returns an empty index for a key.
    pub(super) fn new(key: &[KeyField]) -> Self {
        let ranges = key.iter().filter(|field| field.kind == MatchKind::Range);
        let ranges = ranges.map(|f| f.word as usize..(f.word + f.words) as usize).collect();
        Self { groups: Vec::new(), by_mask: HashMap::new(), order: Vec::new(), ranges }
    }

    /// Finds the best entry for a key.
    pub(super) fn find(&self, stored: &StoredEntries, key: &[u64]) -> Option<u32> {
        let mut best: Option<Rank> = None;
        for (first, at) in &self.order {
            if best.is_some_and(|best| best < *first) {
                break;
            }
            let Some(group) = &self.groups[*at] else { continue };
            for handle in group.table.iter_hash(masked_hash(key, &group.mask)) {
                let rank = stored.rank(*handle);
                let better = best.is_none_or(|best| rank < best);
                if better && self.covers(stored, *handle, key, &group.mask) {
                    best = Some(rank);
                }
            }
        }
        best.map(|(_, handle)| handle)
    }

    /// Finds the entry of exactly this key, mask and priority.
    pub(super) fn find_exact(
        &self,
        stored: &StoredEntries,
        key: &[u64],
        mask: &[u64],
        priority: i32,
    ) -> Option<u32> {
        let group = self.groups[*self.by_mask.get(&self.hash_mask(mask))?].as_ref()?;
        let equal = |handle: &&u32| {
            stored.key(**handle) == key
                && stored.mask(**handle) == mask
                && stored.rank(**handle).0 == priority
        };
        group.table.iter_hash(masked_hash(key, &group.mask)).find(equal).copied()
    }

    /// Adds a handle whose key, mask and priority are already stored but not indexed.
    pub(super) fn insert(&mut self, stored: &StoredEntries, handle: u32) {
        let at = self.group(stored.mask(handle));
        let Some(group) = self.groups[at].as_mut() else { return };
        let mask = group.mask.clone();
        let of = |handle: &u32| masked_hash(stored.key(*handle), &mask);
        group.table.insert_unique(of(&handle), handle, of);
        let old = group.ranks.first().copied();
        group.ranks.insert(stored.rank(handle));
        let new = group.ranks.first().copied();
        self.reorder(at, old, new);
    }

    /// Removes a handle.
    pub(super) fn remove(&mut self, stored: &StoredEntries, handle: u32) {
        let mask = self.hash_mask(stored.mask(handle));
        let Some(at) = self.by_mask.get(&mask).copied() else { return };
        let Some(group) = self.groups[at].as_mut() else { return };
        if let Ok(found) = group.table.find_entry(masked_hash(stored.key(handle), &mask), |h| *h == handle) {
            found.remove();
        }
        let old = group.ranks.first().copied();
        group.ranks.remove(&stored.rank(handle));
        let new = group.ranks.first().copied();
        self.reorder(at, old, new);
        if new.is_none() {
            self.groups[at] = None;
            self.by_mask.remove(&mask);
        }
    }

    /// Returns the mask for hashing; range fields are excluded.
    fn hash_mask(&self, mask: &[u64]) -> Box<[u64]> {
        let mut mask: Box<[u64]> = mask.into();
        self.ranges.iter().for_each(|range| mask[range.clone()].fill(0));
        mask
    }

    fn group(&mut self, mask: &[u64]) -> usize {
        let mask = self.hash_mask(mask);
        if let Some(at) = self.by_mask.get(&mask) {
            return *at;
        }
        let group = Some(Group { mask: mask.clone(), table: HashTable::new(), ranks: BTreeSet::new() });
        let free = self.groups.iter().position(Option::is_none);
        let at = free.unwrap_or(self.groups.len());
        if at == self.groups.len() {
            self.groups.push(group);
        } else {
            self.groups[at] = group;
        }
        self.by_mask.insert(mask, at);
        at
    }

    fn reorder(&mut self, at: usize, old: Option<Rank>, new: Option<Rank>) {
        if old == new {
            return;
        }
        if let Some(found) = old.and_then(|rank| self.order.binary_search(&(rank, at)).ok()) {
            self.order.remove(found);
        }
        if let Some(rank) = new {
            let place = self.order.binary_search(&(rank, at)).unwrap_or_else(|place| place);
            self.order.insert(place, (rank, at));
        }
    }

    /// Returns whether an entry covers a key with the same hash.
    fn covers(&self, stored: &StoredEntries, handle: u32, key: &[u64], mask: &[u64]) -> bool {
        let (first, last) = (stored.key(handle), stored.mask(handle));
        let equal = first.iter().zip(key).zip(mask).all(|((value, key), mask)| value & mask == key & mask);
        equal
            && self.ranges.iter().all(|range| {
                // Words are little-endian, so the last one is compared first.
                let (first, last, key) = (&first[range.clone()], &last[range.clone()], &key[range.clone()]);
                first.iter().rev().le(key.iter().rev()) && key.iter().rev().le(last.iter().rev())
            })
    }
}

fn masked_hash(key: &[u64], mask: &[u64]) -> u64 {
    hash(0, key.iter().zip(mask).map(|(k, m)| k & m))
}
