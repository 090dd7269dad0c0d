//! The best single path between two groups in a plane.
//!
//! In: a cost per cable, and a function that combines two costs (the sum for the shortest path, the maximum for the
//! widest). Out: the path with the lowest cost. Invariants: only usable cables; among equal paths, the first.
//!
//! With source routing, the cables up and down have the same number, and so do the T1s in both zones, because uSIDs
//! encode paths that way. If switches choose, a path may go down over any cable.

use crate::load::Stage;
use crate::network::{Kind, Network};

/// A path between two groups, as indices of cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// T0 to T1.
    pub(crate) up: u32,
    /// T1 to T2 and T2 to T1, between zones.
    pub(crate) over: Option<(u32, u32)>,
    /// T1 to T0.
    pub(crate) down: u32,
}

impl Route {
    /// Returns the cables with their directions, in the order of the path.
    pub(crate) fn cables(self) -> impl Iterator<Item = (Stage, usize)> {
        let (t1_up, t1_down) = self.over.unzip();
        [
            (Stage::T0Up, Some(self.up)),
            (Stage::T1Up, t1_up),
            (Stage::T1Down, t1_down),
            (Stage::T0Down, Some(self.down)),
        ]
        .into_iter()
        .filter_map(|(stage, at)| Some((stage, at? as usize)))
    }
}

/// Finds paths in one kind of planes.
pub(crate) struct Finder<'a, W, J> {
    pub(crate) network: &'a Network,
    pub(crate) kind: &'a Kind,
    /// Returns the cost of a cable.
    pub(crate) weigh: W,
    /// Combines the costs of two parts of a path.
    pub(crate) join: J,
}

/// The lowest cost so far, and the candidate that has it.
type BestCandidate<V, T = usize> = Option<(V, T)>;

fn better<V: PartialOrd + Copy, T>(best: &mut BestCandidate<V, T>, value: V, at: T) {
    if best.as_ref().is_none_or(|(known, _)| value < *known) {
        *best = Some((value, at));
    }
}

impl<V: PartialOrd + Copy, W: Fn(Stage, usize) -> V, J: Fn(V, V) -> V> Finder<'_, W, J> {
    /// Returns the best path between two different groups, with its cost.
    pub(crate) fn find(&self, a: usize, b: usize) -> Option<(V, Route)> {
        let shape = &self.network.shape;
        match (shape.zone(a) == shape.zone(b), self.network.hop_by_hop) {
            (true, false) => self.same_cable_route(a, b),
            (true, true) => self.any_cable_route(a, b),
            (false, false) => self.same_t1_route(a, b),
            (false, true) => self.any_t1_route(a, b),
        }
    }

    fn t0(&self, stage: Stage, at: usize) -> Option<V> {
        self.kind.t0[at].then(|| (self.weigh)(stage, at))
    }

    fn t1(&self, stage: Stage, at: usize) -> Option<V> {
        self.kind.t1[at].then(|| (self.weigh)(stage, at))
    }

    /// Returns the best of the parallel cables between a T0 and a T1.
    fn cable(&self, stage: Stage, group: usize, t1: usize) -> BestCandidate<V> {
        let shape = &self.network.shape;
        let mut best = None;
        let first = shape.first_t0_uplink(group) + t1 * shape.t0_parallel;
        for at in first..first + shape.t0_parallel {
            if let Some(value) = self.t0(stage, at) {
                better(&mut best, value, at);
            }
        }
        best
    }

    fn same_cable_route(&self, a: usize, b: usize) -> Option<(V, Route)> {
        let shape = &self.network.shape;
        let (first_up, first_down) = (shape.first_t0_uplink(a), shape.first_t0_uplink(b));
        let mut best = None;
        for u in 0..shape.t0_up {
            let ends = (self.t0(Stage::T0Up, first_up + u), self.t0(Stage::T0Down, first_down + u));
            if let (Some(up), Some(down)) = ends {
                better(&mut best, (self.join)(up, down), u);
            }
        }
        let (value, u) = best?;
        Some((value, Route { up: (first_up + u) as u32, over: None, down: (first_down + u) as u32 }))
    }

    fn any_cable_route(&self, a: usize, b: usize) -> Option<(V, Route)> {
        let mut best: BestCandidate<V, Route> = None;
        for t1 in 0..self.network.shape.t1s {
            let ends = (self.cable(Stage::T0Up, a, t1), self.cable(Stage::T0Down, b, t1));
            if let (Some((up, u)), Some((down, d))) = ends {
                let value = (self.join)(up, down);
                better(&mut best, value, Route { up: u as u32, over: None, down: d as u32 });
            }
        }
        best
    }

    fn same_t1_route(&self, a: usize, b: usize) -> Option<(V, Route)> {
        let shape = &self.network.shape;
        let (first_up, first_down) = (shape.first_t0_uplink(a), shape.first_t0_uplink(b));
        let mut best: BestCandidate<V, Route> = None;
        for t1 in 0..shape.t1s {
            let mut ends = None;
            for u in t1 * shape.t0_parallel..(t1 + 1) * shape.t0_parallel {
                let both = (self.t0(Stage::T0Up, first_up + u), self.t0(Stage::T0Down, first_down + u));
                if let (Some(up), Some(down)) = both {
                    better(&mut ends, (self.join)(up, down), u);
                }
            }
            let Some((ends, u)) = ends else { continue };
            let (up_at, down_at) =
                (shape.first_t1_uplink(shape.zone(a), t1), shape.first_t1_uplink(shape.zone(b), t1));
            let mut middle = None;
            for v in 0..shape.t1_up {
                let both = (self.t1(Stage::T1Up, up_at + v), self.t1(Stage::T1Down, down_at + v));
                if let (Some(up), Some(down)) = both {
                    better(&mut middle, (self.join)(up, down), v);
                }
            }
            let Some((over, v)) = middle else { continue };
            let value = (self.join)(ends, over);
            let over = Some(((up_at + v) as u32, (down_at + v) as u32));
            better(
                &mut best,
                value,
                Route { up: (first_up + u) as u32, over, down: (first_down + u) as u32 },
            );
        }
        best
    }

    fn any_t1_route(&self, a: usize, b: usize) -> Option<(V, Route)> {
        let shape = &self.network.shape;
        let ends = |stage: Stage, group: usize| -> Vec<BestCandidate<V>> {
            (0..shape.t1s).map(|t1| self.cable(stage, group, t1)).collect()
        };
        let (ups, downs) = (ends(Stage::T0Up, a), ends(Stage::T0Down, b));
        let reach = |stage: Stage, ends: &[BestCandidate<V>], zone: usize, below: &[(usize, usize)]| {
            let mut best: BestCandidate<V, (usize, usize)> = None;
            for (t1, v) in below {
                let at = shape.first_t1_uplink(zone, *t1) + v;
                if let (Some((end, cable)), Some(over)) = (ends[*t1], self.t1(stage, at)) {
                    better(&mut best, (self.join)(end, over), (cable, at));
                }
            }
            best
        };
        let mut best: BestCandidate<V, Route> = None;
        for below in &self.network.t2_downlinks {
            let up = reach(Stage::T1Up, &ups, shape.zone(a), below);
            let down = reach(Stage::T1Down, &downs, shape.zone(b), below);
            if let (Some((up, (up_at, over_up))), Some((down, (down_at, over_down)))) = (up, down) {
                let over = Some((over_up as u32, over_down as u32));
                let route = Route { up: up_at as u32, over, down: down_at as u32 };
                better(&mut best, (self.join)(up, down), route);
            }
        }
        best
    }
}
