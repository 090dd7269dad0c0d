//! Spreading of a source-routed commodity over planes and uplinks.
//!
//! In: a commodity, and its weights if it has any. Out: its fraction on every cable. Invariants: without weights it is
//! spread evenly over its planes and, in a plane, over all usable paths, as host path tables do. Unusable cables have
//! weight 0.

use crate::commodity::{Commodity, Sides};
use crate::load::{LinkValues, Stage};
use crate::network::{Kind, Network};

/// The largest weight of a plane.
pub(crate) const PLANE_MAX: u16 = 1000;

/// Weights of a commodity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Weights {
    /// Weight of each plane of a kind, by kind; at least one is not 0.
    pub(crate) planes: Box<[u16]>,
    /// Weights within the planes of a kind; `None` if all paths have equal weights.
    pub(crate) plane_weights: Box<[Option<PlaneWeights>]>,
}

/// Weights within a plane.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlaneWeights {
    /// Weight of each uplink of the T0.
    pub(crate) t0: Box<[u8]>,
    /// Weight of each uplink of each T1; empty within a zone.
    pub(crate) t1: Box<[u8]>,
}

/// Weights of all commodities; `None` if the commodity is spread evenly.
pub(crate) type Splits = Vec<Option<Box<Weights>>>;

/// Returns the fraction of a commodity on each plane of a kind.
pub(crate) fn share(network: &Network, commodity: &Commodity, weights: Option<&Weights>, kind: usize) -> f64 {
    if commodity.usable >> kind & 1 == 0 {
        return 0.0;
    }
    let weight = |kind: usize| weights.map_or(1.0, |weights| f64::from(weights.planes[kind]));
    let all = (0..network.kinds.len())
        .filter(|kind| commodity.usable >> kind & 1 == 1)
        .map(|kind| network.kinds[kind].count() * weight(kind));
    weight(kind) / all.sum::<f64>()
}

/// The fractions of one commodity in one plane.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlaneFractions {
    /// Fraction on each uplink of the T0. The sum is 1, or 0 without a path.
    pub(crate) t0: Vec<f64>,
    /// Fraction of a T1's traffic on each of its uplinks.
    pub(crate) t1: Vec<f64>,
    /// Number of paths that can be used.
    pub(crate) paths: usize,
}

/// The two groups of a commodity, and whether they are in different zones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupPair {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) far: bool,
}

impl GroupPair {
    /// Returns the groups of a commodity; `None` within a group, where it uses no cable between switches.
    pub(crate) fn of(network: &Network, sides: &Sides, commodity: &Commodity) -> Option<GroupPair> {
        let a = sides.from.all[commodity.from as usize].group;
        let b = sides.to.all[commodity.to as usize].group;
        let far = network.shape.zone(a) != network.shape.zone(b);
        (a != b).then_some(GroupPair { a, b, far })
    }
}

impl PlaneFractions {
    /// Spreads a commodity over its paths in a plane of a kind.
    pub(crate) fn spread(
        &mut self,
        network: &Network,
        kind: &Kind,
        run: GroupPair,
        within: Option<&PlaneWeights>,
    ) {
        let shape = &network.shape;
        self.t0.clear();
        self.t0.resize(shape.t0_up, 0.0);
        self.paths = 0;
        self.upper(network, kind, run, within);
        let (up, down) = (shape.first_t0_uplink(run.a), shape.first_t0_uplink(run.b));
        let mut sum = 0.0;
        for u in 0..shape.t0_up {
            if !kind.t0[up + u] || !kind.t0[down + u] {
                continue;
            }
            let over =
                if run.far { PlaneFractions::count(network, kind, run, u / shape.t0_parallel) } else { 1 };
            self.paths += over;
            let weight = match within {
                None => over as f64,
                Some(_) if over == 0 => 0.0,
                Some(within) => f64::from(within.t0[u]),
            };
            self.t0[u] = weight;
            sum += weight;
        }
        if sum > 0.0 {
            self.t0.iter_mut().for_each(|part| *part /= sum);
        }
    }

    /// Spreads the traffic of each T1 over its uplinks.
    fn upper(&mut self, network: &Network, kind: &Kind, run: GroupPair, within: Option<&PlaneWeights>) {
        let shape = &network.shape;
        self.t1.clear();
        if !run.far {
            return;
        }
        self.t1.resize(shape.t1s * shape.t1_up, 0.0);
        let (za, zb) = (shape.zone(run.a), shape.zone(run.b));
        for t1 in 0..shape.t1s {
            let (up, down) = (shape.first_t1_uplink(za, t1), shape.first_t1_uplink(zb, t1));
            let own = &mut self.t1[t1 * shape.t1_up..][..shape.t1_up];
            for (v, part) in own.iter_mut().enumerate() {
                let weight = within.map_or(1.0, |within| f64::from(within.t1[t1 * shape.t1_up + v]));
                *part = if kind.t1[up + v] && kind.t1[down + v] { weight } else { 0.0 };
            }
            let sum: f64 = own.iter().sum();
            if sum > 0.0 {
                for part in own {
                    *part /= sum;
                }
            }
        }
    }

    /// Returns how many uplinks of a T1 lead to the other zone's T1.
    fn count(network: &Network, kind: &Kind, run: GroupPair, t1: usize) -> usize {
        let shape = &network.shape;
        let up = &kind.t1[shape.first_t1_uplink(shape.zone(run.a), t1)..][..shape.t1_up];
        let down = &kind.t1[shape.first_t1_uplink(shape.zone(run.b), t1)..][..shape.t1_up];
        up.iter().zip(down).filter(|(up, down)| **up && **down).count()
    }

    /// Spreads a rate over its paths and adds it to the cables of a plane. A negative rate is subtracted.
    pub(crate) fn add(&self, network: &Network, run: GroupPair, gbps: f64, load: &mut LinkValues) {
        let shape = &network.shape;
        let up = &mut load.t0_up[shape.first_t0_uplink(run.a)..][..shape.t0_up];
        up.iter_mut().zip(&self.t0).for_each(|(cable, part)| *cable += gbps * part);
        let down = &mut load.t0_down[shape.first_t0_uplink(run.b)..][..shape.t0_up];
        down.iter_mut().zip(&self.t0).for_each(|(cable, part)| *cable += gbps * part);
        if !run.far {
            return;
        }
        let (za, zb) = (shape.zone(run.a), shape.zone(run.b));
        for t1 in 0..shape.t1s {
            let through: f64 =
                gbps * self.t0[t1 * shape.t0_parallel..][..shape.t0_parallel].iter().sum::<f64>();
            let parts = &self.t1[t1 * shape.t1_up..][..shape.t1_up];
            let up = &mut load.t1_up[shape.first_t1_uplink(za, t1)..][..shape.t1_up];
            up.iter_mut().zip(parts).for_each(|(cable, part)| *cable += through * part);
            let down = &mut load.t1_down[shape.first_t1_uplink(zb, t1)..][..shape.t1_up];
            down.iter_mut().zip(parts).for_each(|(cable, part)| *cable += through * part);
        }
    }

    /// Returns the largest utilisation of the cables that it uses.
    pub(crate) fn level(&self, network: &Network, run: GroupPair, load: &LinkValues) -> f64 {
        let shape = &network.shape;
        let top = |loads: &[f64], parts: &[f64]| {
            loads
                .iter()
                .zip(parts)
                .map(|(load, part)| if *part > 0.0 { *load } else { 0.0 })
                .fold(0.0, f64::max)
        };
        let up = top(&load.t0_up[shape.first_t0_uplink(run.a)..][..shape.t0_up], &self.t0);
        let down = top(&load.t0_down[shape.first_t0_uplink(run.b)..][..shape.t0_up], &self.t0);
        let mut level = f64::max(up, down) / Stage::T0Up.speed(shape);
        if run.far {
            let (za, zb) = (shape.zone(run.a), shape.zone(run.b));
            for t1 in 0..shape.t1s {
                if self.t0[t1 * shape.t0_parallel..][..shape.t0_parallel].iter().any(|part| *part > 0.0) {
                    let parts = &self.t1[t1 * shape.t1_up..][..shape.t1_up];
                    let up = top(&load.t1_up[shape.first_t1_uplink(za, t1)..][..shape.t1_up], parts);
                    let down = top(&load.t1_down[shape.first_t1_uplink(zb, t1)..][..shape.t1_up], parts);
                    level = level.max(f64::max(up, down) / Stage::T1Up.speed(shape));
                }
            }
        }
        level
    }
}
