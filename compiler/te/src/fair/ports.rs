//! Ports of NICs, and the units that use them.
//!
//! In: units. Out: the rate that ports allow each unit. Invariants: results are exact for each NIC, even if a
//! demand names single NICs. A unit between complete classes takes as much time as one between two NICs.

use super::{Footprints, LowestRate, Unit, is_bottleneck, level};
use crate::class::Classes;
use crate::host::Problem;
use crate::load::Stage;

/// The end of a demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Sends,
    Receives,
}

/// The ports of one side, in one kind of planes.
struct Lane {
    /// Rate of the stopped pairs: for each NIC of a class, and in addition for single NICs.
    stopped_rates: [Vec<f64>; 2],
    pairs: [Vec<f64>; 2],
    /// The rate per pair that ports allow: the minimum over the NICs of each class, and that of each NIC.
    level: [Vec<f64>; 2],
    /// The lowest rate of the rising pairs.
    rising_rates: [Vec<f64>; 2],
    /// Whether a class contains a bottleneck, and whether each NIC is one.
    done: [Vec<bool>; 2],
}

const CLASS: usize = 0;
const NIC: usize = 1;

/// The ports of all NICs during the rounds.
pub(super) struct Ports<'a> {
    problem: Problem<'a>,
    footprints: &'a Footprints<'a>,
    /// By side and kind.
    lanes: [Vec<Lane>; 2],
}

/// The NICs of a unit on one side: a complete class with the number of peers per NIC, or some of its NICs with theirs.
enum UnitNics {
    Class(usize, f64),
    Nics(Vec<(usize, f64)>),
}

impl<'a> Ports<'a> {
    pub(super) fn new(problem: &Problem<'a>, footprints: &'a Footprints<'a>) -> Self {
        let network = problem.network;
        let lanes = |classes: &Classes| {
            let two = |value: f64| [vec![value; classes.all.len()], vec![value; network.there.len()]];
            let done = [vec![false; classes.all.len()], vec![false; network.there.len()]];
            let lane = || Lane {
                stopped_rates: two(0.0),
                pairs: two(0.0),
                level: two(0.0),
                rising_rates: two(0.0),
                done: done.clone(),
            };
            (0..network.kinds.len()).map(|_| lane()).collect()
        };
        Ports { problem: *problem, footprints, lanes: [lanes(&problem.sides.from), lanes(&problem.sides.to)] }
    }

    /// Returns the fraction of a commodity on each plane of a kind.
    fn share(&self, commodity: usize, kind: usize) -> f64 {
        self.footprints.share(&self.problem, commodity, kind)
    }

    fn classes(&self, side: Side) -> &'a Classes {
        match side {
            Side::Sends => &self.problem.sides.from,
            Side::Receives => &self.problem.sides.to,
        }
    }

    /// Finds the NICs of a unit, each with the number of its peers.
    fn place(&self, unit: &Unit<'_>, side: Side) -> UnitNics {
        let (own, far, place, far_place) = match side {
            Side::Sends => (&unit.from, &unit.to, unit.demand.from, unit.demand.to),
            Side::Receives => (&unit.to, &unit.from, unit.demand.to, unit.demand.from),
        };
        let peers = f64::from(far.nics);
        let classes = self.classes(side);
        let all_meet_as_many =
            unit.shared_nics == 0 || (unit.shared_nics == own.nics && unit.shared_nics == far.nics);
        if all_meet_as_many && classes.all[own.class].nics == own.nics {
            return UnitNics::Class(own.class, if unit.shared_nics == 0 { peers } else { peers - 1.0 });
        }
        let far_classes = self.classes(if side == Side::Sends { Side::Receives } else { Side::Sends });
        let (network, topology) = (self.problem.network, self.problem.topology);
        let members = classes.members(network, own.class);
        let members = members.filter(|nic| place.holds(topology, network.shape.nic_at(*nic)));
        let peers_of = |nic: usize| {
            let both = far_classes.class(nic) == Some(far.class)
                && far_place.holds(topology, network.shape.nic_at(nic));
            peers - f64::from(u8::from(both))
        };
        UnitNics::Nics(members.map(|nic| (nic, peers_of(nic))).filter(|(_, peers)| *peers > 0.0).collect())
    }

    /// Divides the remaining capacity of every port among its rising pairs.
    pub(super) fn divide(&mut self, units: &[Unit<'_>]) {
        for (number, side) in [Side::Sends, Side::Receives].into_iter().enumerate() {
            for lane in &mut self.lanes[number] {
                for values in lane.stopped_rates.iter_mut().chain(&mut lane.pairs) {
                    values.fill(0.0);
                }
            }
            for unit in units {
                let place = self.place(unit, side);
                for kind in 0..self.lanes[number].len() {
                    let part = self.share(unit.commodity, kind);
                    let lane = &mut self.lanes[number][kind];
                    let mut add = |which: usize, at: usize, peers: f64| {
                        if unit.rises {
                            lane.pairs[which][at] += part * peers;
                        } else {
                            lane.stopped_rates[which][at] += part * peers * unit.rate;
                        }
                    };
                    match &place {
                        UnitNics::Class(class, peers) => add(CLASS, *class, *peers),
                        UnitNics::Nics(nics) => nics.iter().for_each(|(nic, peers)| add(NIC, *nic, *peers)),
                    }
                }
            }
            let classes = self.classes(side);
            let speed = Stage::NicUp.speed(&self.problem.network.shape);
            for lane in &mut self.lanes[number] {
                lane.level[CLASS].fill(f64::INFINITY);
                for nic in 0..self.problem.network.there.len() {
                    let Some(class) = classes.class(nic) else { continue };
                    let sum = |of: &[Vec<f64>; 2]| of[CLASS][class] + of[NIC][nic];
                    let rate = level(speed, sum(&lane.stopped_rates), sum(&lane.pairs));
                    lane.level[NIC][nic] = rate;
                    lane.level[CLASS][class] = lane.level[CLASS][class].min(rate);
                }
            }
        }
    }

    /// Returns the rate that the ports of a unit allow it.
    pub(super) fn allowed_rate(&self, unit: &Unit<'_>, side: Side) -> LowestRate {
        let mut least = LowestRate::NONE;
        let (number, stage) = side_stage(side);
        let place = self.place(unit, side);
        for (kind, lane) in self.lanes[number].iter().enumerate() {
            if self.share(unit.commodity, kind) > 0.0 {
                match &place {
                    UnitNics::Class(class, _) => least.lower(lane.level[CLASS][*class], stage),
                    UnitNics::Nics(nics) => {
                        for (nic, _) in nics {
                            least.lower(lane.level[NIC][*nic], stage);
                        }
                    }
                }
            }
        }
        least
    }

    /// Finds the bottlenecks.
    pub(super) fn hold(&mut self, units: &[Unit<'_>]) {
        for (number, side) in [Side::Sends, Side::Receives].into_iter().enumerate() {
            for lane in &mut self.lanes[number] {
                lane.rising_rates.iter_mut().for_each(|values| values.fill(f64::INFINITY));
            }
            for unit in units.iter().filter(|unit| unit.rises) {
                let place = self.place(unit, side);
                for kind in 0..self.lanes[number].len() {
                    if self.share(unit.commodity, kind) == 0.0 {
                        continue;
                    }
                    let held = &mut self.lanes[number][kind].rising_rates;
                    let mut lower =
                        |which: usize, at: usize| held[which][at] = held[which][at].min(unit.rate);
                    match &place {
                        UnitNics::Class(class, _) => lower(CLASS, *class),
                        UnitNics::Nics(nics) => nics.iter().for_each(|(nic, _)| lower(NIC, *nic)),
                    }
                }
            }
            let classes = self.classes(side);
            for lane in &mut self.lanes[number] {
                lane.done[CLASS].fill(false);
                for nic in 0..self.problem.network.there.len() {
                    let Some(class) = classes.class(nic) else { continue };
                    let (rate, held) = (
                        lane.level[NIC][nic],
                        lane.rising_rates[CLASS][class].min(lane.rising_rates[NIC][nic]),
                    );
                    let done = rate.is_finite() && is_bottleneck(rate, held);
                    lane.done[NIC][nic] = done;
                    lane.done[CLASS][class] |= done;
                }
            }
        }
    }

    /// Returns whether a port of a unit is a bottleneck.
    pub(super) fn is_bottleneck(&self, unit: &Unit<'_>, side: Side) -> bool {
        let (number, _) = side_stage(side);
        let place = self.place(unit, side);
        self.lanes[number].iter().enumerate().any(|(kind, lane)| {
            self.share(unit.commodity, kind) > 0.0
                && match &place {
                    UnitNics::Class(class, _) => lane.done[CLASS][*class],
                    UnitNics::Nics(nics) => nics.iter().any(|(nic, _)| lane.done[NIC][*nic]),
                }
        })
    }
}

fn side_stage(side: Side) -> (usize, Stage) {
    match side {
        Side::Sends => (0, Stage::NicUp),
        Side::Receives => (1, Stage::NicDown),
    }
}
