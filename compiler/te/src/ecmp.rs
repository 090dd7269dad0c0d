//! What the fabric does without traffic engineering.
//!
//! In: a problem. Out: the load of every cable, with traffic as a fluid that splits evenly, and with flows that a hash
//! puts on single paths. Always: only paths that routing would use: source-routed hosts choose among all paths that can
//! be used; switches choose, hop by hop, among the cables by which the destination can be reached.
//!
//! Every flow is hashed for itself, at each switch anew, with a seed. Planes that are alike are hashed once and stand
//! for each other.

use crate::commodity::Commodity;
use crate::host::{self, Problem};
use crate::load::{Loads, PerLink};
use crate::network::{Kind, Network};
use crate::split::{Parts, Run, share};

/// How traffic is put on paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As a fluid.
    Even,
    /// Flow by flow, with a seed.
    Hashed(u64),
}

/// Computes the load of every cable.
pub(crate) fn loads(problem: &Problem<'_>, manner: Manner) -> Loads {
    let (network, commodities) = (problem.network, &problem.commodities.all);
    let mut loads = Loads::zero(network);
    host::put(problem, |at, kind| share(network, &commodities[at], None, kind), &mut loads);
    for (kind, load) in loads.fabric.iter_mut().enumerate() {
        let lane = Lane { problem, kind: &network.kinds[kind], number: kind, manner };
        if network.hop_by_hop { lane.by_switches(load) } else { lane.by_hosts(load) }
    }
    loads
}

/// One kind of planes.
struct Lane<'a> {
    problem: &'a Problem<'a>,
    kind: &'a Kind,
    number: usize,
    manner: Manner,
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
            let Manner::Hashed(seed) = self.manner else {
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
    fn by_switches(&self, load: &mut PerLink) {
        let (network, sides) = (self.problem.network, self.problem.sides);
        let all = &self.problem.commodities.all;
        let group = |at: usize| sides.to.all[all[at].to as usize].group;
        let mut first = 0;
        while first < all.len() {
            let to = group(first);
            let end = (first..all.len()).find(|at| group(*at) != to).unwrap_or(all.len());
            let hops = Hops::to(network, self.kind, to);
            for (at, commodity) in all.iter().enumerate().take(end).skip(first) {
                let Some((run, rate)) = self.run(commodity) else { continue };
                let ups = hops.uplinks(network, self.kind, run.a);
                match self.manner {
                    Manner::Even => hops.pour(network, run, &ups, rate, load),
                    Manner::Hashed(seed) => {
                        let one = rate / f64::from(commodity.flows);
                        for flow in 0..commodity.flows {
                            hops.walk(network, run, &ups, hash(seed, at, self.number, flow), one, load);
                        }
                    }
                }
            }
            first = end;
        }
    }
}

/// Lists the paths that can be used, as uplink of the T0 and uplink of the T1.
fn list(parts: &Parts, network: &Network, run: Run, paths: &mut Vec<(u32, u32)>) {
    let shape = &network.shape;
    paths.clear();
    for u in (0..shape.u0).filter(|u| parts.t0[*u] > 0.0) {
        if run.far {
            let over = &parts.t1[u / shape.k0 * shape.u1..][..shape.u1];
            paths.extend((0..shape.u1).filter(|v| over[*v] > 0.0).map(|v| (u as u32, v as u32)));
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
        let t1 = u / shape.k0;
        load.t1_up[shape.t1(shape.zone(run.a), t1) + v] += gbps;
        load.t1_down[shape.t1(shape.zone(run.b), t1) + v] += gbps;
    }
}

/// The next hops of every switch towards one group, as places in arrays of cables.
struct Hops {
    /// Cables down to the T0, by T1 of its zone.
    last: Vec<Vec<usize>>,
    /// Cables down to a T1 that has one, by T2.
    down: Vec<Vec<usize>>,
    /// Cables up to such a T2, by zone and T1; in the group's own zone none.
    over: Vec<Vec<usize>>,
    zone: usize,
}

impl Hops {
    fn to(network: &Network, kind: &Kind, group: usize) -> Self {
        let shape = &network.shape;
        let zone = shape.zone(group);
        let cables = |t1: usize| {
            let first = shape.t0(group) + t1 * shape.k0;
            (first..first + shape.k0).filter(|at| kind.t0[*at]).collect()
        };
        let last: Vec<Vec<usize>> = (0..shape.t1).map(cables).collect();
        let below = |below: &Vec<(usize, usize)>| {
            let reach = below.iter().filter(|(t1, _)| !last[*t1].is_empty());
            reach.map(|(t1, v)| shape.t1(zone, *t1) + v).filter(|at| kind.t1[*at]).collect()
        };
        let down: Vec<Vec<usize>> = network.below.iter().map(below).collect();
        let up = |at: usize| -> Vec<usize> {
            let (from, t1) = (at / shape.t1, at % shape.t1);
            let first = shape.t1(from, t1);
            let leads = |v: &usize| kind.t1[first + v] && !down[shape.t2_of(t1, *v)].is_empty();
            if from == zone { Vec::new() } else { (0..shape.u1).filter(leads).map(|v| first + v).collect() }
        };
        let over = (0..shape.zones * shape.t1).map(up).collect();
        Hops { last, down, over, zone }
    }

    /// Returns the uplinks of a T0 by which the group can be reached.
    fn uplinks(&self, network: &Network, kind: &Kind, group: usize) -> Vec<usize> {
        let shape = &network.shape;
        let (first, zone) = (shape.t0(group), shape.zone(group));
        let leads = |u: &usize| {
            let t1 = u / shape.k0;
            let has_route = if zone == self.zone {
                !self.last[t1].is_empty()
            } else {
                !self.over[zone * shape.t1 + t1].is_empty()
            };
            kind.t0[first + u] && has_route
        };
        (0..shape.u0).filter(leads).map(|u| first + u).collect()
    }

    /// Splits a rate evenly at every switch.
    fn pour(&self, network: &Network, run: Run, ups: &[usize], rate: f64, load: &mut PerLink) {
        let shape = &network.shape;
        let part = rate / ups.len() as f64;
        let mut at_last = vec![0.0; shape.t1];
        let mut at_top = vec![0.0; if run.far { shape.t2 } else { 0 }];
        for up in ups {
            load.t0_up[*up] += part;
            let t1 = up % shape.u0 / shape.k0;
            if !run.far {
                at_last[t1] += part;
                continue;
            }
            let over = &self.over[shape.zone(run.a) * shape.t1 + t1];
            for at in over {
                let part = part / over.len() as f64;
                load.t1_up[*at] += part;
                at_top[shape.t2_of(t1, at % shape.u1)] += part;
            }
        }
        for (down, rate) in self.down.iter().zip(&at_top).filter(|(_, rate)| **rate > 0.0) {
            for at in down {
                load.t1_down[*at] += rate / down.len() as f64;
                at_last[at / shape.u1 % shape.t1] += rate / down.len() as f64;
            }
        }
        for (last, rate) in self.last.iter().zip(&at_last).filter(|(_, rate)| **rate > 0.0) {
            for at in last {
                load.t0_down[*at] += rate / last.len() as f64;
            }
        }
    }

    /// Sends one flow, which every switch hashes anew.
    fn walk(&self, network: &Network, run: Run, ups: &[usize], flow: u64, gbps: f64, load: &mut PerLink) {
        let shape = &network.shape;
        let choose = |cables: &[usize], tier: u64| cables[pick(mix(flow ^ tier), cables.len())];
        let up = choose(ups, 0);
        load.t0_up[up] += gbps;
        let mut t1 = up % shape.u0 / shape.k0;
        if run.far {
            let over = choose(&self.over[shape.zone(run.a) * shape.t1 + t1], 1);
            load.t1_up[over] += gbps;
            let down = choose(&self.down[shape.t2_of(t1, over % shape.u1)], 2);
            load.t1_down[down] += gbps;
            t1 = down / shape.u1 % shape.t1;
        }
        load.t0_down[choose(&self.last[t1], 3)] += gbps;
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

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that spreads every bit.
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
