//! From capacities to the weights of a next-hop group.
//!
//! In: the remaining capacity of each next hop, and the group capabilities of the target. Out: hops. Invariants:
//! weights are integers of at least 1 without a common divisor. Their sum fits the group size of the platform, because
//! hardware repeats a member according to its weight. Next hops without capacity are omitted.

use std::cmp::Reverse;

use num_integer::{gcd, lcm};

use super::fraction::Fraction;
use crate::intent::Hop;

/// A candidate for a next hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    /// Index of the port in the intent.
    pub(crate) port: usize,
    /// Remaining capacity through that neighbour, comparable between neighbours.
    pub(crate) remaining: Fraction,
    /// Number of cables to that neighbour, which share the capacity.
    pub(crate) cables: u64,
}

/// Group capabilities of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupCapacity {
    /// Maximum sum of the weights of a group.
    pub(crate) width: u64,
    /// Division of traffic among the members of the group.
    pub(crate) weighting: Weighting,
}

/// The way in which a group divides traffic among its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weighting {
    /// By the remaining capacity of each.
    Capacity,
    /// Equally among those that closc selects.
    Selected,
    /// Equally among all that have capacity.
    Equal,
}

/// Returns the hops of a group.
pub(crate) fn hops(shares: &[Share], room: GroupCapacity) -> Vec<Hop> {
    let scale = shares.iter().map(|share| share.remaining.denom() * share.cables.max(1)).fold(1, lcm);
    let scaled = |share: &Share| {
        (share.port, share.remaining.numer() * (scale / (share.remaining.denom() * share.cables.max(1))))
    };
    let mut ways: Vec<(usize, u64)> = shares.iter().map(scaled).filter(|(_, weight)| *weight > 0).collect();
    match room.weighting {
        Weighting::Capacity => {}
        Weighting::Selected => ways = equal(ways),
        Weighting::Equal => ways.iter_mut().for_each(|(_, weight)| *weight = 1),
    }
    let divisor = ways.iter().map(|(_, weight)| *weight).fold(0, gcd).max(1);
    for (_, weight) in &mut ways {
        *weight /= divisor;
    }
    fit(&mut ways, room.width);
    ways.into_iter()
        .map(|(port, weight)| Hop { port, weight: u16::try_from(weight).unwrap_or(u16::MAX) })
        .collect()
}

/// Selects next hops for equal weights so that the group carries most: a group of n carries n times its narrowest
/// member. If a smaller group carries no more, the larger one is used, because it loads each of its members less.
fn equal(ways: Vec<(usize, u64)>) -> Vec<(usize, u64)> {
    let mut capacities: Vec<u64> = ways.iter().map(|(_, weight)| *weight).collect();
    capacities.sort_unstable_by(|a, b| b.cmp(a));
    let carried =
        |(at, capacity): (usize, &u64)| (u128::from(*capacity) * (at as u128 + 1), Reverse(*capacity));
    let Some((_, Reverse(least))) = capacities.iter().enumerate().map(carried).max() else { return ways };
    ways.into_iter().filter(|(_, weight)| *weight >= least).map(|(port, _)| (port, 1)).collect()
}

/// Reduces weights to the width. Every next hop keeps one member, and each further member goes to the one that is
/// farthest behind (Sainte-Laguë's method). Zhou et al., EuroSys 2014, section 4, bound the loss.
fn fit(ways: &mut [(usize, u64)], width: u64) {
    if ways.iter().map(|(_, weight)| weight).sum::<u64>() <= width {
        return;
    }
    let wanted: Vec<u64> = ways.iter().map(|(_, weight)| *weight).collect();
    for (_, weight) in ways.iter_mut() {
        *weight = 1;
    }
    for _ in ways.len() as u64..width {
        // Compares wanted / (2 * had + 1) without division; among equal values the first wins.
        let claim = |at: usize, against: usize| u128::from(wanted[at]) * u128::from(2 * ways[against].1 + 1);
        let next =
            (1..ways.len()).fold(0, |best, at| if claim(at, best) > claim(best, at) { at } else { best });
        if let Some((_, weight)) = ways.get_mut(next) {
            *weight += 1;
        }
    }
    let divisor = ways.iter().map(|(_, weight)| *weight).fold(0, gcd).max(1);
    for (_, weight) in ways.iter_mut() {
        *weight /= divisor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: GroupCapacity = GroupCapacity { width: 256, weighting: Weighting::Capacity };

    /// Returns port and weight of each hop. Each candidate is given as twelfths of the capacity and a number of
    /// cables.
    fn weights(shares: &[(u64, u64)], room: GroupCapacity) -> Vec<(usize, u16)> {
        let share = |(port, (part, cables)): (usize, &(u64, u64))| Share {
            port,
            remaining: super::super::fraction::part(*part, 12),
            cables: *cables,
        };
        let shares: Vec<Share> = shares.iter().enumerate().map(share).collect();
        hops(&shares, room).into_iter().map(|hop| (hop.port, hop.weight)).collect()
    }

    #[test]
    fn equal_parts_weigh_one() {
        assert_eq!(weights(&[(12, 1); 3], WIDE), [(0, 1), (1, 1), (2, 1)]);
    }

    #[test]
    fn what_leads_nowhere_is_left_out() {
        assert_eq!(weights(&[(12, 1), (0, 1), (12, 1)], WIDE), [(0, 1), (2, 1)]);
        assert_eq!(weights(&[(0, 1)], WIDE), []);
    }

    /// Two cables to each of two T1s. The second T1 has lost one of its two cables to the destination.
    #[test]
    fn weights_follow_what_is_left() {
        assert_eq!(weights(&[(12, 2), (12, 2), (6, 2), (6, 2)], WIDE), [(0, 2), (1, 2), (2, 1), (3, 1)]);
        // One of three cables to the first neighbour is missing on this side.
        assert_eq!(weights(&[(8, 2), (8, 2), (12, 3)], WIDE), [(0, 1), (1, 1), (2, 1)]);
    }

    /// Without weights, a neighbour with half the capacity is used only if the group carries more with it.
    #[test]
    fn without_weights_the_best_equal_set_is_taken() {
        let equal = GroupCapacity { weighting: Weighting::Selected, ..WIDE };
        // 3 x 2 carries 6, 4 x 1 carries 4.
        assert_eq!(weights(&[(2, 1), (2, 1), (1, 1), (2, 1)], equal), [(0, 1), (1, 1), (3, 1)]);
        // 2 x 2 carries as much as 4 x 1, but loads its members twice as much.
        assert_eq!(weights(&[(1, 1), (2, 1), (1, 1), (2, 1)], equal).len(), 4);
        // 1 x 4 carries 4, 4 x 3 carries 12.
        assert_eq!(weights(&[(4, 1), (3, 1), (3, 1), (3, 1)], equal).len(), 4);
    }

    /// BGP without bandwidths uses every path, also one with little capacity.
    #[test]
    fn equal_shares_go_to_every_path_with_capacity() {
        let all = GroupCapacity { weighting: Weighting::Equal, ..WIDE };
        assert_eq!(weights(&[(6, 1), (1, 1), (0, 1), (6, 1)], all), [(0, 1), (1, 1), (3, 1)]);
    }

    #[test]
    fn weights_fit_the_group() {
        let narrow = GroupCapacity { width: 8, weighting: Weighting::Capacity };
        let fitted = weights(&[(12, 1), (11, 1), (6, 1)], narrow);
        assert_eq!(fitted, [(0, 3), (1, 3), (2, 2)]);
        // Exactly as many candidates as members: each keeps one.
        let full: Vec<(u64, u64)> = (1..=8).map(|part| (part, 1)).collect();
        assert_eq!(weights(&full, narrow).len(), 8);
    }
}
