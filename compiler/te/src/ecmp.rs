//! Loads of cables by ECMP, with or without pins at the T0s.
//!
//! In: a problem. Out: the load of every cable, with traffic as a fluid that splits at every choice, or with flows that
//! a hash assigns to single paths. Invariants: only paths of the routing mode are used. Source-routed hosts choose
//! evenly among all usable paths. Switches choose, hop by hop and by weight, among the cables of their next-hop group
//! in the plan.
//!
//! Every flow is hashed separately, and again at each switch, with a seed. Planes of one kind are hashed
//! once, and all of them get the result.

mod hops;

use closc_plan::NextHops;
use closc_topology::{TierId, Topology};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::commodity::Commodity;
use crate::host::{self, Problem};
use crate::load::{LinkValues, Loads};
use crate::network::{Kind, Network};
use crate::route::Route;
use crate::split::{GroupPair, PlaneFractions, share};
use hops::{Flow, Hops, Members};

/// Placement of traffic on paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spreading<'a> {
    /// As a fluid: by the weights of the groups, or evenly over all paths if hosts choose.
    Even,
    /// On the first hop of the commodity's route in this kind of planes, and as a fluid from there on.
    Pinned(&'a [Option<Route>]),
    /// Flow by flow, with a seed.
    Hashed(u64),
    /// Flow by flow, with a seed, except that switches of some tiers split every flow over their next hops.
    Balanced(u64, Splitting),
}

/// Whether switches split flows packet by packet, by tier.
pub(crate) type Splitting = [bool; TierId::ALL.len()];

/// Returns the spreading by switches as the fabric file sets it, without pins. Flowlets count as flows: senders of RDMA
/// leave few gaps in which a flow could move.
pub(crate) fn by_file<'a>(topology: &Topology, seed: u64) -> Spreading<'a> {
    let splits = TierId::ALL.map(|tier| topology.balance(tier).reorders());
    let hashes = |tier: TierId| topology.next_hop_groups(tier) > 0 && !topology.balance(tier).reorders();
    if splits == [false; TierId::ALL.len()] {
        Spreading::Hashed(seed)
    } else if TierId::ALL.into_iter().any(hashes) {
        Spreading::Balanced(seed, splits)
    } else {
        Spreading::Even
    }
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

/// Adds one commodity after the other to `scratch`, for fabrics whose switches choose paths. After each it calls
/// `found` with the kind of planes, the index of the commodity, its groups and `scratch`.
pub(crate) fn visit_commodities(
    problem: &Problem<'_>,
    spreading: Spreading<'_>,
    scratch: &mut LinkValues,
    visit: &mut impl FnMut(usize, usize, GroupPair, &mut LinkValues),
) {
    for (number, kind) in problem.network.kinds.iter().enumerate() {
        Lane { problem, kind, number, spreading }.by_switches(scratch, visit);
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
    /// Returns the groups of a commodity and its rate in a plane, if it uses cables between switches here.
    fn run(&self, commodity: &Commodity) -> Option<(GroupPair, f64)> {
        let rate = commodity.gbps * share(self.problem.network, commodity, None, self.number);
        let run = GroupPair::of(self.problem.network, self.problem.sides, commodity)?;
        (rate > 0.0).then_some((run, rate))
    }

    /// Places traffic for hosts that choose complete paths.
    fn by_hosts(&self, load: &mut LinkValues) {
        let network = self.problem.network;
        let mut parts = PlaneFractions::default();
        let mut paths: Vec<(u32, u32)> = Vec::new();
        for (at, commodity) in self.problem.commodities.all.iter().enumerate() {
            let Some((run, rate)) = self.run(commodity) else { continue };
            parts.spread(network, self.kind, run, None);
            // Hosts spray packet by packet unless each flow must take one path.
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

    /// Places traffic for switches that choose the next hop.
    fn by_switches(
        &self,
        load: &mut LinkValues,
        found: &mut impl FnMut(usize, usize, GroupPair, &mut LinkValues),
    ) {
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
                    Spreading::Balanced(seed, splits) => {
                        let ups = hops.uplinks(network, self.kind, &mut plan, run.a);
                        let one = rate / f64::from(commodity.flows);
                        for flow in 0..commodity.flows {
                            let flow = Flow { hash: hash(seed, at, self.number, flow), splits, gbps: one };
                            hops.split(network, run, &ups, flow, load);
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

/// Lists the usable paths as pairs: uplink of the T0, uplink of the T1.
fn list(parts: &PlaneFractions, network: &Network, run: GroupPair, paths: &mut Vec<(u32, u32)>) {
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
fn put(network: &Network, run: GroupPair, u: usize, v: usize, gbps: f64, load: &mut LinkValues) {
    let shape = &network.shape;
    load.t0_up[shape.first_t0_uplink(run.a) + u] += gbps;
    load.t0_down[shape.first_t0_uplink(run.b) + u] += gbps;
    if run.far {
        let t1 = u / shape.t0_parallel;
        load.t1_up[shape.first_t1_uplink(shape.zone(run.a), t1) + v] += gbps;
        load.t1_down[shape.first_t1_uplink(shape.zone(run.b), t1) + v] += gbps;
    }
}

/// Returns the hash of a flow: its number among all flows of all commodities, mixed with the seed.
fn hash(seed: u64, pair: usize, kind: usize, flow: u32) -> u64 {
    mix(seed ^ mix((pair as u64) << 36 ^ (kind as u64) << 32 ^ u64::from(flow)))
}

/// Picks one of several evenly.
fn pick(hash: u64, count: usize) -> usize {
    ((u128::from(hash) * count as u128) >> 64) as usize
}

/// Mixes the bits of a number. This is a bijection: different numbers stay different.
pub(crate) fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}
