//! Longest prefix match: one hash table of masked keys, probed for each prefix length in use, longest first.

use hashbrown::HashTable;

use super::exact::hash;
use crate::program::{KeyField, MatchKind};

/// A prefix length in use.
#[derive(Debug)]
struct Length {
    prefix: u32,
    entries: u32,
    /// Mask over the prefix field.
    mask: Box<[u64]>,
}

/// Handles by prefix length and masked key.
#[derive(Debug)]
pub(super) struct LpmIndex {
    table: HashTable<u32>,
    /// Longest first.
    lengths: Vec<Length>,
    /// Words of the prefix field in the key.
    field: std::ops::Range<usize>,
    bits: u32,
}

impl LpmIndex {
    /// Returns an empty index for a key.
    pub(super) fn new(key: &[KeyField]) -> Self {
        let field = key.iter().find(|field| field.kind == MatchKind::Lpm);
        let (range, bits) = field.map_or((0..0, 0), |field| {
            let start = field.word as usize;
            (start..start + field.words as usize, field.bits)
        });
        Self { table: HashTable::new(), lengths: Vec::new(), field: range, bits }
    }

    /// Finds the longest prefix that covers a key. `masked` is a buffer for a key.
    pub(super) fn find(
        &self,
        keys: &[u64],
        prefixes: &[u32],
        key: &[u64],
        masked: &mut [u64],
    ) -> Option<u32> {
        masked.copy_from_slice(key);
        for length in &self.lengths {
            for (at, mask) in self.field.clone().zip(&length.mask) {
                masked[at] = key[at] & mask;
            }
            let found = self.find_exact(keys, prefixes, masked, length.prefix);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Finds the entry of exactly this prefix.
    pub(super) fn find_exact(&self, keys: &[u64], prefixes: &[u32], key: &[u64], prefix: u32) -> Option<u32> {
        let width = key.len();
        let equal = |handle: &u32| {
            let at = *handle as usize;
            prefixes[at] == prefix && keys[at * width..][..width] == *key
        };
        self.table.find(hash(u64::from(prefix), key.iter().copied()), equal).copied()
    }

    /// Adds a handle whose key and prefix are already stored but not indexed.
    pub(super) fn insert(&mut self, keys: &[u64], prefixes: &[u32], width: usize, handle: u32) {
        let of = |handle: &u32| {
            let at = *handle as usize;
            hash(u64::from(prefixes[at]), keys[at * width..][..width].iter().copied())
        };
        self.table.insert_unique(of(&handle), handle, of);
        let prefix = prefixes[handle as usize];
        match self.lengths.binary_search_by(|length| prefix.cmp(&length.prefix)) {
            Ok(at) => self.lengths[at].entries += 1,
            Err(at) => {
                let mask = crate::program::prefix_mask(prefix, self.bits);
                self.lengths.insert(at, Length { prefix, entries: 1, mask });
            }
        }
    }

    /// Removes a handle.
    pub(super) fn remove(&mut self, key: &[u64], prefix: u32, handle: u32) {
        if let Ok(found) =
            self.table.find_entry(hash(u64::from(prefix), key.iter().copied()), |h| *h == handle)
        {
            found.remove();
        }
        if let Ok(at) = self.lengths.binary_search_by(|length| prefix.cmp(&length.prefix)) {
            self.lengths[at].entries -= 1;
            if self.lengths[at].entries == 0 {
                self.lengths.remove(at);
            }
        }
    }
}
