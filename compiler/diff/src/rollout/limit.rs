//! The limit of a rollout: the loss that a wave may cause, and the number of places that fit into a wave.
//!
//! In: the loss of each pair of NICs in a state. Out: whether a wave is within the limit. Invariants: the most affected
//! pair decides, and a pair without a path exceeds every limit.

use std::collections::BTreeSet;

use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_topology::Topology;

use super::{RolloutError, drain_places};
use crate::effect::place_name;
use crate::impact::{PairChange, impact};
use crate::mode::Place;

/// The temporary loss that a rollout may cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Maximum loss of any pair, as a fraction of its bandwidth between 0 and 1.
    pub share: f64,
}

impl Limit {
    /// Returns a limit equal to the bandwidth of one plane.
    pub fn one_plane(topology: &Topology) -> Limit {
        Limit { share: 1.0 / f64::from(topology.planes) }
    }
}

/// The loss of the most affected pair in one state of the fabric.
pub(super) struct PairLoss {
    pub(super) loss: f64,
    cut_off: u64,
}

pub(super) fn worst(rows: &[PairChange]) -> PairLoss {
    let loss = rows.iter().filter_map(PairChange::loss).fold(0.0, f64::max);
    let cut = rows.iter().filter(|row| {
        row.old.is_some_and(|share| share.usable > 0) && row.new.is_some_and(|share| share.usable == 0)
    });
    PairLoss { loss, cut_off: cut.map(|row| row.pairs).sum() }
}

/// Checks whether places can be drained together within the limit. The error names the first of them.
pub(super) fn check_limit(
    old: &Plan,
    base: &Fabric,
    gone: &BTreeSet<Place>,
    places: &[Place],
    limit: Limit,
) -> Result<(), RolloutError> {
    let all = gone.iter().chain(places).copied().collect();
    let found = worst(&impact(base, &drain_places(base, &all)));
    let name = || places.first().map(|place| place_name(*place, old)).unwrap_or_default();
    match found.cut_off {
        0 if found.loss <= limit.share + f64::EPSILON => Ok(()),
        0 => Err(RolloutError::TooNarrow { name: name(), loss: found.loss, share: limit.share }),
        pairs => Err(RolloutError::CutOff { name: name(), pairs, planes: old.topology().planes }),
    }
}

/// Returns how many of `count` places, taken from the front, can be drained together. If a number of places
/// exceeds the limit, every larger number does too. Most waves have the same size, so the search starts at
/// the size of the last one (`last`).
pub(super) fn largest_wave<E>(
    count: usize,
    last: usize,
    take: impl Fn(usize) -> Result<(), E>,
) -> Result<usize, E> {
    let (mut good, mut bad) = (0, count + 1);
    // Start at the last size, then double the step after each probe.
    let (mut probe, mut step) = (last.clamp(1, count), 1);
    while probe < bad {
        if take(probe).is_err() {
            bad = probe;
        } else {
            good = probe;
            probe = if good == count { bad } else { (probe + step).min(count) };
            step *= 2;
        }
    }
    if good == 0 {
        take(1)?;
        good = 1;
    }
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        if take(middle).is_ok() { good = middle } else { bad = middle }
    }
    Ok(good)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Returns the largest number that fits, and the number of probes.
    fn largest_fit(count: usize, last: usize, most: usize) -> (Result<usize, ()>, usize) {
        let looks = Cell::new(0);
        let take = |size: usize| {
            looks.set(looks.get() + 1);
            assert!((1..=count).contains(&size), "{size} of {count}");
            if size <= most { Ok(()) } else { Err(()) }
        };
        (largest_wave(count, last, take), looks.get())
    }

    #[test]
    fn the_most_that_fits_is_found_from_any_size() {
        for count in 1..40 {
            for (last, most) in (1..45).flat_map(|last| (0..45).map(move |most| (last, most))) {
                let wanted = if most == 0 { Err(()) } else { Ok(most.min(count)) };
                assert_eq!(largest_fit(count, last, most).0, wanted, "{most} of {count} after {last}");
            }
        }
    }

    #[test]
    fn a_wave_of_the_size_before_takes_two_looks() {
        assert_eq!(largest_fit(100_000, 20, 20), (Ok(20), 2));
        assert_eq!(largest_fit(20, 20, 20), (Ok(20), 1), "all that is left");
        assert_eq!(largest_fit(7, 20, 20), (Ok(7), 1), "less than that is left");
        let (size, looks) = largest_fit(100_000, 1, 70_000);
        assert!(size == Ok(70_000) && looks <= 36, "{looks}");
    }
}
