//! A set of numbers, stored as ranges: the pieces of a write that have arrived.
//!
//! In: numbers below a count. Out: which of them are in the set, and which ranges are missing. Invariants: ranges are
//! sorted, disjoint, not adjacent and not empty. Memory depends on the number of gaps, which a window limits, not on a
//! count in a packet.

/// Size of a range in bytes.
pub(crate) const RANGE_BYTES: usize = size_of::<(u32, u32)>();

/// The set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges {
    /// First number of each range, and one past its last.
    all: Vec<(u32, u32)>,
    count: u32,
    cardinality: u32,
}

impl Ranges {
    /// An empty set of numbers below `count`.
    pub(crate) fn new(count: u32) -> Self {
        Ranges { all: Vec::new(), count, cardinality: 0 }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.cardinality == self.count
    }

    pub(crate) fn has(&self, number: u32) -> bool {
        let next = self.all.partition_point(|(first, _)| *first <= number);
        next > 0 && number < self.all[next - 1].1
    }

    /// Returns whether a number would start a new range.
    pub(crate) fn is_apart(&self, number: u32) -> bool {
        let next = self.all.partition_point(|(first, _)| *first <= number);
        let follows = next > 0 && number <= self.all[next - 1].1;
        let leads = self.all.get(next).is_some_and(|(first, _)| *first == number + 1);
        number < self.count && !follows && !leads
    }

    /// Adds a number, and returns whether it is new.
    pub(crate) fn add(&mut self, number: u32) -> bool {
        if number >= self.count || self.has(number) {
            return false;
        }
        self.cardinality += 1;
        let next = self.all.partition_point(|(first, _)| *first <= number);
        let follows = next > 0 && self.all[next - 1].1 == number;
        let leads = self.all.get(next).is_some_and(|(first, _)| *first == number + 1);
        match (follows, leads) {
            (true, true) => {
                self.all[next - 1].1 = self.all[next].1;
                self.all.remove(next);
            }
            (true, false) => self.all[next - 1].1 += 1,
            (false, true) => self.all[next].0 -= 1,
            (false, false) => self.all.insert(next, (number, number + 1)),
        }
        // Releases memory after a burst of gaps is filled.
        if self.all.capacity() > 4 * self.all.len().max(4) {
            self.all.shrink_to(2 * self.all.len());
        }
        true
    }

    /// Removes numbers from `first` up to `end`, exclusive, and returns whether any was in the set.
    pub(crate) fn remove(&mut self, first: u32, end: u32) -> bool {
        let before = self.cardinality;
        let mut kept = Vec::with_capacity(self.all.len() + 1);
        for (own, own_end) in self.all.drain(..) {
            let pieces = [(own, own_end.min(first)), (own.max(end), own_end)];
            let pieces = if first < end { pieces } else { [(own, own_end), (0, 0)] };
            kept.extend(pieces.into_iter().filter(|(first, end)| first < end));
        }
        self.cardinality = kept.iter().map(|(first, end)| end - first).sum();
        self.all = kept;
        self.cardinality < before
    }

    /// Returns the missing ranges, in order.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let starts = std::iter::once(0).chain(self.all.iter().map(|(_, end)| *end));
        let ends = self.all.iter().map(|(first, _)| *first).chain([self.count]);
        starts.zip(ends).filter(|(first, end)| first < end)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_of_ranges_is_a_set(
            steps in prop::collection::vec((any::<bool>(), 0u32..40, 0u32..6), 0..200),
        ) {
            let (mut ranges, mut set) = (Ranges::new(36), BTreeSet::new());
            for (adds, first, len) in steps {
                if adds {
                    let apart = !set.contains(&first)
                        && !set.contains(&(first + 1))
                        && (first == 0 || !set.contains(&(first - 1)));
                    prop_assert_eq!(ranges.is_apart(first), apart && first < 36);
                    prop_assert_eq!(ranges.add(first), first < 36 && set.insert(first));
                } else {
                    let before = set.len();
                    set.retain(|number| !(first..first + len).contains(number));
                    prop_assert_eq!(ranges.remove(first, first + len), set.len() < before);
                }
                let held: BTreeSet<u32> = (0..40).filter(|number| ranges.has(*number)).collect();
                prop_assert_eq!(&held, &set);
                let gaps: BTreeSet<u32> = ranges.gaps().flat_map(|(first, end)| first..end).collect();
                prop_assert_eq!(gaps, (0..36).filter(|number| !set.contains(number)).collect::<BTreeSet<u32>>());
                prop_assert_eq!(ranges.is_full(), set.len() == 36);
                prop_assert!(ranges.all.windows(2).all(|two| two[0].1 < two[1].0));
                prop_assert!(ranges.len() <= set.len());
            }
        }
    }
}
