//! The next hops of every switch of a plane towards one T0 group, with their weights.
//!
//! In: a network and the plan's next-hop groups. Out: rates or flows on cables. Invariants: an unusable cable
//! is never a next hop; in a plane without damage all next hops have equal weights, and the plan is not consulted.

use std::rc::Rc;

use closc_fabric::Shape;
use closc_plan::NextHops;
use closc_topology::{Link, Switch, TierId, ZoneId};

use super::{Splitting, mix, pick};
use crate::load::LinkValues;
use crate::network::{Kind, Network};
use crate::split::GroupPair;

/// Members of a next-hop group: indices of cables, with weights.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Members {
    cables: Vec<usize>,
    /// Running sum of the weights, up to and including each cable.
    upto: Vec<usize>,
}

impl Members {
    /// Returns a group with a single member.
    pub(super) fn one(cable: usize) -> Self {
        Members::from_cables(vec![cable])
    }

    fn from_cables(cables: Vec<usize>) -> Self {
        let upto = (1..=cables.len()).collect();
        Members { cables, upto }
    }

    fn from_links(shape: &Shape, links: &[(Link, u16)]) -> Self {
        let mut ways = Members::default();
        for (link, weight) in links {
            if let Some(cable) = shape.place(*link) {
                ways.cables.push(cable);
                ways.upto.push(ways.all() + usize::from(*weight));
            }
        }
        ways
    }

    /// Returns the sum of all weights.
    fn all(&self) -> usize {
        self.upto.last().copied().unwrap_or(0)
    }

    /// Returns each cable with its fraction of the traffic.
    fn parts(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let all = self.all() as f64;
        let before = std::iter::once(0).chain(self.upto.iter().copied());
        let weights = self.upto.iter().zip(before).map(|(upto, before)| upto - before);
        self.cables.iter().copied().zip(weights.map(move |weight| weight as f64 / all))
    }

    /// Returns the cable that a hash selects.
    fn choose(&self, hash: u64) -> usize {
        let at = pick(hash, self.all());
        self.cables[self.upto.partition_point(|upto| *upto <= at)]
    }
}

/// A flow that switches of some tiers split.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub(super) hash: u64,
    pub(super) splits: Splitting,
    pub(super) gbps: f64,
}

impl Flow {
    /// Returns the cables that a flow uses at a switch, with the fraction of the flow on each. Each step of a path
    /// hashes again.
    fn parts(self, ways: &Members, tier: TierId, step: u64) -> Vec<(usize, f64)> {
        if self.splits[usize::from(tier.level())] {
            ways.parts().collect()
        } else {
            vec![(ways.choose(mix(self.hash ^ step)), 1.0)]
        }
    }
}

/// The next hops of every switch towards one group.
pub(super) struct Hops {
    /// Cables down to the T0, by T1 of its zone.
    last: Vec<Members>,
    /// Cables down to a T1 that reaches the group, by T2.
    down: Vec<Members>,
    /// Cables up to a T2 that reaches the group, by zone and T1; empty for the group's own zone.
    over: Vec<Members>,
    /// Cables up from a T0, by group, computed at first use.
    up: Vec<Option<Rc<Members>>>,
    to: (ZoneId, u16),
}

impl Hops {
    pub(super) fn to(network: &Network, kind: &Kind, plan: &mut NextHops<'_>, group: usize) -> Self {
        let shape = &network.shape;
        let (plane, to) = (kind.planes[0], shape.group_at(group));
        let zone = shape.zone(group);
        let cables = |t1: usize| {
            let first = shape.first_t0_uplink(group) + t1 * shape.t0_parallel;
            Members::from_cables((first..first + shape.t0_parallel).filter(|at| kind.t0[*at]).collect())
        };
        let last: Vec<Members> = (0..shape.t1s).map(cables).collect();
        let is_whole = kind.is_whole();
        let mut down = Vec::with_capacity(network.t2_downlinks.len());
        for (index, below) in network.t2_downlinks.iter().enumerate() {
            down.push(if is_whole {
                Members::from_cables(
                    below.iter().map(|(t1, v)| shape.first_t1_uplink(zone, *t1) + v).collect(),
                )
            } else if below.is_empty() {
                Members::default()
            } else {
                let t2 = Switch { plane, tier: TierId::T2, zone: ZoneId(0), index: index as u16 };
                Members::from_links(shape, &plan.to(t2, to.0, to.1))
            });
        }
        let mut over = vec![
            Members::default();
            if network.t2_downlinks.is_empty() { 0 } else { shape.zones * shape.t1s }
        ];
        for (at, ways) in over.iter_mut().enumerate().filter(|(at, _)| at / shape.t1s != zone) {
            let (from, t1) = (at / shape.t1s, at % shape.t1s);
            let first = shape.first_t1_uplink(from, t1);
            *ways = if is_whole {
                Members::from_cables((first..first + shape.t1_up).collect())
            } else {
                Members::from_links(shape, &plan.to(Shape::t1_switch(plane, from, t1), to.0, to.1))
            };
        }
        Hops { last, down, over, up: vec![None; shape.all_groups()], to }
    }

    /// Returns the uplinks of a T0 that reach the destination group.
    pub(super) fn uplinks(
        &mut self,
        network: &Network,
        kind: &Kind,
        plan: &mut NextHops<'_>,
        group: usize,
    ) -> Rc<Members> {
        let shape = &network.shape;
        let make = || {
            let first = shape.first_t0_uplink(group);
            Rc::new(if kind.is_whole() {
                Members::from_cables((first..first + shape.t0_up).collect())
            } else {
                Members::from_links(
                    shape,
                    &plan.to(shape.t0_switch(kind.planes[0], group), self.to.0, self.to.1),
                )
            })
        };
        self.up[group].get_or_insert_with(make).clone()
    }

    /// Splits a rate by weight at every switch.
    pub(super) fn carry(
        &self,
        network: &Network,
        run: GroupPair,
        ups: &Members,
        rate: f64,
        load: &mut LinkValues,
    ) {
        let shape = &network.shape;
        let mut at_last = vec![0.0; shape.t1s];
        let mut at_top = vec![0.0; if run.far { shape.t2s } else { 0 }];
        for (up, part) in ups.parts() {
            load.t0_up[up] += rate * part;
            let t1 = up % shape.t0_up / shape.t0_parallel;
            if !run.far {
                at_last[t1] += rate * part;
                continue;
            }
            for (at, over) in self.over[shape.zone(run.a) * shape.t1s + t1].parts() {
                load.t1_up[at] += rate * part * over;
                at_top[shape.t2_of(t1, at % shape.t1_up)] += rate * part * over;
            }
        }
        for (down, rate) in self.down.iter().zip(&at_top).filter(|(_, rate)| **rate > 0.0) {
            for (at, part) in down.parts() {
                load.t1_down[at] += rate * part;
                at_last[at / shape.t1_up % shape.t1s] += rate * part;
            }
        }
        for (last, rate) in self.last.iter().zip(&at_last).filter(|(_, rate)| **rate > 0.0) {
            for (at, part) in last.parts() {
                load.t0_down[at] += rate * part;
            }
        }
    }

    /// Adds one flow, which switches of some tiers split by weight, and all others hash.
    pub(super) fn split(
        &self,
        network: &Network,
        run: GroupPair,
        ups: &Members,
        flow: Flow,
        load: &mut LinkValues,
    ) {
        let shape = &network.shape;
        let last = |t1: usize, gbps: f64, load: &mut LinkValues| {
            for (at, part) in flow.parts(&self.last[t1], TierId::T1, 3) {
                load.t0_down[at] += gbps * part;
            }
        };
        for (up, part) in flow.parts(ups, TierId::T0, 0) {
            let gbps = flow.gbps * part;
            load.t0_up[up] += gbps;
            let t1 = up % shape.t0_up / shape.t0_parallel;
            if !run.far {
                last(t1, gbps, load);
                continue;
            }
            for (over, part) in flow.parts(&self.over[shape.zone(run.a) * shape.t1s + t1], TierId::T1, 1) {
                let gbps = gbps * part;
                load.t1_up[over] += gbps;
                let t2 = shape.t2_of(t1, over % shape.t1_up);
                for (down, part) in flow.parts(&self.down[t2], TierId::T2, 2) {
                    load.t1_down[down] += gbps * part;
                    last(down / shape.t1_up % shape.t1s, gbps * part, load);
                }
            }
        }
    }

    /// Adds one flow, which every switch hashes again.
    pub(super) fn walk(
        &self,
        network: &Network,
        run: GroupPair,
        ups: &Members,
        flow: u64,
        gbps: f64,
        load: &mut LinkValues,
    ) {
        let shape = &network.shape;
        let choose = |ways: &Members, tier: u64| ways.choose(mix(flow ^ tier));
        let up = choose(ups, 0);
        load.t0_up[up] += gbps;
        let mut t1 = up % shape.t0_up / shape.t0_parallel;
        if run.far {
            let over = choose(&self.over[shape.zone(run.a) * shape.t1s + t1], 1);
            load.t1_up[over] += gbps;
            let down = choose(&self.down[shape.t2_of(t1, over % shape.t1_up)], 2);
            load.t1_down[down] += gbps;
            t1 = down / shape.t1_up % shape.t1s;
        }
        load.t0_down[choose(&self.last[t1], 3)] += gbps;
    }
}
