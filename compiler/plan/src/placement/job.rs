//! The shape of a job, and the traffic between its nodes.
//!
//! In: the sizes of its groups. Out: edges between nodes, which are numbered in rank order. Invariants: ranks are
//! numbered as in Megatron-LM: tensor-parallel ranks change fastest, then data-parallel ranks, then pipeline stages.
//! In a ring, each rank sends to the next one, the last to the first.

use std::collections::BTreeMap;

/// The shape of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    tensor: u32,
    data: u32,
    pipeline: u32,
    gpus_per_node: u32,
    traffic: Traffic,
}

/// Bytes of traffic of one rank in a step, by kind of group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// To the next rank of its tensor-parallel group.
    pub tensor: u64,
    /// To the next rank of its data-parallel group.
    pub data: u64,
    /// To the same rank of the next pipeline stage, and back.
    pub pipeline: u64,
}

/// Why a job cannot be placed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The sizes of groups are invalid.
    #[error(
        "invalid group sizes {tensor} x {data} x {pipeline}: expected numbers from 1 with a product below 2^32"
    )]
    InvalidSizes {
        /// Tensor-parallel ranks.
        tensor: u32,
        /// Data-parallel ranks.
        data: u32,
        /// Pipeline stages.
        pipeline: u32,
    },
    /// The ranks do not fill the last node.
    #[error(
        "{ranks} ranks do not fill nodes of {gpus_per_node} GPUs: {ranks} / {gpus_per_node} is not a whole number"
    )]
    PartOfANode {
        /// Ranks.
        ranks: u32,
        /// GPUs of a node.
        gpus_per_node: u32,
    },
    /// There are not enough nodes.
    #[error("the job needs {needed} nodes, but only {free} are free")]
    TooFewNodes {
        /// Nodes of the job.
        needed: usize,
        /// Free nodes.
        free: usize,
    },
}

/// Order of a job's nodes before it is partitioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// In rank order: the data-parallel ranks of a stage are together.
    Stages,
    /// All stages of a data-parallel rank are together.
    Replicas,
}

impl Job {
    /// Creates a job from the sizes of its groups.
    pub fn new(
        (tensor, data, pipeline): (u32, u32, u32),
        gpus_per_node: u32,
        traffic: Traffic,
    ) -> Result<Self, JobError> {
        let ranks = tensor.checked_mul(data).and_then(|ranks| ranks.checked_mul(pipeline));
        let Some(ranks) = ranks.filter(|ranks| *ranks > 0) else {
            return Err(JobError::InvalidSizes { tensor, data, pipeline });
        };
        if gpus_per_node == 0 || !ranks.is_multiple_of(gpus_per_node) {
            return Err(JobError::PartOfANode { ranks, gpus_per_node });
        }
        Ok(Job { tensor, data, pipeline, gpus_per_node, traffic })
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> u32 {
        self.tensor * self.data * self.pipeline
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        (self.ranks() / self.gpus_per_node) as usize
    }

    /// Returns the number of GPUs of a node; each is one rank.
    pub fn gpus_per_node(&self) -> u32 {
        self.gpus_per_node
    }

    fn node_of(&self, tensor: u32, data: u32, pipeline: u32) -> usize {
        ((tensor + self.tensor * (data + self.data * pipeline)) / self.gpus_per_node) as usize
    }

    /// Returns the nodes in the given order, and the number of consecutive nodes that contain one stage or replica.
    pub(super) fn ordered_nodes(&self, order: Order) -> (Vec<usize>, usize) {
        match order {
            Order::Stages => {
                let stage = self.tensor * self.data / self.gpus_per_node;
                ((0..self.nodes()).collect(), stage.max(1) as usize)
            }
            Order::Replicas => {
                let mut seen = vec![false; self.nodes()];
                let mut row = Vec::with_capacity(self.nodes());
                for data in 0..self.data {
                    for pipeline in 0..self.pipeline {
                        for tensor in 0..self.tensor {
                            let node = self.node_of(tensor, data, pipeline);
                            if !std::mem::replace(&mut seen[node], true) {
                                row.push(node);
                            }
                        }
                    }
                }
                let nodes = (self.tensor * self.pipeline)
                    .div_ceil(self.gpus_per_node)
                    .max(self.pipeline.min(u32::try_from(self.nodes()).unwrap_or(u32::MAX)));
                (row, nodes as usize)
            }
        }
    }

    /// Returns the bytes that each two nodes exchange in a step.
    pub(super) fn edges(&self) -> Edges {
        let mut found: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut add = |a: usize, b: usize, bytes: u64| {
            if a != b && bytes > 0 {
                *found.entry((a.min(b), a.max(b))).or_default() += bytes;
            }
        };
        for pipeline in 0..self.pipeline {
            for data in 0..self.data {
                for tensor in 0..self.tensor {
                    let here = self.node_of(tensor, data, pipeline);
                    add(here, self.node_of((tensor + 1) % self.tensor, data, pipeline), self.traffic.tensor);
                    add(here, self.node_of(tensor, (data + 1) % self.data, pipeline), self.traffic.data);
                    if pipeline + 1 < self.pipeline {
                        add(here, self.node_of(tensor, data, pipeline + 1), self.traffic.pipeline);
                    }
                }
            }
        }
        Edges::new(self.nodes(), found.into_iter().map(|((a, b), bytes)| (a, b, bytes)).collect())
    }
}

/// Bytes between nodes.
#[derive(Debug, Clone)]
pub(super) struct Edges {
    all: Vec<(usize, usize, u64)>,
    /// For each node, the other nodes and the bytes exchanged with them.
    of: Vec<Vec<(usize, u64)>>,
}

impl Edges {
    fn new(nodes: usize, all: Vec<(usize, usize, u64)>) -> Self {
        let mut of = vec![Vec::new(); nodes];
        for (a, b, bytes) in &all {
            of[*a].push((*b, *bytes));
            of[*b].push((*a, *bytes));
        }
        Edges { all, of }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        self.all.iter().copied()
    }

    pub(super) fn of(&self, node: usize) -> &[(usize, u64)] {
        &self.of[node]
    }

    /// Returns the edges among some nodes, renumbered, and the old numbers.
    pub(super) fn subgraph(&self, members: &[usize]) -> (Edges, Vec<usize>) {
        let place: BTreeMap<usize, usize> =
            members.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        let inner =
            self.all.iter().filter_map(|(a, b, bytes)| Some((*place.get(a)?, *place.get(b)?, *bytes)));
        (Edges::new(members.len(), inner.collect()), members.to_vec())
    }
}
