//! Places traffic of a fabric whose switches hash: every slice of a group's NICs is pinned to one path in each plane.
//!
//! In: a problem. Out: a route for each commodity and kind of planes. Invariants: demands are placed largest first,
//! each on the path whose highest utilisation stays lowest. This is constrained shortest path first, because all paths
//! between two groups are equally long. Then demands on the fullest cables move as long as that lowers the maximum.
//! Traffic from one group to one slice takes one route, because a T0 looks up only the destination. The same input
//! gives the same routes.
//!
//! A T0 is configured with the first hop of a route. In two tiers without parallel cables, that determines
//! the path. Elsewhere the other hops serve only to choose the first, and the switches above choose as they
//! do without pins.

use std::ops::Range;

use crate::commodity::Commodity;
use crate::host::Problem;
use crate::load::{LinkValues, Stage};
use crate::route::{Finder, Route};
use crate::split::{GroupPair, share};
use crate::spray::largest_first;

/// Maximum number of passes that move routes.
const PASSES: usize = 16;

/// Routes by commodity and kind; `None` within a group and for kinds that are not used.
pub(crate) type Routes = Vec<Option<Route>>;

/// Places the commodities of a problem; moves stop at the target.
pub(crate) fn place(problem: &Problem<'_>, target: f64) -> Routes {
    let (network, commodities) = (problem.network, &problem.commodities.all);
    let kinds = network.kinds.len();
    let order = largest_first(commodities);
    let bundles = bundles(problem);
    let first_of = |at: &usize| bundles[*at].start == *at;
    let order: Vec<usize> = order.into_iter().filter(first_of).collect();
    let mut routes = vec![None; commodities.len() * kinds];
    for kind in 0..kinds {
        let load = &mut LinkValues::zero(&network.shape);
        let mut lane = Lane { problem, kind, load, bundles: &bundles };
        for at in &order {
            let Some((run, rate)) = lane.run(*at) else { continue };
            let found = lane.widest(run, rate);
            if let Some(route) = found {
                lane.add(route, rate);
            }
            lane.set(*at, found, &mut routes);
        }
        for _ in 0..PASSES {
            let top = lane.max();
            if top <= target || !lane.pass(&order, &mut routes, kinds, target.max(top * 0.98)) {
                break;
            }
        }
    }
    routes
}

/// Returns, for each commodity, the range of commodities that share its pin: a route of a T0 matches only the
/// destination.
fn bundles(problem: &Problem<'_>) -> Vec<Range<usize>> {
    let all = &problem.commodities.all;
    let key = |at: usize| (problem.sides.from.all[all[at].from as usize].group, all[at].to);
    let mut found = Vec::with_capacity(all.len());
    while found.len() < all.len() {
        let first = found.len();
        let end = (first..all.len()).find(|at| key(*at) != key(first)).unwrap_or(all.len());
        found.resize(end, first..end);
    }
    found
}

/// One kind of planes during placement.
struct Lane<'a> {
    problem: &'a Problem<'a>,
    kind: usize,
    load: &'a mut LinkValues,
    bundles: &'a [Range<usize>],
}

impl Lane<'_> {
    /// Returns the groups of a bundle and its rate in a plane, if it uses cables between switches here.
    fn run(&self, at: usize) -> Option<(GroupPair, f64)> {
        let (network, all) = (self.problem.network, &self.problem.commodities.all);
        let run = GroupPair::of(network, self.problem.sides, &all[at])?;
        let rate = |commodity: &Commodity| commodity.gbps * share(network, commodity, None, self.kind);
        let rate: f64 = all[self.bundles[at].clone()].iter().map(rate).sum();
        (rate > 0.0).then_some((run, rate))
    }

    /// Stores the route of a bundle.
    fn set(&self, at: usize, route: Option<Route>, routes: &mut Routes) {
        let kinds = self.problem.network.kinds.len();
        for member in self.bundles[at].clone() {
            let has_path = self.problem.commodities.all[member].usable >> self.kind & 1 == 1;
            routes[member * kinds + self.kind] = route.filter(|_| has_path);
        }
    }

    /// Finds the path whose highest utilisation is lowest once the rate is added; among equals, the path with the
    /// lowest sum of utilisations.
    fn widest(&self, run: GroupPair, rate: f64) -> Option<Route> {
        let network = self.problem.network;
        let shape = &network.shape;
        let finder = Finder {
            network,
            kind: &network.kinds[self.kind],
            weigh: |stage: Stage, at: usize| {
                let level = (self.load.of(stage)[at] + rate) / stage.speed(shape);
                (level, level)
            },
            join: |a: (f64, f64), b: (f64, f64)| (a.0.max(b.0), a.1 + b.1),
        };
        finder.find(run.a, run.b).map(|(_, route)| route)
    }

    fn add(&mut self, route: Route, rate: f64) {
        for (stage, at) in route.cables() {
            *self.load.at(stage, at) += rate;
        }
    }

    fn level(&self, route: Route) -> f64 {
        let shape = &self.problem.network.shape;
        route.cables().map(|(stage, at)| self.load.of(stage)[at] / stage.speed(shape)).fold(0.0, f64::max)
    }

    fn max(&self) -> f64 {
        let shape = &self.problem.network.shape;
        let top = |stage: Stage| self.load.of(stage).iter().copied().fold(0.0, f64::max) / stage.speed(shape);
        Stage::ALL.into_iter().map(top).fold(0.0, f64::max)
    }

    /// Moves bundles away from cables with a utilisation above `hot`. Returns whether any moved.
    fn pass(&mut self, order: &[usize], routes: &mut Routes, kinds: usize, hot: f64) -> bool {
        let mut moved = false;
        for at in order {
            let members = self.bundles[*at].clone();
            let Some(old) = members.into_iter().find_map(|member| routes[member * kinds + self.kind]) else {
                continue;
            };
            let level = self.level(old);
            if level <= hot {
                continue;
            }
            let Some((run, rate)) = self.run(*at) else { continue };
            self.add(old, -rate);
            let new = self.widest(run, rate).unwrap_or(old);
            self.add(new, rate);
            if self.level(new) < level - 1e-9 {
                self.set(*at, Some(new), routes);
                moved = true;
            } else {
                self.add(new, -rate);
                self.add(old, rate);
            }
        }
        moved
    }
}
