//! A lower bound of the largest utilisation for any placement.
//!
//! In: a problem and loads. Out: [`Bound`]. Invariants: every bound is proved, and the proof does not
//! depend on how it was found. There are two kinds of proof:
//!
//! - **Cuts**: traffic that leaves a NIC uses its ports. Traffic that leaves a group uses the uplinks of its T0s, and
//!   traffic that leaves a zone uses the uplinks of its T1s. The same holds for arriving traffic.
//! - **Lengths** (linear programming duality): give every cable a length. For a commodity of d Gb/s, the sum
//!   of length times rate over its cables is at least d times the length of its shortest path. Divide the sum
//!   of these minima by the sum of length times capacity over all cables. The result is a lower bound of the
//!   largest utilisation. Any lengths give a valid bound; lengths that grow with utilisation give a tight
//!   one. They are computed from the given loads. In a small fabric, multiplicative weights improve them
//!   (Garg and Könemann 1998): send along the shortest path, lengthen the cables that were used, repeat.

use crate::class::Classes;
use crate::host::Problem;
use crate::load::{LinkValues, Loads, Stage};
use crate::network::Network;
use crate::route::{Finder, Route};
use crate::split::GroupPair;

/// A lower bound of the largest utilisation, with its proof.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    /// The utilisation.
    pub(crate) max: f64,
    /// Proof.
    pub(crate) proof: Proof,
}

/// Proof of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Nothing is sent.
    Nothing,
    /// The ports of a NIC.
    Nic { nic: usize, sends: bool },
    /// The uplinks of a group's T0s.
    Group { group: usize, sends: bool },
    /// The uplinks of a zone's T1s.
    Zone { zone: usize, sends: bool },
    /// Lengths of cables.
    Lengths,
}

impl Bound {
    fn raise(&mut self, max: f64, proof: Proof) {
        if max > self.max * (1.0 + 1e-9) {
            *self = Bound { max, proof };
        }
    }

    /// Takes the larger of two bounds.
    pub(crate) fn or(mut self, other: f64) -> Bound {
        self.raise(other, Proof::Lengths);
        self
    }
}

/// Computes the bound by cuts. `even` contains the rate that each NIC sends and receives.
pub(crate) fn cuts(problem: &Problem<'_>, even: &Loads) -> Bound {
    let network = problem.network;
    let mut bound = Bound { max: 0.0, proof: Proof::Nothing };
    for (loads, sends) in [(&even.nic_up, true), (&even.nic_down, false)] {
        for (nic, reach) in network.reach.iter().enumerate() {
            let kinds = || network.kinds.iter().enumerate();
            let all: f64 = kinds().map(|(at, kind)| loads[at][nic] * kind.count()).sum();
            let ports: f64 =
                kinds().filter(|(at, _)| reach >> at & 1 == 1).map(|(_, kind)| kind.count()).sum();
            if all > 0.0 {
                bound.raise(all / ports / network.shape.speed[0], Proof::Nic { nic, sends });
            }
        }
    }
    let shape = &network.shape;
    let mut groups = [vec![0.0; shape.all_groups()], vec![0.0; shape.all_groups()]];
    let mut zones = [vec![0.0; shape.zones], vec![0.0; shape.zones]];
    for commodity in &problem.commodities.all {
        let Some(run) = GroupPair::of(network, problem.sides, commodity) else { continue };
        for (side, group) in [(0, run.a), (1, run.b)] {
            groups[side][group] += commodity.gbps;
            zones[side][shape.zone(group)] += if run.far { commodity.gbps } else { 0.0 };
        }
    }
    let live = |cables: &dyn Fn(usize) -> std::ops::Range<usize>, t0: bool, at: usize| -> f64 {
        let count = |links: &[bool]| links[cables(at)].iter().filter(|link| **link).count() as f64;
        network.kinds.iter().map(|kind| kind.count() * count(if t0 { &kind.t0 } else { &kind.t1 })).sum()
    };
    let t0 = |group: usize| shape.first_t0_uplink(group)..shape.first_t0_uplink(group) + shape.t0_up;
    let t1 = |zone: usize| {
        shape.first_t1_uplink(zone, 0)..shape.first_t1_uplink(zone, 0) + shape.t1s * shape.t1_up
    };
    for (side, sends) in [(0, true), (1, false)] {
        for group in (0..shape.all_groups()).filter(|at| groups[side][*at] > 0.0) {
            let capacity = live(&t0, true, group) * shape.speed[1];
            bound.raise(groups[side][group] / capacity, Proof::Group { group, sends });
        }
        for zone in (0..shape.zones).filter(|at| zones[side][*at] > 0.0) {
            let capacity = live(&t1, false, zone) * shape.speed[2];
            bound.raise(zones[side][zone] / capacity, Proof::Zone { zone, sends });
        }
    }
    bound
}

/// Lengths of all cables.
#[derive(Debug, Clone)]
struct Lengths {
    fabric: Vec<LinkValues>,
    /// Length of all NIC ports of a class in a plane together, by kind and class.
    up: Vec<Vec<f64>>,
    down: Vec<Vec<f64>>,
}

/// A commodity's shortest path: kind of planes, length, and the route if it leaves its group.
type ShortestPath = (usize, f64, Option<Route>);

/// Minimum and maximum number of improvement rounds.
const ROUNDS: std::ops::RangeInclusive<u64> = 30..=500_000;

/// Computes the bound by lengths that grow with the utilisation in `loads`. If `effort` steps suffice for the minimum
/// number of rounds, improves the bound until it reaches `target` or the steps are used up.
pub(crate) fn lengths(problem: &Problem<'_>, loads: &Loads, target: f64, effort: u64) -> f64 {
    let solver = Solver {
        problem,
        nics: [nics(problem.network, &problem.sides.from), nics(problem.network, &problem.sides.to)],
    };
    let max = loads.max(problem.network);
    if max <= 0.0 {
        return 0.0;
    }
    let mut best = 0.0_f64;
    for steepness in [20.0, 100.0, 500.0, 2500.0] {
        best = best.max(solver.value(&solver.exponential_lengths(loads, max, steepness)));
        if best >= target {
            return best;
        }
    }
    let shape = &problem.network.shape;
    let ways = shape.t0_up + if shape.zones > 1 { shape.t1s * shape.t1_up } else { 0 };
    let round = (problem.commodities.all.len() * problem.network.kinds.len() * ways).max(1) as u64;
    let rounds = effort / round;
    if rounds >= *ROUNDS.start() {
        solver.improve(rounds.min(*ROUNDS.end()), max, target, best)
    } else {
        best
    }
}

/// Capacity of the NIC ports of each class in a plane, in Gb/s.
fn nics(network: &Network, classes: &Classes) -> Vec<f64> {
    let speed = Stage::NicUp.speed(&network.shape);
    classes.all.iter().map(|class| f64::from(class.nics) * speed).collect()
}

struct Solver<'a> {
    problem: &'a Problem<'a>,
    /// Capacity of all NIC ports of a class in a plane, for senders and receivers.
    nics: [Vec<f64>; 2],
}

impl Solver<'_> {
    /// Computes lengths that grow exponentially with utilisation, divided by capacity.
    fn exponential_lengths(&self, loads: &Loads, max: f64, steepness: f64) -> Lengths {
        let network = self.problem.network;
        let length = |load: f64, capacity: f64| (steepness * (load / capacity / max - 1.0)).exp() / capacity;
        let links = |kind: usize, stage: Stage| {
            let speed = stage.speed(&network.shape);
            loads.of(kind, stage).iter().map(|load| length(*load, speed)).collect()
        };
        let classes = |classes: &Classes, capacity: &[f64], nics: &[f64]| -> Vec<f64> {
            let mut sums = vec![0.0; classes.all.len()];
            for (nic, load) in nics.iter().enumerate() {
                if let Some(class) = classes.class(nic) {
                    sums[class] += load;
                }
            }
            sums.iter().zip(capacity).map(|(load, capacity)| length(*load, *capacity)).collect()
        };
        let kinds = 0..network.kinds.len();
        let sides = self.problem.sides;
        Lengths {
            fabric: kinds
                .clone()
                .map(|kind| LinkValues {
                    t0_up: links(kind, Stage::T0Up),
                    t0_down: links(kind, Stage::T0Down),
                    t1_up: links(kind, Stage::T1Up),
                    t1_down: links(kind, Stage::T1Down),
                })
                .collect(),
            up: kinds.clone().map(|kind| classes(&sides.from, &self.nics[0], &loads.nic_up[kind])).collect(),
            down: kinds.map(|kind| classes(&sides.to, &self.nics[1], &loads.nic_down[kind])).collect(),
        }
    }

    /// Returns the bound that the lengths prove.
    fn value(&self, lengths: &Lengths) -> f64 {
        let needed: f64 = (0..self.problem.commodities.all.len())
            .filter_map(|at| Some(self.problem.commodities.all[at].gbps * self.shortest(lengths, at)?.1))
            .sum();
        needed / self.capacity(lengths)
    }

    /// Sums up length times capacity.
    fn capacity(&self, lengths: &Lengths) -> f64 {
        let network = self.problem.network;
        let mut all = 0.0;
        for (at, kind) in network.kinds.iter().enumerate() {
            let live = |stage: Stage, live: &[bool]| -> f64 {
                let sum: f64 = lengths.fabric[at]
                    .of(stage)
                    .iter()
                    .zip(live)
                    .filter(|(_, live)| **live)
                    .map(|(l, _)| l)
                    .sum();
                sum * stage.speed(&network.shape)
            };
            let reach = |classes: &Classes, lengths: &[f64], capacity: &[f64]| -> f64 {
                let each = classes.all.iter().zip(lengths.iter().zip(capacity));
                each.filter(|(class, _)| class.reach >> at & 1 == 1).map(|(_, (l, c))| l * c).sum()
            };
            let links = live(Stage::T0Up, &kind.t0)
                + live(Stage::T0Down, &kind.t0)
                + live(Stage::T1Up, &kind.t1)
                + live(Stage::T1Down, &kind.t1);
            let sides = self.problem.sides;
            let ports = reach(&sides.from, &lengths.up[at], &self.nics[0])
                + reach(&sides.to, &lengths.down[at], &self.nics[1]);
            all += kind.count() * (links + ports);
        }
        all
    }

    /// Returns the shortest path of a commodity over all kinds of planes.
    fn shortest(&self, lengths: &Lengths, at: usize) -> Option<ShortestPath> {
        let network = self.problem.network;
        let commodity = &self.problem.commodities.all[at];
        let run = GroupPair::of(network, self.problem.sides, commodity);
        let mut best: Option<ShortestPath> = None;
        for kind in (0..network.kinds.len()).filter(|kind| commodity.usable >> kind & 1 == 1) {
            let ports = lengths.up[kind][commodity.from as usize] + lengths.down[kind][commodity.to as usize];
            let way = match run {
                None => Some((kind, ports, None)),
                Some(run) => {
                    let finder = Finder {
                        network,
                        kind: &network.kinds[kind],
                        weigh: |stage: Stage, at: usize| lengths.fabric[kind].of(stage)[at],
                        join: |a: f64, b: f64| a + b,
                    };
                    finder.find(run.a, run.b).map(|(length, route)| (kind, ports + length, Some(route)))
                }
            };
            if let Some(way) = way.filter(|way| best.is_none_or(|best| way.1 < best.1)) {
                best = Some(way);
            }
        }
        best
    }

    /// Improves the lengths: each round sends all traffic along shortest paths and lengthens the cables that it used.
    fn improve(&self, rounds: u64, max: f64, target: f64, known: f64) -> f64 {
        let network = self.problem.network;
        let shape = &network.shape;
        let links = network.kinds.len() * (shape.all_groups() * shape.t0_up * 2 + self.nics[0].len());
        // Multiplicative weights need about ln(links) / step^2 rounds to converge, so the step follows from the rounds.
        let step = ((links as f64).ln() / rounds as f64).sqrt().clamp(0.005, 0.3);
        let mut lengths = self.exponential_lengths(&Loads::zero(network), 1.0, 0.0);
        let mut best = known;
        for round in 0..rounds {
            let mut needed = 0.0;
            for (at, commodity) in self.problem.commodities.all.iter().enumerate() {
                let Some((kind, length, route)) = self.shortest(&lengths, at) else { continue };
                needed += commodity.gbps * length;
                // The planes of a kind carry equal parts.
                let rate = commodity.gbps / network.kinds[kind].count() / max;
                let (from, to) = (commodity.from as usize, commodity.to as usize);
                lengths.up[kind][from] *= (step * rate / self.nics[0][from]).exp();
                lengths.down[kind][to] *= (step * rate / self.nics[1][to]).exp();
                for (stage, at) in route.into_iter().flat_map(Route::cables) {
                    *lengths.fabric[kind].at(stage, at) *= (step * rate / stage.speed(shape)).exp();
                }
            }
            // Lengths only grow during a round, so `needed` does not exceed its value for the final lengths.
            best = best.max(needed / self.capacity(&lengths));
            if best >= target {
                break;
            }
            if round % 16 == 15 {
                lengths.normalise();
            }
        }
        best
    }
}

impl Lengths {
    /// Scales all lengths down, so that they do not overflow.
    fn normalise(&mut self) {
        let mut all: Vec<&mut Vec<f64>> = self.up.iter_mut().chain(self.down.iter_mut()).collect();
        for links in &mut self.fabric {
            all.extend([&mut links.t0_up, &mut links.t0_down, &mut links.t1_up, &mut links.t1_down]);
        }
        let top = all.iter().flat_map(|list| list.iter()).copied().fold(0.0, f64::max);
        all.into_iter().flat_map(|list| list.iter_mut()).for_each(|length| *length /= top);
    }
}
