//! Traffic without traffic engineering.
//!
//! In: a problem. Out: the load of every cable, with traffic as a fluid that splits evenly, and with flows that a hash
//! puts on single paths. Invariants: only paths that routing would use: source-routed hosts choose among all paths that can
//! be used; switches choose, hop by hop, among the cables of the next-hop group that the plan gives them, by weight.
//!
//! Every flow is hashed for itself, at each switch anew, with a seed. Planes that are alike are hashed once and stand
//! for each other.

mod hops;

use closc_plan::NextHops;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::commodity::Commodity;
use crate::host::{self, Problem};
use crate::load::{Loads, PerLink};
use crate::network::{Kind, Network};
use crate::route::Route;
use crate::split::{Parts, Run, share};
use hops::{Hops, Members};

/// Placement of traffic on paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spreading<'a> {
    /// As a fluid: by the weights of the groups, or evenly over all paths where hosts choose.
    Even,
    /// As a fluid behind the first hop, which is that of the commodity's route in the kind of planes.
    Pinned(&'a [Option<Route>]),
    /// Flow by flow, with a seed.
    Hashed(u64),
}

/// Computes the load of every cable.
pub(crate) fn loads(problem: &Problem<'_>, spreading: Spreading<'_>) -> Loads {
    let (network, commodities) = (problem.network, &problem.commodities.all);
    let mut loads = Loads::zero(network);
    host::put(problem, |at, kind| share(network, &commodities[at], None, kind), &mut loads);
    for (kind, load) in loads.fabric.iter_mut().enumerate() {
        let lane = Lane { problem, kind: &network.kinds[kind], number: kind, spreading };
        if network.hop_by_hop { lane.by_switches(load, &mut |_, _, _, _| ()) } else { lane.by_hosts(load) }
    }
    loads
}

/// Puts one commodity after the other where switches choose, and calls back after each with its kind of planes, its
/// place and what `scratch` then holds.
pub(crate) fn each(
    problem: &Problem<'_>,
    spreading: Spreading<'_>,
    scratch: &mut PerLink,
    found: &mut impl FnMut(usize, usize, Run, &mut PerLink),
) {
    for (number, kind) in problem.network.kinds.iter().enumerate() {
        Lane { problem, kind, number, spreading }.by_switches(scratch, found);
    }
}

/// One kind of planes.
struct Lane<'a> {
    problem: &'a Problem<'a>,
    kind: &'a Kind,
    number: usize,
    spreading: Spreading<'a>,
}

impl Lane<'_> {
    /// Where a commodity runs and its rate in a plane, if it passes cables between switches here.
    fn run(&self, commodity: &Commodity) -> Option<(Run, f64)> {
        let rate = commodity.gbps * share(self.problem.network, commodity, None, self.number);
        let run = Run::of(self.problem.network, self.problem.sides, commodity)?;
        (rate > 0.0).then_some((run, rate))
    }

    /// Hosts choose whole paths.
    fn by_hosts(&self, load: &mut PerLink) {
        let network = self.problem.network;
        let mut parts = Parts::default();
        let mut paths: Vec<(u32, u32)> = Vec::new();
        for (at, commodity) in self.problem.commodities.all.iter().enumerate() {
            let Some((run, rate)) = self.run(commodity) else { continue };
            parts.spread(network, self.kind, run, None);
            let Spreading::Hashed(seed) = self.spreading else {
                parts.add(network, run, rate, load);
                continue;
            };
            list(&parts, network, run, &mut paths);
            let one = rate / f64::from(commodity.flows);
            for flow in 0..commodity.flows {
                let (u, v) = paths[pick(hash(seed, at, self.number, flow), paths.len())];
                put(network, run, u as usize, v as usize, one, load);
            }
        }
    }

    /// Switches choose the next hop.
    fn by_switches(&self, load: &mut PerLink, found: &mut impl FnMut(usize, usize, Run, &mut PerLink)) {
        let (network, sides) = (self.problem.network, self.problem.sides);
        let all = &self.problem.commodities.all;
        let group = |at: usize| sides.to.all[all[at].to as usize].group;
        let mut plan = NextHops::new(self.problem.plan, self.kind.planes[0]);
        let mut first = 0;
        while first < all.len() {
            let to = group(first);
            let end = (first..all.len()).find(|at| group(*at) != to).unwrap_or(all.len());
            let mut hops = Hops::to(network, self.kind, &mut plan, to);
            for (at, commodity) in all.iter().enumerate().take(end).skip(first) {
                let Some((run, rate)) = self.run(commodity) else { continue };
                match self.spreading {
                    Spreading::Even => {
                        let ups = hops.uplinks(network, self.kind, &mut plan, run.a);
                        hops.carry(network, run, &ups, rate, load);
                    }
                    Spreading::Pinned(routes) => {
                        if let Some(route) = routes[at * network.kinds.len() + self.number] {
                            hops.carry(network, run, &Members::one(route.up as usize), rate, load);
                        }
                    }
                    Spreading::Hashed(seed) => {
                        let ups = hops.uplinks(network, self.kind, &mut plan, run.a);
                        let one = rate / f64::from(commodity.flows);
                        for flow in 0..commodity.flows {
                            hops.walk(network, run, &ups, hash(seed, at, self.number, flow), one, load);
                        }
                    }
                }
                found(self.number, at, run, load);
            }
            first = end;
        }
    }
}

/// Lists the paths that can be used, as uplink of the T0 and uplink of the T1.
fn list(parts: &Parts, network: &Network, run: Run, paths: &mut Vec<(u32, u32)>) {
    let shape = &network.shape;
    paths.clear();
    for u in (0..shape.t0_up).filter(|u| parts.t0[*u] > 0.0) {
        if run.far {
            let over = &parts.t1[u / shape.t0_parallel * shape.t1_up..][..shape.t1_up];
            paths.extend((0..shape.t1_up).filter(|v| over[*v] > 0.0).map(|v| (u as u32, v as u32)));
        } else {
            paths.push((u as u32, 0));
        }
    }
}

/// Puts a flow on a path.
fn put(network: &Network, run: Run, u: usize, v: usize, gbps: f64, load: &mut PerLink) {
    let shape = &network.shape;
    load.t0_up[shape.t0(run.a) + u] += gbps;
    load.t0_down[shape.t0(run.b) + u] += gbps;
    if run.far {
        let t1 = u / shape.t0_parallel;
        load.t1_up[shape.t1(shape.zone(run.a), t1) + v] += gbps;
        load.t1_down[shape.t1(shape.zone(run.b), t1) + v] += gbps;
    }
}

/// Returns the number of a flow among all flows of all pairs.
fn hash(seed: u64, pair: usize, kind: usize, flow: u32) -> u64 {
    mix(seed ^ mix((pair as u64) << 36 ^ (kind as u64) << 32 ^ u64::from(flow)))
}

/// Picks one of several evenly.
fn pick(hash: u64, count: usize) -> usize {
    ((u128::from(hash) * count as u128) >> 64) as usize
}

/// Spreads every bit of a number: a bijection, so that different numbers stay different.
pub(crate) fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}
