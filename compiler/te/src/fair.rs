//! Carried rates where demands exceed capacity: max-min fair shares.
//!
//! In: a placement. Out: the rate that each demand lacks, with the cables that limit it. Invariants: no cable is above
//! its capacity. Within a demand, all pairs of NICs between two classes have the same rate. A pair gets its full share
//! of the demand, or uses a full cable on which no pair has a higher rate. This allocation is unique (Bertsekas and
//! Gallager, "Data Networks", 1992, section 6.5.2).
//!
//! Rates of all pairs rise together from 0. In every round, each cable divides its remaining capacity among the pairs
//! that still rise. If no pair of a cable stops at a lower rate for another reason, that cable is a bottleneck: its
//! pairs stop at this rate. One round can find several bottlenecks, so there are few rounds. The fractions of
//! commodities on cables are those of the placement.

mod cables;
mod ports;

use crate::class::ClassMembers;
use crate::commodity::{Reason, UncarriedDemands};
use crate::demand::Demand;
use crate::host::Problem;
use crate::load::Stage;
use cables::Cables;
pub(crate) use cables::Footprints;
use ports::{Ports, Side};

/// Rates that differ by less count as equal, because sums of many numbers have rounding errors.
const ROUNDING: f64 = 1e-9;
/// Maximum number of rounds. After them, pairs that still rise keep their current rate, which exceeds no capacity.
const ROUNDS_MAX: usize = 1000;

/// The pairs of NICs between a class of senders and a class of receivers in one demand. All have the same rate.
struct Unit<'a> {
    demand: &'a Demand,
    commodity: usize,
    from: ClassMembers,
    to: ClassMembers,
    /// NICs on both sides; they do not send to themselves.
    shared_nics: u32,
    pairs: f64,
    /// Demand of each pair, in Gb/s.
    asked: f64,
    /// Rate of each pair. While it rises, this is the maximum that its cables currently allow, and at most `asked`.
    rate: f64,
    rises: bool,
    /// The stage of the cables that limit it.
    by: Option<Stage>,
}

/// The smallest rate so far, with the stage of the cable that allows no more.
#[derive(Debug, Clone, Copy)]
struct LowestRate {
    rate: f64,
    by: Option<Stage>,
}

impl LowestRate {
    const NONE: LowestRate = LowestRate { rate: f64::INFINITY, by: None };

    /// Returns `other` if its rate is lower by more than a rounding error. Otherwise keeps the cause, with
    /// the lower of both rates.
    fn or_less(self, other: LowestRate) -> LowestRate {
        if other.rate < self.rate * (1.0 - ROUNDING) {
            other
        } else {
            LowestRate { rate: self.rate.min(other.rate), by: self.by }
        }
    }

    fn lower(&mut self, rate: f64, by: Stage) {
        if rate < self.rate {
            *self = LowestRate { rate, by: Some(by) };
        }
    }
}

/// Remaining capacity of a cable for each rising pair.
fn level(capacity: f64, taken: f64, pairs: f64) -> f64 {
    if pairs > 0.0 { ((capacity - taken) / pairs).max(0.0) } else { f64::INFINITY }
}

/// Returns whether a cable is the bottleneck of all its rising pairs: none of them has a lower rate than `level`.
fn is_bottleneck(level: f64, least: f64) -> bool {
    least >= level * (1.0 - ROUNDING)
}

/// Adds the rates that exceed capacity to `left`.
pub(crate) fn leave(problem: &Problem<'_>, footprints: &Footprints<'_>, left: &mut UncarriedDemands) {
    let mut units = units(problem);
    let mut cables = Cables::new(problem, footprints);
    let mut ports = Ports::new(problem, footprints);
    for _ in 0..ROUNDS_MAX {
        if !round(&mut units, &mut cables, &mut ports) {
            break;
        }
    }
    for unit in &units {
        let lost = (unit.asked - unit.rate) * unit.pairs;
        if let (Some(stage), true) = (unit.by, unit.rate < unit.asked * (1.0 - ROUNDING)) {
            *left.entry((unit.demand.from, unit.demand.to, Reason::Full(stage))).or_default() += lost;
        }
    }
}

fn units<'a>(problem: &Problem<'a>) -> Vec<Unit<'a>> {
    let Problem { topology, network, matrix, sides, commodities, .. } = *problem;
    let mut units = Vec::new();
    for demand in matrix.demands.iter().filter(|demand| demand.gbps > 0.0) {
        let Some(cut) = sides.cut(topology, network, demand) else { continue };
        for to in &cut.to {
            for from in &cut.from {
                let Some(commodity) = commodities.find(from.class, to.class) else { continue };
                let same = sides.overlap(topology, network, demand, from, to);
                let pairs = u64::from(from.nics) * u64::from(to.nics) - u64::from(same);
                if pairs > 0 {
                    let (from, to, pairs) = (from.clone(), to.clone(), pairs as f64);
                    let asked = cut.rate;
                    units.push(Unit {
                        demand,
                        commodity,
                        from,
                        to,
                        shared_nics: same,
                        pairs,
                        asked,
                        rate: 0.0,
                        rises: true,
                        by: None,
                    });
                }
            }
        }
    }
    units
}

/// Runs a round: stops the units at a bottleneck. Returns whether another round is needed.
fn round(units: &mut [Unit<'_>], cables: &mut Cables<'_>, ports: &mut Ports<'_>) -> bool {
    cables.divide(units);
    ports.divide(units);
    for unit in units.iter_mut().filter(|unit| unit.rises) {
        // If a port and a cable are full at the same rate, report the port: no placement can carry more than it does.
        let mut least =
            ports.allowed_rate(unit, Side::Sends).or_less(ports.allowed_rate(unit, Side::Receives));
        least = least.or_less(cables.allowed_rate(unit.commodity));
        unit.by = (least.rate < unit.asked).then_some(least.by).flatten();
        unit.rate = least.rate.min(unit.asked);
    }
    cables.hold(units);
    ports.hold(units);
    let (mut stopped, mut rising) = (false, false);
    for unit in units.iter_mut().filter(|unit| unit.rises) {
        let has_all = unit.by.is_none();
        let is_held = |side| ports.is_bottleneck(unit, side);
        if has_all
            || cables.is_bottleneck(unit.commodity, unit.rate)
            || is_held(Side::Sends)
            || is_held(Side::Receives)
        {
            unit.rises = false;
            stopped = true;
        } else {
            rising = true;
        }
    }
    stopped && rising
}
