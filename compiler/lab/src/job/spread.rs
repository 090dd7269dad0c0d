//! Remaining goodput and paths between NICs while cables are down.
//!
//! In: the tree's path tables and the model, the NICs, the cables that are down. Out: [`RemainingCapacity`]. Invariants:
//! the work grows with cables, NICs and pairs of T0 groups, not with pairs of NICs. Paths are followed through the cable
//! lists, not through routes.

mod flows;
mod state;

use std::collections::BTreeSet;

use super::endpoint::JobEndpoint;
use super::pattern::{Pattern, Work};
use crate::model::{CableId, Model};
use crate::tree::Tree;
use flows::{Flow, flows};
use state::{State, Wires};

/// Maximum number of planes.
const PLANES: usize = 32;

/// Remaining capacity of a pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RemainingCapacity {
    /// The remaining share of goodput. A NIC sends the same amount over each plane that connects it with the
    /// receiver. If cables have a limited rate, the most affected plane determines the share.
    pub goodput: f64,
    /// The remaining share of paths, as in the value for pairs of `closc whatif` if all NICs send.
    pub paths: f64,
}

/// Pairs of NICs that communicate, with their cables.
#[derive(Debug)]
pub struct Spread {
    wires: Wires,
    intact_state: State,
    /// Whether every cable has the rate of a NIC port. Otherwise, only NIC ports limit the rate.
    rated: bool,
}

impl Spread {
    /// Walks the paths of a tree. `rated` states whether every cable has exactly the rate of a NIC port.
    pub fn new(tree: &Tree, model: &Model, seats: &[JobEndpoint], rated: bool) -> Spread {
        let wires = Wires::of(tree, model, seats);
        let whole = wires.state(&BTreeSet::new());
        Spread { wires, intact_state: whole, rated }
    }

    /// Returns the remaining capacity while cables are down: the capacity of the worst pair if NICs wait for each
    /// other, otherwise the mean.
    pub fn remaining_capacity(&self, work: &Work, dead: &BTreeSet<CableId>) -> RemainingCapacity {
        let now = self.wires.state(dead);
        let flows = flows(work, &self.wires, &now);
        let (before, after) = (self.rates(&self.intact_state, &flows), self.rates(&now, &flows));
        let paths = |state: &State, flow: &Flow| -> u32 {
            let ports = state.connected_planes(flow.from, flow.to);
            planes(ports).map(|plane| state.paths(flow.from, flow.to, plane)).sum()
        };
        let share =
            |flow: &Flow| f64::from(paths(&now, flow)) / f64::from(paths(&self.intact_state, flow).max(1));
        let of = |after: f64, before: f64| if before > 0.0 { after / before } else { 1.0 };
        let each = || flows.iter().zip(before.iter().zip(&after)).filter(|(_, (before, _))| **before > 0.0);
        if work.pattern() == Pattern::Ring {
            let goodput = each().map(|(_, (before, after))| of(*after, *before)).fold(1.0, f64::min);
            return RemainingCapacity {
                goodput,
                paths: each().map(|(flow, _)| share(flow)).fold(1.0, f64::min),
            };
        }
        let pairs: f64 = each().map(|(flow, _)| flow.pairs).sum();
        let goodput = of(after.iter().sum(), before.iter().sum());
        let paths: f64 = each().map(|(flow, _)| flow.pairs * share(flow)).sum();
        RemainingCapacity { goodput, paths: of(paths, pairs) }
    }

    /// Returns the goodput of a pattern without faults if every NIC sends as much as it can. The unit is the rate of
    /// a NIC port. `None` if cables have no limited rate.
    pub fn ports(&self, work: &Work) -> Option<f64> {
        let flows = flows(work, &self.wires, &self.intact_state);
        self.rated.then(|| self.rates(&self.intact_state, &flows).iter().sum())
    }

    /// Returns the goodput of each flow, in units of a NIC port's rate.
    fn rates(&self, state: &State, flows: &[Flow]) -> Vec<f64> {
        let loads = self.rated.then(|| Loads::of(state, flows));
        let rate = |flow: &Flow| {
            let joined = state.connected_planes(flow.from, flow.to);
            let part = |plane| loads.as_ref().map_or(1.0, |loads| loads.part(state, flow, plane));
            // Planes have equal load.
            let least = planes(joined).map(part).fold(1.0, f64::min);
            flow.pairs * flow.weight * f64::from(joined.count_ones()) * least
        };
        flows.iter().map(rate).collect()
    }
}

fn planes(bits: u32) -> impl Iterator<Item = usize> {
    (0..PLANES).filter(move |plane| bits >> plane & 1 == 1)
}

/// Load of T0s, zones and NIC ports, on the assumption that only NIC ports limit the rate. The unit is the rate of a
/// NIC port.
#[derive(Debug)]
struct Loads {
    /// By group and plane: from its T0 upwards, and downwards to it.
    t0: Vec<[[f64; 2]; PLANES]>,
    /// By zone and plane: out of it, and into it.
    zones: Vec<[[f64; 2]; PLANES]>,
    /// By class of NICs and plane: the load of each receiving NIC.
    nics: Vec<[f64; PLANES]>,
}

impl Loads {
    fn of(state: &State, flows: &[Flow]) -> Loads {
        let mut loads = Loads {
            t0: vec![[[0.0; 2]; PLANES]; state.groups()],
            zones: vec![[[0.0; 2]; PLANES]; state.zones()],
            nics: vec![[0.0; PLANES]; flows.iter().map(|flow| flow.class + 1).max().unwrap_or(0)],
        };
        for flow in flows {
            for plane in planes(state.connected_planes(flow.from, flow.to)) {
                let load = flow.pairs * flow.weight;
                loads.nics[flow.class][plane] += load / flow.receivers;
                if flow.from.group == flow.to.group {
                    continue;
                }
                loads.t0[flow.from.group][plane][0] += load;
                loads.t0[flow.to.group][plane][1] += load;
                let zones = [flow.from, flow.to].map(|end| state.zone(end.group));
                if zones[0] != zones[1] {
                    loads.zones[zones[0]][plane][0] += load;
                    loads.zones[zones[1]][plane][1] += load;
                }
            }
        }
        loads
    }

    /// Returns the share of a flow's traffic over a plane that cables and the receiving port can carry.
    fn part(&self, state: &State, flow: &Flow, plane: usize) -> f64 {
        let room = |cables: u32, load: f64| if load > 0.0 { f64::from(cables) / load } else { 1.0 };
        let mut part = room(1, self.nics[flow.class][plane]).min(1.0);
        if flow.from.group != flow.to.group {
            for (way, end) in [flow.from, flow.to].into_iter().enumerate() {
                part = part.min(room(state.uplinks(end.group, plane), self.t0[end.group][plane][way]));
                let zone = state.zone(end.group);
                if state.zone(flow.from.group) != state.zone(flow.to.group) {
                    part = part.min(room(state.zone_uplinks(zone, plane), self.zones[zone][plane][way]));
                }
            }
        }
        part
    }
}
