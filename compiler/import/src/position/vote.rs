//! Numbers by majority: the majority of cables decides, so a swapped cable does not change the structure.
//!
//! In: for each device, the numbers that its cables indicate. Out: a number for each device. Invariants: no
//! two devices of a set get the same number.

use std::collections::{BTreeMap, BTreeSet};

/// Votes of the cables of a device for each number.
pub(super) type Votes = BTreeMap<u16, u32>;

/// Returns the number that most cables indicate. In a tie, `preferred` is chosen if it is one of the
/// candidates, or else the smallest.
pub(super) fn majority(votes: &Votes, preferred: u16) -> Option<u16> {
    let best = votes
        .iter()
        .max_by_key(|(number, count)| (**count, **number == preferred, std::cmp::Reverse(**number)));
    best.map(|(number, _)| *number)
}

/// Returns the most frequent count. In a tie, returns the largest of these.
pub(crate) fn typical(counts: impl IntoIterator<Item = u16>) -> Option<u16> {
    let mut seen: BTreeMap<u16, u32> = BTreeMap::new();
    for count in counts {
        *seen.entry(count).or_default() += 1;
    }
    seen.into_iter().max_by_key(|(count, times)| (*times, *count)).map(|(count, _)| count)
}

/// Numbers the devices of a set, which are in the order of their names. Returns `None` if less than half of the
/// cables agree with these numbers.
pub(super) fn assign(all: &[(Votes, u32)]) -> Option<Vec<u16>> {
    let mut found: Vec<Option<u16>> = vec![None; all.len()];
    let mut taken = BTreeSet::new();
    for is_clear in [true, false] {
        for (at, (votes, total)) in
            all.iter().enumerate().filter(|(at, _)| found[*at].is_none()).collect::<Vec<_>>()
        {
            let rank = u16::try_from(at).unwrap_or(u16::MAX);
            let free: Votes =
                votes.iter().filter(|(number, _)| !taken.contains(*number)).map(|(a, b)| (*a, *b)).collect();
            let best = majority(&free, rank).filter(|best| !is_clear || free[best] * 2 > *total);
            if let Some(best) = best {
                taken.insert(best);
                found[at] = Some(best);
            }
        }
    }
    let (mut agreed, mut total) = (0, 0);
    for ((votes, count), number) in all.iter().zip(&found) {
        agreed += number.and_then(|number| votes.get(&number)).copied().unwrap_or(0);
        total += count;
    }
    if agreed * 2 < total {
        return None;
    }
    let mut next = 0;
    let found = found.into_iter().map(|number| {
        number.unwrap_or_else(|| {
            while !taken.insert(next) {
                next += 1;
            }
            next
        })
    });
    Some(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn votes(shown: &[u16]) -> (Votes, u32) {
        let mut votes = Votes::new();
        for number in shown {
            *votes.entry(*number).or_default() += 1;
        }
        (votes, shown.len() as u32)
    }

    #[test]
    fn a_swap_does_not_move_a_device() {
        let all = [votes(&[0, 0, 1]), votes(&[1, 0, 1]), votes(&[2, 2, 2])];
        assert_eq!(assign(&all), Some(vec![0, 1, 2]));
        // In a tie, names decide.
        assert_eq!(assign(&[votes(&[1, 0]), votes(&[1, 0])]), Some(vec![0, 1]));
        assert_eq!(assign(&[votes(&[4, 5, 6]), votes(&[7, 8, 9])]), None);
    }

    #[test]
    fn the_typical_count_is_the_most_frequent_one() {
        assert_eq!(typical([1, 1, 2, 1]), Some(1));
        assert_eq!(typical([2, 1]), Some(2));
        assert_eq!(typical([]), None);
    }
}
