//! Placement of the ranks of a job on nodes, with little traffic across zones and T0 groups.
//!
//! In: the free nodes, the shape of a job and the traffic of its groups. Out: a [`Placement`]: nodes in rank order, and
//! the traffic across zones, compared with placement by name. Invariants: the same input gives the same placement. No
//! node is used twice. Traffic across zones is never higher than with placement by name.
//!
//! A job is a graph: its nodes by rank, and the bytes that two of them exchange in a step ([`Job::edges`]). A minimum
//! cut over zones is hard to find in general, but the graph of a job is a grid of groups. The algorithm tries the
//! orders that keep one kind of group together, and fills zones in whole groups or completely. It takes the best
//! result and swaps pairs of nodes while that improves it ([`cut`]). Inside a zone it does the same over units, whose
//! nodes share their T0 groups.

mod cut;
mod job;

use std::collections::BTreeMap;

use closc_topology::Node;
use schemars::JsonSchema;
use serde::Serialize;
use smol_str::SmolStr;

use crate::plan::Plan;

pub use job::{Job, JobError, Traffic};

/// Assignment of a job to nodes.
#[derive(Debug, Clone, Serialize)]
pub struct Placement {
    /// The node of each block of ranks, in rank order.
    pub nodes: Vec<PlacedNode>,
    /// Traffic across zones with this placement.
    pub placed: Crossing,
    /// Traffic across zones if ranks were assigned to the free nodes in the order of names.
    pub by_name: Crossing,
}

/// A node and its first rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedNode {
    /// Name of the node.
    pub name: SmolStr,
    /// Its first rank; the other ranks of its GPUs follow.
    pub first_rank: u32,
    /// Its zone.
    pub zone: u16,
    /// Its unit: nodes that share their T0 groups.
    pub unit: u16,
}

/// Traffic across zones and units in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Crossing {
    /// Number of zones with nodes of the job.
    pub zones: usize,
    /// Pairs of nodes in different zones that exchange data.
    pub zone_edges: u64,
    /// Bytes between zones.
    pub zone_bytes: u64,
    /// Pairs of nodes in different units that exchange data.
    pub unit_edges: u64,
    /// Bytes between units, including those between zones.
    pub unit_bytes: u64,
}

/// Nodes that share their T0 groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitNodes {
    /// Its zone.
    pub zone: u16,
    /// Its number in the zone, from 0.
    pub unit: u16,
    /// Names of its nodes, in order.
    pub nodes: Vec<SmolStr>,
}

impl Plan {
    /// Returns the nodes unit by unit.
    pub fn units(&self) -> Vec<UnitNodes> {
        let mut found: BTreeMap<Bin, Vec<SmolStr>> = BTreeMap::new();
        for node in self.nodes() {
            found.entry((node.zone.0, node.unit)).or_default().push(self.topology().naming.node(node));
        }
        found.into_iter().map(|((zone, unit), nodes)| UnitNodes { zone, unit, nodes }).collect()
    }

    /// Places a job on free nodes.
    pub fn place(&self, job: &Job, free: &[Node]) -> Result<Placement, JobError> {
        let needed = job.nodes();
        if free.len() < needed {
            return Err(JobError::TooFewNodes { needed, free: free.len() });
        }
        let mut by_name = free.to_vec();
        by_name.sort_unstable();
        let edges = job.edges();
        let by_zone = capacities(&by_name, |node| (node.zone.0, 0));
        let naive: Vec<Node> = by_name[..needed].to_vec();
        let zones = cut::place(job, &edges, &by_zone, &zones_of(&naive));
        let mut nodes: Vec<Option<Node>> = vec![None; needed];
        for zone in zones.iter().copied().collect::<std::collections::BTreeSet<_>>() {
            let members: Vec<usize> = (0..needed).filter(|at| zones[*at] == zone).collect();
            let here: Vec<Node> = by_name.iter().copied().filter(|node| node.zone.0 == zone.0).collect();
            fill_zone(job, &edges, &members, &here, &mut nodes);
        }
        let nodes: Vec<Node> = nodes.into_iter().flatten().collect();
        let placed = crossing(&edges, &nodes);
        Ok(Placement {
            nodes: nodes.iter().enumerate().map(|(at, node)| self.placed_node(job, at, *node)).collect(),
            placed,
            by_name: crossing(&edges, &naive),
        })
    }

    fn placed_node(&self, job: &Job, at: usize, node: Node) -> PlacedNode {
        PlacedNode {
            name: self.topology().naming.node(node),
            first_rank: u32::try_from(at).unwrap_or(u32::MAX).saturating_mul(job.gpus_per_node()),
            zone: node.zone.0,
            unit: node.unit,
        }
    }
}

/// The zone and unit of a node, or its zone and 0 if units do not matter. Nodes with an equal value are in one bin.
type Bin = (u16, u16);

fn zones_of(nodes: &[Node]) -> Vec<Bin> {
    nodes.iter().map(|node| (node.zone.0, 0)).collect()
}

/// Returns the number of free nodes in each bin.
fn capacities(nodes: &[Node], bin: impl Fn(&Node) -> Bin) -> BTreeMap<Bin, usize> {
    let mut found = BTreeMap::new();
    for node in nodes {
        *found.entry(bin(node)).or_insert(0) += 1;
    }
    found
}

/// Assigns the part of a job in one zone to the units of the zone.
fn fill_zone(job: &Job, edges: &job::Edges, members: &[usize], here: &[Node], nodes: &mut [Option<Node>]) {
    let unit = |node: &Node| (node.zone.0, node.unit);
    let (inner, number) = edges.subgraph(members);
    let naive: Vec<Bin> = here[..members.len()].iter().map(unit).collect();
    let units = cut::place_part(job, &inner, &number, &capacities(here, unit), &naive);
    let mut free: BTreeMap<Bin, Vec<Node>> = BTreeMap::new();
    for node in here.iter().rev() {
        free.entry(unit(node)).or_default().push(*node);
    }
    for (at, unit) in members.iter().zip(units) {
        nodes[*at] = free.get_mut(&unit).and_then(Vec::pop);
    }
}

fn crossing(edges: &job::Edges, nodes: &[Node]) -> Crossing {
    let mut crossing =
        Crossing { zones: capacities(nodes, |node| (node.zone.0, 0)).len(), ..Crossing::default() };
    for (a, b, bytes) in edges.iter() {
        let (a, b) = (nodes[a], nodes[b]);
        if a.zone != b.zone {
            crossing.zone_edges += 1;
            crossing.zone_bytes += bytes;
        }
        if (a.zone, a.unit) != (b.zone, b.unit) {
            crossing.unit_edges += 1;
            crossing.unit_bytes += bytes;
        }
    }
    crossing
}
