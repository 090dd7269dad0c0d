//! Places traffic of a fabric whose switches hash: every slice of a group's NICs is pinned to one path in each plane.
//!
//! In: a problem. Out: a route for each commodity and kind of planes. Always: the larger demand is placed first, on
//! the widest path that is left (constrained shortest path first: all paths between two groups are equally long);
//! then those on the fullest cables move while that gains. The same input gives the same routes.

use crate::commodity::Commodity;
use crate::host::Problem;
use crate::load::{PerLink, Stage};
use crate::route::{Finder, Route};
use crate::split::{Run, share};
use crate::spray::largest_first;

/// The most passes of moves.
const PASSES: usize = 16;

/// Routes by commodity and kind; nothing within a group and where a kind is not used.
pub(crate) type Routes = Vec<Option<Route>>;

/// Routes and what they put on the cables between switches.
pub(crate) struct Pinned {
    pub(crate) routes: Routes,
    pub(crate) fabric: Vec<PerLink>,
}

/// Places the commodities of a problem; moves stop at the target.
pub(crate) fn place(problem: &Problem<'_>, target: f64) -> Pinned {
    let (network, commodities) = (problem.network, &problem.commodities.all);
    let kinds = network.kinds.len();
    let order = largest_first(commodities);
    let mut routes = vec![None; commodities.len() * kinds];
    let mut fabric = vec![PerLink::zero(&network.shape); kinds];
    for kind in 0..kinds {
        let mut lane = Lane { problem, kind, load: &mut fabric[kind] };
        for at in &order {
            let commodity = &commodities[*at];
            let Some((run, rate)) = lane.run(commodity) else { continue };
            let found = lane.widest(run, rate);
            if let Some(route) = found {
                lane.add(route, rate);
            }
            routes[at * kinds + kind] = found;
        }
        for _ in 0..PASSES {
            let top = lane.max();
            if top <= target || !lane.pass(&order, &mut routes, kinds, target.max(top * 0.98)) {
                break;
            }
        }
    }
    Pinned { routes, fabric }
}

/// One kind of planes while it is filled.
struct Lane<'a> {
    problem: &'a Problem<'a>,
    kind: usize,
    load: &'a mut PerLink,
}

impl Lane<'_> {
    /// Returns where a commodity runs and its rate in a plane, if it passes cables between switches here.
    fn run(&self, commodity: &Commodity) -> Option<(Run, f64)> {
        let rate = commodity.gbps * share(self.problem.network, commodity, None, self.kind);
        let run = Run::of(self.problem.network, self.problem.sides, commodity)?;
        (rate > 0.0).then_some((run, rate))
    }

    /// Finds the path whose fullest cable is emptiest once the rate is on it; among equals, that with most room in
    /// all.
    fn widest(&self, run: Run, rate: f64) -> Option<Route> {
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

    /// Moves what is on cables above `hot`; tells whether anything moved.
    fn pass(&mut self, order: &[usize], routes: &mut Routes, kinds: usize, hot: f64) -> bool {
        let mut moved = false;
        for at in order {
            let place = at * kinds + self.kind;
            let Some(old) = routes[place] else { continue };
            let level = self.level(old);
            if level <= hot {
                continue;
            }
            let Some((run, rate)) = self.run(&self.problem.commodities.all[*at]) else { continue };
            self.add(old, -rate);
            let new = self.widest(run, rate).unwrap_or(old);
            self.add(new, rate);
            if self.level(new) < level - 1e-9 {
                routes[place] = Some(new);
                moved = true;
            } else {
                self.add(new, -rate);
                self.add(old, rate);
            }
        }
        moved
    }
}
