//! The fabric as a graph: switches and NICs are vertices, cables are edges.
//!
//! In: a fabric. Out: a petgraph graph whose vertices are in the order of [`Fabric::switches`], then
//! [`Fabric::nics`]. It answers questions that coordinates alone cannot, such as connectivity after exceptions or
//! failures.

use closc_topology::{Link, Nic, NicPort, Switch};
use petgraph::graph::{NodeIndex, UnGraph};
use petgraph::unionfind::UnionFind;

use crate::Fabric;

/// A vertex of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vertex {
    /// A switch.
    Switch(Switch),
    /// A NIC, with one edge per plane.
    Nic(Nic),
}

/// The fabric as a graph.
#[derive(Debug)]
pub struct FabricGraph {
    graph: UnGraph<Vertex, ()>,
    switches: usize,
}

impl FabricGraph {
    /// Builds the graph of all existing devices and cables.
    pub fn of(fabric: &Fabric) -> Self {
        let vertices: Vec<Vertex> =
            fabric.switches().map(Vertex::Switch).chain(fabric.nics().map(Vertex::Nic)).collect();
        let switches = vertices.iter().take_while(|v| matches!(v, Vertex::Switch(_))).count();
        let index = Index::new(fabric, &vertices[..switches], &vertices[switches..]);
        let links = fabric.links().size_hint().0;
        let mut graph = UnGraph::with_capacity(vertices.len(), links);
        for vertex in vertices {
            graph.add_node(vertex);
        }
        for link in fabric.links() {
            if let Some((a, b)) = index.ends(fabric, link) {
                graph.add_edge(a, b, ());
            }
        }
        FabricGraph { graph, switches }
    }

    /// Returns the graph itself.
    pub fn graph(&self) -> &UnGraph<Vertex, ()> {
        &self.graph
    }

    /// Returns the NICs without any cable.
    pub fn isolated_nics(&self) -> impl Iterator<Item = Nic> + '_ {
        self.graph.node_indices().skip(self.switches).filter_map(|at| {
            let lonely = self.graph.first_edge(at, petgraph::Direction::Outgoing).is_none()
                && self.graph.first_edge(at, petgraph::Direction::Incoming).is_none();
            match self.graph[at] {
                Vertex::Nic(nic) if lonely => Some(nic),
                Vertex::Nic(_) | Vertex::Switch(_) => None,
            }
        })
    }

    /// Returns the number of connected components that contain a NIC; 1 for a connected fabric.
    pub fn islands(&self) -> usize {
        let mut sets = UnionFind::new(self.graph.node_count());
        for edge in self.graph.raw_edges() {
            sets.union(edge.source().index(), edge.target().index());
        }
        let mut roots: Vec<usize> =
            (self.switches..self.graph.node_count()).map(|at| sets.find_mut(at)).collect();
        roots.sort_unstable();
        roots.dedup();
        roots.len()
    }
}

/// Vertices by coordinate: a map for switches, and a dense array for NICs.
struct Index {
    switches: std::collections::BTreeMap<Switch, u32>,
    nics: Vec<u32>,
    per_group: usize,
    groups: usize,
}

const NO_VERTEX: u32 = u32::MAX;

impl Index {
    fn new(fabric: &Fabric, switches: &[Vertex], nics: &[Vertex]) -> Self {
        let topology = fabric.topology();
        let (groups, per_group) = (usize::from(topology.hosts.groups), usize::from(topology.hosts.per_group));
        let mut index = Index {
            switches: std::collections::BTreeMap::new(),
            nics: vec![NO_VERTEX; usize::from(topology.zones) * groups * per_group],
            per_group,
            groups,
        };
        for (at, vertex) in switches.iter().chain(nics).enumerate() {
            match vertex {
                Vertex::Switch(switch) => {
                    index.switches.insert(*switch, at as u32);
                }
                Vertex::Nic(nic) => {
                    let slot = index.slot(*nic);
                    index.nics[slot] = at as u32;
                }
            }
        }
        index
    }

    fn slot(&self, nic: Nic) -> usize {
        (usize::from(nic.zone.0) * self.groups + usize::from(nic.group)) * self.per_group
            + usize::from(nic.downlink)
    }

    fn ends(&self, fabric: &Fabric, link: Link) -> Option<(NodeIndex, NodeIndex)> {
        let (upper, _) = fabric.upper_end(link)?;
        let upper = *self.switches.get(&upper)?;
        let lower = match link {
            Link::Host(NicPort { nic, .. }) => self.nics[self.slot(nic)],
            Link::Fabric { lower, .. } => *self.switches.get(&lower)?,
        };
        (lower != NO_VERTEX).then(|| (NodeIndex::new(lower as usize), NodeIndex::new(upper as usize)))
    }
}
