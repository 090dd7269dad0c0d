//! Places traffic of a source-routed fabric: hosts spread it over planes and uplinks by weights.
//!
//! In: a problem, and the load of spreading everything evenly. Out: weights for the commodities that benefit.
//! Invariants: the larger demand is placed first. A step is kept only if it lowers the highest utilisation of
//! the commodity's cables, so the result is never worse than spreading evenly. The same input gives the same
//! weights.
//!
//! A commodity that uses a cable above the target is removed and placed again by water-filling. Its rate goes to its
//! least loaded paths first, and then rises evenly on all paths at the same utilisation. This is constrained shortest
//! path first with infinitely small portions. There are up to 12 passes, as long as each lowers the maximum.

use std::cmp::Reverse;

use crate::commodity::Commodity;
use crate::ecmp::mix;
use crate::host::Problem;
use crate::load::{LinkValues, Loads, Stage};
use crate::network::{Kind, Network};
use crate::split::{GroupPair, PLANE_MAX, PlaneFractions, PlaneWeights, Splits, Weights, share};

/// Maximum number of passes.
const PASSES: usize = 12;
/// A pass that lowers the maximum by less than this fraction is the last.
const GAIN_MIN: f64 = 0.0005;

/// Loads during placement.
struct State {
    fabric: Vec<LinkValues>,
    /// Total load of NIC ports, by kind and class.
    up: Vec<Vec<f64>>,
    down: Vec<Vec<f64>>,
}

/// Places the commodities of a problem.
pub(crate) fn place(problem: &Problem<'_>, even: &Loads, target: f64) -> Splits {
    let commodities = &problem.commodities.all;
    let order = largest_first(commodities);
    let mut filling = WaterFilling::new(problem, even);
    let mut splits: Splits = vec![None; commodities.len()];
    let mut max = filling.max();
    for _ in 0..PASSES {
        if max <= target {
            break;
        }
        for at in &order {
            filling.improve(&commodities[*at], &mut splits[*at], target);
        }
        let next = filling.max();
        let gain = max - next;
        max = next;
        if gain < GAIN_MIN * max {
            break;
        }
    }
    splits
}

/// Orders commodities by their rate, largest first. Equal ones are shuffled, always in the same way.
/// Otherwise the first ones could all have the same destination and fill its cables, while other cables stay
/// empty.
pub(crate) fn largest_first(commodities: &[Commodity]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..commodities.len()).collect();
    order.sort_by_cached_key(|at| (Reverse(commodities[*at].gbps.to_bits()), mix(*at as u64)));
    order
}

/// The rate of a commodity that fits on the cables of a plane at a level of utilisation.
#[derive(Debug, Clone, Default)]
struct FittingRate {
    t0: Vec<f64>,
    t1: Vec<f64>,
    all: f64,
}

struct WaterFilling<'a> {
    problem: &'a Problem<'a>,
    state: State,
    /// The load of a class in a plane at which the port of its busiest NIC is full.
    up_cap: Vec<f64>,
    down_cap: Vec<f64>,
    rooms: Vec<FittingRate>,
    parts: Vec<PlaneFractions>,
}

impl<'a> WaterFilling<'a> {
    fn new(problem: &'a Problem<'a>, even: &Loads) -> Self {
        let (network, sides) = (problem.network, problem.sides);
        let kinds = network.kinds.len();
        let capacity = |classes: &crate::class::Classes, loads: &[Vec<f64>]| -> Vec<f64> {
            let mut sums = vec![(0.0, 0.0); classes.all.len()];
            for nic in 0..network.there.len() {
                let Some(class) = classes.class(nic) else { continue };
                let all: f64 =
                    loads.iter().zip(&network.kinds).map(|(load, kind)| load[nic] * kind.count()).sum();
                let (sum, top): &mut (f64, f64) = &mut sums[class];
                *sum += all;
                *top = top.max(all);
            }
            let speed = Stage::NicUp.speed(&network.shape);
            sums.into_iter().map(|(sum, top)| if top > 0.0 { speed * sum / top } else { speed }).collect()
        };
        let mut up = vec![vec![0.0; sides.from.all.len()]; kinds];
        let mut down = vec![vec![0.0; sides.to.all.len()]; kinds];
        for commodity in &problem.commodities.all {
            for kind in 0..kinds {
                let rate = commodity.gbps * share(network, commodity, None, kind);
                up[kind][commodity.from as usize] += rate;
                down[kind][commodity.to as usize] += rate;
            }
        }
        WaterFilling {
            problem,
            state: State { fabric: even.fabric.clone(), up, down },
            up_cap: capacity(&sides.from, &even.nic_up),
            down_cap: capacity(&sides.to, &even.nic_down),
            rooms: vec![FittingRate::default(); kinds],
            parts: vec![PlaneFractions::default(); kinds],
        }
    }

    /// Returns the largest utilisation.
    fn max(&self) -> f64 {
        let shape = &self.problem.network.shape;
        let mut max = 0.0_f64;
        for (kind, load) in self.state.fabric.iter().enumerate() {
            for stage in Stage::ALL {
                max = max.max(load.of(stage).iter().copied().fold(0.0, f64::max) / stage.speed(shape));
            }
            let classes = self.state.up[kind].iter().zip(&self.up_cap);
            let classes = classes.chain(self.state.down[kind].iter().zip(&self.down_cap));
            max = classes.map(|(load, cap)| load / cap).fold(max, f64::max);
        }
        max
    }

    /// Places a commodity again if it uses a cable above the target. Keeps the result if it lowers the utilisation.
    fn improve(&mut self, commodity: &Commodity, split: &mut Option<Box<Weights>>, target: f64) {
        let run = GroupPair::of(self.problem.network, self.problem.sides, commodity);
        self.spread(run, commodity, split.as_deref());
        let old = self.level(run, commodity, split.as_deref());
        if old <= target {
            return;
        }
        self.add(run, commodity, split.as_deref(), -1.0);
        let filled = self.water_fill(run, commodity, old);
        self.spread(run, commodity, Some(&filled));
        self.add(run, commodity, Some(&filled), 1.0);
        if self.level(run, commodity, Some(&filled)) < old * (1.0 - GAIN_MIN / 10.0) {
            *split = Some(Box::new(filled));
            return;
        }
        self.add(run, commodity, Some(&filled), -1.0);
        self.spread(run, commodity, split.as_deref());
        self.add(run, commodity, split.as_deref(), 1.0);
    }

    fn kinds(&self, commodity: &Commodity) -> impl Iterator<Item = usize> + use<> {
        let usable = commodity.usable;
        (0..self.problem.network.kinds.len()).filter(move |kind| usable >> kind & 1 == 1)
    }

    /// Computes the fraction of a commodity on every cable.
    fn spread(&mut self, run: Option<GroupPair>, commodity: &Commodity, weights: Option<&Weights>) {
        let Some(run) = run else { return };
        let network = self.problem.network;
        for kind in self.kinds(commodity) {
            let within = weights.and_then(|weights| weights.plane_weights[kind].as_ref());
            self.parts[kind].spread(network, &network.kinds[kind], run, within);
        }
    }

    fn add(&mut self, run: Option<GroupPair>, commodity: &Commodity, weights: Option<&Weights>, sign: f64) {
        let network = self.problem.network;
        for kind in self.kinds(commodity) {
            let rate = sign * commodity.gbps * share(network, commodity, weights, kind);
            self.state.up[kind][commodity.from as usize] += rate;
            self.state.down[kind][commodity.to as usize] += rate;
            if let Some(run) = run {
                self.parts[kind].add(network, run, rate, &mut self.state.fabric[kind]);
            }
        }
    }

    /// Returns the largest utilisation of the cables that a commodity uses.
    fn level(&self, run: Option<GroupPair>, commodity: &Commodity, weights: Option<&Weights>) -> f64 {
        let network = self.problem.network;
        let (from, to) = (commodity.from as usize, commodity.to as usize);
        let used =
            self.kinds(commodity).filter(|kind| weights.is_none_or(|weights| weights.planes[*kind] > 0));
        used.map(|kind| {
            let ports = f64::max(
                self.state.up[kind][from] / self.up_cap[from],
                self.state.down[kind][to] / self.down_cap[to],
            );
            run.map_or(ports, |run| ports.max(self.parts[kind].level(network, run, &self.state.fabric[kind])))
        })
        .fold(0.0, f64::max)
    }

    /// Places a commodity that was removed: finds the lowest level, at most `top`, at which it fits.
    fn water_fill(&mut self, run: Option<GroupPair>, commodity: &Commodity, top: f64) -> Weights {
        let (mut low, mut high) = (0.0, top);
        for _ in 0..14 {
            let middle = f64::midpoint(low, high);
            if self.fill(run, commodity, middle) >= commodity.gbps {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.fill(run, commodity, high);
        self.weights(run, commodity)
    }

    /// Returns the rate that fits at a level, over all planes.
    fn fill(&mut self, run: Option<GroupPair>, commodity: &Commodity, level: f64) -> f64 {
        let network = self.problem.network;
        let (from, to) = (commodity.from as usize, commodity.to as usize);
        let mut all = 0.0;
        for kind in self.kinds(commodity) {
            let up = level * self.up_cap[from] - self.state.up[kind][from];
            let down = level * self.down_cap[to] - self.state.down[kind][to];
            let ports = up.min(down).max(0.0);
            let room = &mut self.rooms[kind];
            room.all = ports;
            if let Some(run) = run {
                let inside = room.fill(network, &network.kinds[kind], run, &self.state.fabric[kind], level);
                room.all = ports.min(inside);
            }
            all += room.all * network.kinds[kind].count();
        }
        all
    }

    /// Converts free capacities to weights.
    fn weights(&self, run: Option<GroupPair>, commodity: &Commodity) -> Weights {
        let kinds = self.problem.network.kinds.len();
        let usable = |kind: usize| commodity.usable >> kind & 1 == 1;
        let top = self.kinds(commodity).map(|kind| self.rooms[kind].all).fold(0.0, f64::max);
        let plane = |kind: usize| {
            let part = if top > 0.0 { self.rooms[kind].all / top } else { 1.0 };
            if usable(kind) { (part * f64::from(PLANE_MAX)).round() as u16 } else { 0 }
        };
        let within = |kind: usize| {
            let room = &self.rooms[kind];
            run.filter(|_| usable(kind) && room.all > 0.0).and_then(|run| {
                room.plane_weights(self.problem.network, &self.problem.network.kinds[kind], run)
            })
        };
        Weights { planes: (0..kinds).map(plane).collect(), plane_weights: (0..kinds).map(within).collect() }
    }
}

impl FittingRate {
    /// Returns the rate that fits on the cables of a plane at a level.
    fn fill(&mut self, network: &Network, kind: &Kind, run: GroupPair, load: &LinkValues, level: f64) -> f64 {
        let shape = &network.shape;
        let full = level * Stage::T0Up.speed(shape);
        let cable = |up: f64, down: f64| (full - up.max(down)).max(0.0);
        let (a, b) = (
            shape.first_t0_uplink(run.a)..shape.first_t0_uplink(run.a) + shape.t0_up,
            shape.first_t0_uplink(run.b)..shape.first_t0_uplink(run.b) + shape.t0_up,
        );
        let there = kind.t0[a.clone()].iter().zip(&kind.t0[b.clone()]);
        let loads = load.t0_up[a].iter().zip(&load.t0_down[b]);
        self.t0.clear();
        self.t0.extend(
            loads.zip(there).map(|((up, down), (x, y))| if *x && *y { cable(*up, *down) } else { 0.0 }),
        );
        if !run.far {
            return self.t0.iter().sum();
        }
        let full = level * Stage::T1Up.speed(shape);
        self.t1.clear();
        self.t1.resize(shape.t1s * shape.t1_up, 0.0);
        let mut all = 0.0;
        for t1 in 0..shape.t1s {
            let (up, down) =
                (shape.first_t1_uplink(shape.zone(run.a), t1), shape.first_t1_uplink(shape.zone(run.b), t1));
            let over = &mut self.t1[t1 * shape.t1_up..][..shape.t1_up];
            for (v, room) in over.iter_mut().enumerate() {
                if kind.t1[up + v] && kind.t1[down + v] {
                    *room = (full - load.t1_up[up + v].max(load.t1_down[down + v])).max(0.0);
                }
            }
            let over: f64 = over.iter().sum();
            let ends = &mut self.t0[t1 * shape.t0_parallel..][..shape.t0_parallel];
            let below: f64 = ends.iter().sum();
            if below > over {
                for room in ends {
                    *room *= over / below;
                }
            }
            all += below.min(over);
        }
        all
    }

    /// Converts the free capacity of a plane to weights; `None` if they are even.
    fn plane_weights(&self, network: &Network, kind: &Kind, run: GroupPair) -> Option<PlaneWeights> {
        let shape = &network.shape;
        let t0 = scale_to_u8(&self.t0);
        let t1 = self.t1.chunks(shape.t1_up.max(1)).take(if run.far { shape.t1s } else { 0 });
        let t1: Box<[u8]> = t1.flat_map(scale_to_u8).collect();
        let mut even = PlaneFractions::default();
        even.spread(network, kind, run, None);
        let same = |parts: &[f64], weights: &[u8]| {
            let top = parts.iter().copied().fold(0.0, f64::max);
            parts
                .iter()
                .zip(weights)
                .all(|(part, weight)| (part / top * f64::from(u8::MAX)).round() as u8 == *weight)
        };
        let t1_same = even
            .t1
            .chunks(shape.t1_up.max(1))
            .zip(t1.chunks(shape.t1_up.max(1)))
            .all(|(parts, weights)| parts.iter().all(|part| *part == 0.0) || same(parts, weights));
        (!same(&even.t0, &t0) || !t1_same).then_some(PlaneWeights { t0: t0.into(), t1 })
    }
}

/// Scales free capacities so that the largest is 255.
fn scale_to_u8(rooms: &[f64]) -> Vec<u8> {
    let top = rooms.iter().copied().fold(0.0, f64::max);
    let scale = |room: &f64| if top > 0.0 { (room / top * f64::from(u8::MAX)).round() as u8 } else { 0 };
    rooms.iter().map(scale).collect()
}
