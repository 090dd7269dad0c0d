//! V16: in fabrics with PFC, buffers never wait for each other in a cycle.
//!
//! A packet stays in the buffer behind its ingress cable until its egress cable may send, which depends on the buffer
//! behind that cable. If such dependencies form a cycle and all its buffers are full, no packet in it ever moves again.
//! The dependency graph ([`rings`]) has two sources: segment lists from hosts ([`lists`]), and routes by which switches
//! choose, static or from BGP ([`routes`]). Invariants: at most one cycle is reported per strongly connected component,
//! the shortest one found.

pub(crate) mod lists;
pub(crate) mod routes;

use std::collections::{BTreeMap, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use crate::model::cabling::{CableId, Side};
use crate::model::fabric::Fabric;

/// One direction of a cable, identified by its sender.
pub(crate) type Channel = (CableId, Side);

/// Maximum number of edges, over all components, from which a shortest cycle is searched for.
const TRIED: usize = 4096;

/// Returns whether any port uses PFC.
fn has_pauses(fabric: &Fabric) -> bool {
    fabric.facts.iter().any(|facts| facts.qos.as_ref().is_some_and(|qos| !qos.pauses.is_empty()))
}

/// Returns one cycle per strongly connected component: the shortest that contains one of the edges `over`. Only the
/// first [`TRIED`] of these edges inside components are examined. Each member waits for the next one, and the last for
/// the first. A cycle over the edge `(a, b)` begins with `b`.
fn rings<N: Copy + Ord>(waits: &[(N, N)], over: &[(N, N)]) -> Vec<Vec<N>> {
    let mut names: Vec<N> = waits.iter().flat_map(|(a, b)| [*a, *b]).collect();
    names.sort_unstable();
    names.dedup();
    let place = |name: N| names.binary_search(&name).ok();
    let mut edges: Vec<(u32, u32)> =
        waits.iter().filter_map(|(a, b)| Some((place(*a)? as u32, place(*b)? as u32))).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(names.len(), edges.len());
    for _ in &names {
        graph.add_node(());
    }
    graph.extend_with_edges(&edges);
    let mut knots = vec![0; names.len()];
    for (number, members) in kosaraju_scc(&graph).into_iter().enumerate() {
        for member in members {
            knots[member.index()] = number;
        }
    }
    let ends = over.iter().filter_map(|(a, b)| Some((place(*a)?, place(*b)?)));
    let inside = ends.filter(|(a, b)| knots[*a] == knots[*b]);
    let mut shortest: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (from, to) in inside.take(TRIED) {
        let Some(ring) = shortest_path(&edges, &knots, to, from) else { continue };
        let known = shortest.get(&knots[from]);
        if known.is_none_or(|known| ring.len() < known.len()) {
            shortest.insert(knots[from], ring);
        }
    }
    shortest.into_values().map(|ring| ring.into_iter().map(|at| names[at]).collect()).collect()
}

/// Returns the shortest path from one vertex to another of the same component, including both.
fn shortest_path(edges: &[(u32, u32)], knots: &[usize], from: usize, to: usize) -> Option<Vec<usize>> {
    let mut before: BTreeMap<usize, usize> = BTreeMap::from([(from, from)]);
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        if at == to {
            let mut way = vec![at];
            while let Some(earlier) = way.last().filter(|last| **last != from).map(|last| before[last]) {
                way.push(earlier);
            }
            way.reverse();
            return Some(way);
        }
        let first = edges.partition_point(|(a, _)| (*a as usize) < at);
        for (_, next) in edges[first..].iter().take_while(|(a, _)| *a as usize == at) {
            let next = *next as usize;
            if knots[next] == knots[at] && !before.contains_key(&next) {
                before.insert(next, at);
                open.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(waits: &[(u8, u8)]) -> Vec<Vec<u8>> {
        rings(waits, waits)
    }

    #[test]
    fn up_and_down_is_no_ring() {
        assert_eq!(all(&[(1, 2), (2, 3), (1, 3), (3, 4)]), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_ring_is_reported_once_around() {
        assert_eq!(all(&[(4, 1), (9, 1), (1, 2), (2, 3), (3, 4), (3, 7)]), [[1, 2, 3, 4]]);
        assert_eq!(all(&[(5, 5)]), [[5]]);
    }

    #[test]
    fn each_knot_tells_its_shortest() {
        let waits = [(1, 2), (2, 3), (3, 1), (2, 1), (7, 8), (8, 7), (3, 7)];
        let mut found = all(&waits);
        found.sort();
        assert_eq!(found, [[2, 1], [8, 7]]);
        assert_eq!(rings(&waits, &[(3, 1)]), [[1, 2, 3]]);
    }
}
