//! A counter per key. Callers keep only the first entries of each key, but all entries are counted.

use std::collections::BTreeMap;

/// The number of entries per key. The caller keeps only the first ones, but all are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally<K> {
    limit: usize,
    counts: BTreeMap<K, usize>,
}

impl<K: Ord + Copy> Tally<K> {
    /// Creates a tally whose caller keeps the first `limit` entries of each key.
    pub fn new(limit: usize) -> Self {
        Tally { limit, counts: BTreeMap::new() }
    }

    /// Counts an entry. Returns whether to keep it.
    pub fn count(&mut self, key: K) -> bool {
        self.add(key, 1);
        self.counts[&key] <= self.limit
    }

    /// Counts entries that the caller has already dropped.
    pub fn add(&mut self, key: K, entries: usize) {
        let pushed = self.counts.entry(key).or_default();
        *pushed = pushed.saturating_add(entries);
    }

    /// Returns the number of entries above the limit, by key.
    pub fn dropped(&self) -> BTreeMap<K, usize> {
        let over = self.counts.iter().filter(|(_, pushed)| **pushed > self.limit);
        over.map(|(key, pushed)| (*key, pushed - self.limit)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_key_are_kept_and_all_are_counted() {
        let mut tally = Tally::new(2);
        assert_eq!(["a", "a", "a", "b"].map(|key| tally.count(key)), [true, true, false, true]);
        tally.add("b", 5);
        assert_eq!(tally.dropped(), BTreeMap::from([("a", 1), ("b", 4)]));
    }
}
