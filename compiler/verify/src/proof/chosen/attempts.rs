//! Numbers of paths to each class of destinations, stored as ranges of classes with equal numbers.
//!
//! In: the numbers of one switch, class by class. Out: the same numbers. Invariants: storage is lossless. Most switches
//! have few distinct numbers, so memory grows with the number of switches, and in the worst case also with classes.
//! Only classes of NICs are stored.

use std::ops::Range;

use crate::proof::bits::Bits;

/// Paths to a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Paths {
    /// Paths that arrive.
    pub(super) arrive: u128,
    /// All paths that packets can take.
    pub(super) tried: u128,
}

impl Paths {
    /// No path was examined.
    pub(super) const NONE: Paths = Paths { arrive: 0, tried: 0 };
    /// One path is tried and does not arrive.
    pub(super) const LOST: Paths = Paths { arrive: 0, tried: 1 };
    /// One path is tried and arrives.
    pub(super) const ARRIVES: Paths = Paths { arrive: 1, tried: 1 };

    pub(super) fn add(&mut self, other: Paths) {
        self.arrive = self.arrive.saturating_add(other.arrive);
        self.tried = self.tried.saturating_add(other.tried);
    }
}

/// Maps classes to their indices among the classes of NICs.
#[derive(Debug)]
pub(super) struct Places {
    /// For each class, and after the last one, the number of preceding classes of NICs.
    preceding_counts: Vec<u32>,
}

impl Places {
    /// Numbers the classes of NICs.
    pub(super) fn of(accepted: &Bits, classes: usize) -> Self {
        let mut before = Vec::with_capacity(classes + 1);
        let mut count = 0;
        for class in 0..classes {
            before.push(count);
            count += u32::from(accepted.get(class));
        }
        before.push(count);
        Places { preceding_counts: before }
    }

    /// Returns the number of classes of NICs.
    pub(super) fn len(&self) -> usize {
        self.preceding_counts.last().map_or(0, |count| *count as usize)
    }

    /// Returns the indices of the classes of NICs in a range of classes.
    pub(super) fn range(&self, run: &Range<u32>) -> Range<usize> {
        self.preceding_counts[run.start as usize] as usize..self.preceding_counts[run.end as usize] as usize
    }
}

/// Paths to all classes of NICs from one switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attempts {
    /// Ranges in ascending order without gaps: the end of each, and the paths to each of its classes.
    runs: Box<[(u32, Paths)]>,
}

impl Attempts {
    /// Compresses the numbers of paths, given class by class.
    pub(super) fn of(ways: &[Paths]) -> Self {
        let mut runs = Vec::new();
        for (at, own) in ways.iter().enumerate() {
            match runs.last_mut() {
                Some((end, last)) if *last == *own => *end = at as u32 + 1,
                _ => runs.push((at as u32 + 1, *own)),
            }
        }
        Attempts { runs: runs.into() }
    }

    /// Returns the ranges inside a range of indices, with their paths.
    pub(super) fn paths_in_range(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, Paths)> + '_ {
        let first = self.runs.partition_point(|(end, _)| *end as usize <= range.start);
        let mut at = range.start;
        self.runs[first..].iter().map_while(move |(end, ways)| {
            let run = at..(*end as usize).min(range.end);
            at = run.end;
            (!run.is_empty()).then_some((run, *ways))
        })
    }

    /// Adds the numbers of a range to existing ones.
    pub(super) fn add_to(&self, range: Range<usize>, sum: &mut [Paths]) {
        for (run, ways) in self.paths_in_range(range) {
            sum[run].iter_mut().for_each(|own| own.add(ways));
        }
    }

    /// Overwrites existing numbers with those of a range.
    pub(super) fn copy_to(&self, range: Range<usize>, to: &mut [Paths]) {
        for (run, ways) in self.paths_in_range(range) {
            to[run].fill(ways);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(number: u128) -> Paths {
        Paths { arrive: number, tried: number + 1 }
    }

    #[test]
    fn only_classes_of_nics_have_a_place() {
        let mut accepted = Bits::new(7);
        for class in [1, 2, 5] {
            accepted.set(class);
        }
        let places = Places::of(&accepted, 7);
        assert_eq!(places.len(), 3);
        assert_eq!(
            [0..7, 0..1, 2..6, 3..5, 6..7].map(|run| places.range(&run)),
            [0..3, 0..0, 1..3, 2..2, 3..3]
        );
        assert_eq!(Places::of(&Bits::new(0), 0).len(), 0);
    }

    #[test]
    fn what_comes_out_is_what_was_put_in() {
        for numbers in [vec![], vec![4], vec![1, 1, 1], vec![1, 2, 3], vec![0, 0, 7, 7, 0, 9, 9, 9]] {
            let all: Vec<Paths> = numbers.iter().map(|number| paths(*number)).collect();
            let kept = Attempts::of(&all);
            for start in 0..=all.len() {
                for end in start..=all.len() {
                    let (mut copied, mut added) = (vec![paths(50); all.len()], vec![paths(50); all.len()]);
                    kept.copy_to(start..end, &mut copied);
                    kept.add_to(start..end, &mut added);
                    for at in 0..all.len() {
                        let inside = (start..end).contains(&at);
                        let sum = Paths { arrive: 50 + all[at].arrive, tried: 51 + all[at].tried };
                        assert_eq!(copied[at], if inside { all[at] } else { paths(50) });
                        assert_eq!(added[at], if inside { sum } else { paths(50) });
                    }
                }
            }
        }
        assert_eq!(Attempts::of(&vec![Paths::LOST; 4096]).runs.len(), 1);
    }

    #[test]
    fn numbers_end_at_the_greatest() {
        let mut sum = [Paths { arrive: u128::MAX, tried: u128::MAX - 1 }; 2];
        Attempts::of(&[paths(5); 2]).add_to(0..2, &mut sum);
        assert_eq!(sum, [Paths { arrive: u128::MAX, tried: u128::MAX }; 2]);
    }
}
