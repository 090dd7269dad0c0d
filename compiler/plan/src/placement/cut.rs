//! Partitions a job over bins with few bytes between bins.
//!
//! In: edges, the capacity of each bin, and an initial assignment. Out: a bin for each node. Invariants: no bin exceeds
//! its capacity, and the cut is never larger than that of the initial assignment.

use std::collections::BTreeMap;

use super::Bin;
use super::job::{Edges, Job, Order};

/// Maximum number of pairs of nodes examined in one round of swaps. Larger jobs skip the swaps.
const PAIRS_MAX: usize = 4_000_000;

/// Maximum number of rounds of swaps.
const ROUNDS: usize = 8;

/// Partitions a complete job.
pub(super) fn place(job: &Job, edges: &Edges, bins: &BTreeMap<Bin, usize>, naive: &[Bin]) -> Vec<Bin> {
    let number: Vec<usize> = (0..job.nodes()).collect();
    place_part(job, edges, &number, bins, naive)
}

/// Partitions the nodes `number` of a job. `edges` and `naive` refer to them by their index in `number`.
pub(super) fn place_part(
    job: &Job,
    edges: &Edges,
    number: &[usize],
    bins: &BTreeMap<Bin, usize>,
    naive: &[Bin],
) -> Vec<Bin> {
    let place: BTreeMap<usize, usize> = number.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let mut candidates = vec![naive.to_vec()];
    for order in [Order::Stages, Order::Replicas] {
        let (row, group) = job.ordered_nodes(order);
        let row: Vec<usize> = row.iter().filter_map(|node| place.get(node).copied()).collect();
        for order in fillings(bins, row.len()) {
            for size in [1, group] {
                candidates.extend(fill(&row, size, &order));
            }
        }
    }
    let best = candidates.into_iter().min_by_key(|bins| cut(edges, bins));
    let mut best = best.unwrap_or_else(|| naive.to_vec());
    swap(edges, &mut best);
    best
}

/// Returns orders in which to fill bins: only the smallest bin that holds the complete job, if there is one; the
/// largest bins first; the bins as given.
fn fillings(bins: &BTreeMap<Bin, usize>, nodes: usize) -> Vec<Vec<(Bin, usize)>> {
    let standing: Vec<(Bin, usize)> = bins.iter().map(|(bin, room)| (*bin, *room)).collect();
    let mut largest = standing.clone();
    largest.sort_by_key(|(bin, room)| (std::cmp::Reverse(*room), *bin));
    let whole = standing.iter().filter(|(_, room)| *room >= nodes).min_by_key(|(bin, room)| (*room, *bin));
    whole.map(|bin| vec![*bin]).into_iter().chain([largest, standing]).collect()
}

/// Fills bins from a row, in whole groups; `None` if they do not fit.
fn fill(row: &[usize], group: usize, bins: &[(Bin, usize)]) -> Option<Vec<Bin>> {
    let mut rest = row;
    let mut found = vec![(0, 0); row.len()];
    for (bin, room) in bins {
        let take = (room / group * group).min(rest.len());
        let (here, behind) = rest.split_at(take);
        for node in here {
            found[*node] = *bin;
        }
        rest = behind;
    }
    rest.is_empty().then_some(found)
}

fn cut(edges: &Edges, bins: &[Bin]) -> u64 {
    edges.iter().filter(|(a, b, _)| bins[*a] != bins[*b]).map(|(_, _, bytes)| bytes).sum()
}

/// Swaps pairs of nodes in different bins while that reduces the cut, for at most `ROUNDS` rounds (Kernighan
/// and Lin, without intermediate losses).
fn swap(edges: &Edges, bins: &mut [Bin]) {
    let nodes = bins.len();
    if nodes.saturating_mul(nodes) > PAIRS_MAX {
        return;
    }
    for _ in 0..ROUNDS {
        let mut changed = false;
        // Only nodes with an edge between bins can gain.
        let border: Vec<usize> = (0..nodes)
            .filter(|node| edges.of(*node).iter().any(|(other, _)| bins[*other] != bins[*node]))
            .collect();
        for (place, a) in border.iter().enumerate() {
            for b in &border[place + 1..] {
                if bins[*a] != bins[*b] && gain(edges, bins, *a, *b) > 0 {
                    bins.swap(*a, *b);
                    changed = true;
                }
            }
        }
        if !changed {
            return;
        }
    }
}

/// Returns the reduction of the cut by swapping two nodes.
fn gain(edges: &Edges, bins: &[Bin], a: usize, b: usize) -> i128 {
    let one = |node: usize, other: usize| -> i128 {
        let (from, to) = (bins[node], bins[other]);
        let of = |(far, bytes): &(usize, u64)| {
            let bytes = i128::from(*bytes);
            // Edges between the two stay cut.
            if *far == other {
                0
            } else if bins[*far] == to {
                bytes
            } else if bins[*far] == from {
                -bytes
            } else {
                0
            }
        };
        edges.of(node).iter().map(of).sum()
    };
    one(a, b) + one(b, a)
}
