//! Load of cables between NICs and T0s.
//!
//! In: a matrix, and the fraction of each commodity on every plane. Out: Gb/s for each NIC port. Invariants: loads are
//! exact for each NIC, even if a demand names single NICs. A demand between complete classes takes as much time as one
//! between two NICs.

use closc_plan::Plan;
use closc_topology::Topology;

use crate::class::{ClassMembers, Classes};
use crate::commodity::{Commodities, Sides};
use crate::demand::Matrix;
use crate::load::Loads;
use crate::network::Network;
use crate::place::Place;

/// Input of all load computations.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) topology: &'a Topology,
    pub(crate) network: &'a Network,
    pub(crate) matrix: &'a Matrix,
    pub(crate) sides: &'a Sides,
    pub(crate) commodities: &'a Commodities,
}

/// One side of a demand: the NICs of a class that are in a place.
#[derive(Clone, Copy)]
struct End<'a> {
    problem: Problem<'a>,
    classes: &'a Classes,
    part: &'a ClassMembers,
    place: Place,
}

impl End<'_> {
    fn nics(self) -> f64 {
        f64::from(self.part.nics)
    }

    /// Returns whether the end contains all NICs of its class.
    fn is_whole(self) -> bool {
        self.classes.all[self.part.class].nics == self.part.nics
    }

    fn has(self, nic: usize) -> bool {
        self.classes.class(nic) == Some(self.part.class)
            && self.place.holds(self.problem.topology, self.problem.network.shape.nic_at(nic))
    }

    fn members(self) -> impl Iterator<Item = usize> {
        self.classes.members(self.problem.network, self.part.class).filter(move |nic| self.has(*nic))
    }
}

/// Loads of one direction while they are summed up.
struct Sum {
    /// Load of each NIC of a class, by kind and class.
    class: Vec<Vec<f64>>,
    /// Additional load of single NICs, by kind and NIC.
    nic: Vec<Vec<f64>>,
}

impl Sum {
    fn new(network: &Network, classes: &Classes) -> Self {
        let kinds = network.kinds.len();
        Sum {
            class: vec![vec![0.0; classes.all.len()]; kinds],
            nic: vec![vec![0.0; network.there.len()]; kinds],
        }
    }

    /// Adds a demand with `rate` per pair of NICs to the NICs of one end.
    fn add(&mut self, kind: usize, end: End<'_>, far: End<'_>, same: u32, rate: f64) {
        let all_meet_as_many = same == 0 || (same == end.part.nics && same == far.part.nics);
        if all_meet_as_many && end.is_whole() {
            let peers = far.nics() - if same == 0 { 0.0 } else { 1.0 };
            self.class[kind][end.part.class] += rate * peers;
            return;
        }
        for nic in end.members() {
            self.nic[kind][nic] += rate * (far.nics() - f64::from(u8::from(far.has(nic))));
        }
    }

    /// Returns the sums by kind and NIC.
    fn finish(mut self, classes: &Classes) -> Vec<Vec<f64>> {
        for (nics, by_class) in self.nic.iter_mut().zip(&self.class) {
            for (nic, load) in nics.iter_mut().enumerate() {
                *load += classes.class(nic).map_or(0.0, |class| by_class[class]);
            }
        }
        self.nic
    }
}

/// Writes the load of NIC ports to `loads`. `share` returns the fraction of a commodity on each plane of a kind.
pub(crate) fn put(problem: &Problem<'_>, share: impl Fn(usize, usize) -> f64, loads: &mut Loads) {
    let Problem { topology, network, matrix, sides, commodities, .. } = *problem;
    let mut up = Sum::new(network, &sides.from);
    let mut down = Sum::new(network, &sides.to);
    for demand in matrix.demands.iter().filter(|demand| demand.gbps > 0.0) {
        let Some(cut) = sides.cut(topology, network, demand) else { continue };
        for to in &cut.to {
            for from in &cut.from {
                let Some(at) = commodities.find(from.class, to.class) else { continue };
                let same = sides.overlap(topology, network, demand, from, to);
                let a = End { problem: *problem, classes: &sides.from, part: from, place: demand.from };
                let b = End { problem: *problem, classes: &sides.to, part: to, place: demand.to };
                for kind in 0..network.kinds.len() {
                    let rate = cut.rate * share(at, kind);
                    if rate > 0.0 {
                        up.add(kind, a, b, same, rate);
                        down.add(kind, b, a, same, rate);
                    }
                }
            }
        }
    }
    loads.nic_up = up.finish(&sides.from);
    loads.nic_down = down.finish(&sides.to);
}
