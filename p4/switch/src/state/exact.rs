//! Exact match look-up, and the hash of words for all look-ups.

use hashbrown::HashTable;

/// Multiplier of the word hash: 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes words. Keys come from the trusted control plane, so speed matters more than resistance to chosen keys.
pub(super) fn hash(seed: u64, words: impl IntoIterator<Item = u64>) -> u64 {
    let mut sum = seed;
    for word in words {
        let mixed = u128::from(sum ^ word ^ MULTIPLIER) * u128::from(MULTIPLIER);
        sum = (mixed as u64) ^ (mixed >> 64) as u64;
    }
    sum ^ sum >> 29
}

/// Handles by key.
#[derive(Debug, Default)]
pub(super) struct ExactIndex {
    table: HashTable<u32>,
}

impl ExactIndex {
    /// Finds the handle of a key, given the keys of all entries.
    pub(super) fn find(&self, keys: &[u64], key: &[u64]) -> Option<u32> {
        let width = key.len();
        let equal = |handle: &u32| keys[*handle as usize * width..][..width] == *key;
        self.table.find(hash(0, key.iter().copied()), equal).copied()
    }

    /// Adds a handle whose key is already stored but not indexed.
    pub(super) fn insert(&mut self, keys: &[u64], width: usize, handle: u32) {
        let of = |handle: &u32| hash(0, keys[*handle as usize * width..][..width].iter().copied());
        self.table.insert_unique(of(&handle), handle, of);
    }

    /// Removes a handle.
    pub(super) fn remove(&mut self, key: &[u64], handle: u32) {
        if let Ok(found) = self.table.find_entry(hash(0, key.iter().copied()), |h| *h == handle) {
            found.remove();
        }
    }
}
