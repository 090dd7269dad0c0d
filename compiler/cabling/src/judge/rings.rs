//! Cables that have exchanged ends.
//!
//! In: unplanned edges between ends. Out: groups of edges. Two edges are in one group if they occupy ends of
//! the same planned cable. A group is closed if it has at least two planned cables and its edges occupy
//! exactly the ends of these. Then no cable is missing; the cables have only exchanged ends.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::End;
use closc_topology::Link;

/// A group of edges that occupy ends of the same planned cables.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ring {
    /// Planned cables whose ends the edges occupy.
    pub(super) cables: Vec<Link>,
    /// Actual connections.
    pub(super) edges: Vec<(End, End)>,
    /// Whether the edges occupy exactly the ends of these cables.
    pub(super) is_closed: bool,
}

/// Groups edges by the planned cables whose ends they occupy.
pub(super) fn rings(edges: &BTreeSet<(End, End)>, cable_of: impl Fn(End) -> Option<Link>) -> Vec<Ring> {
    let mut by_cable: BTreeMap<Link, Vec<(End, End)>> = BTreeMap::new();
    for edge in edges {
        for link in [edge.0, edge.1].into_iter().filter_map(&cable_of) {
            by_cable.entry(link).or_default().push(*edge);
        }
    }
    let mut left = edges.clone();
    let mut rings = Vec::new();
    while let Some(first) = left.pop_first() {
        let mut ring = Ring { cables: Vec::new(), edges: Vec::new(), is_closed: false };
        let (mut cables, mut open) = (BTreeSet::new(), vec![first]);
        while let Some(edge) = open.pop() {
            ring.edges.push(edge);
            for link in [edge.0, edge.1].into_iter().filter_map(&cable_of) {
                if cables.insert(link) {
                    open.extend(by_cable.get(&link).into_iter().flatten().filter(|next| left.remove(next)));
                }
            }
        }
        let ends: BTreeSet<End> = ring.edges.iter().flat_map(|(a, b)| [*a, *b]).collect();
        ring.is_closed = cables.len() >= 2
            && ends.len() == 2 * ring.edges.len()
            && cables.len() == ring.edges.len()
            && ends.iter().all(|end| cable_of(*end).is_some());
        ring.edges.sort_unstable();
        ring.cables = cables.into_iter().collect();
        rings.push(ring);
    }
    rings
}
