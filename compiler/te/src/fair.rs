//! Carried rates where not everything fits: max-min fair shares.
//!
//! In: a placement. Out: what each demand is not given, with the cables that stopped it. Invariants: no cable is above its
//! capacity; what a demand sends between two groups rises as one, with the same rate for every pair of NICs; it has what
//! it asked for, or uses a cable that is full and on which no pair has more. That allocation is unique (Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2).
//!
//! Rates rise together from 0, per pair of NICs. In every round each cable divides what it has left among the pairs that
//! still rise; a cable whose pairs are all held back by nothing sooner has found its share, and they stop. Several cables
//! can be done in a round, so rounds are few. Fractions of commodities on cables are those of the placement.

mod cables;
mod ports;

use crate::class::Part;
use crate::commodity::{Left, Reason};
use crate::demand::Demand;
use crate::host::Problem;
use crate::load::Stage;
use cables::Cables;
pub(crate) use cables::Footprints;
use ports::{Ports, Side};

/// Rates that differ by less are the same: sums of many numbers are rounded.
const ROUNDING: f64 = 1e-9;
/// After so many rounds the rest stays at the share that it has at least: nothing is above its capacity then either.
const ROUNDS_MAX: usize = 1000;

/// The pairs of NICs between a class of senders and a class of receivers in one demand. All of them have one rate.
struct Unit<'a> {
    demand: &'a Demand,
    commodity: usize,
    from: Part,
    to: Part,
    /// NICs on both sides; they do not send to themselves.
    same: u32,
    pairs: f64,
    /// Demand of each pair, in Gb/s.
    asked: f64,
    /// Rate of each pair: while it rises, the maximum that its cables allow now.
    rate: f64,
    rises: bool,
    /// The cables that hold it back.
    by: Option<Stage>,
}

/// A number that cables of a stage give, the smallest so far.
#[derive(Debug, Clone, Copy)]
struct Least {
    rate: f64,
    by: Option<Stage>,
}

impl Least {
    const NONE: Least = Least { rate: f64::INFINITY, by: None };

    /// Returns the other one if it is less by more than rounding.
    fn or_less(self, other: Least) -> Least {
        if other.rate < self.rate * (1.0 - ROUNDING) {
            other
        } else {
            Least { rate: self.rate.min(other.rate), by: self.by }
        }
    }

    fn lower(&mut self, rate: f64, by: Stage) {
        if rate < self.rate {
            *self = Least { rate, by: Some(by) };
        }
    }
}

/// Remaining capacity of a cable for each rising pair.
fn level(capacity: f64, taken: f64, pairs: f64) -> f64 {
    if pairs > 0.0 { ((capacity - taken) / pairs).max(0.0) } else { f64::INFINITY }
}

/// Tells whether a cable holds back all that use it, and nothing else holds back any of them sooner.
fn is_bottleneck(level: f64, least: f64) -> bool {
    least >= level * (1.0 - ROUNDING)
}

/// Adds what finds no room to what is left.
pub(crate) fn leave(problem: &Problem<'_>, footprints: &Footprints<'_>, left: &mut Left) {
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
                        same,
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

/// Stops those that have found their share. Returns whether any is left that rises.
fn round(units: &mut [Unit<'_>], cables: &mut Cables<'_>, ports: &mut Ports<'_>) -> bool {
    cables.divide(units);
    ports.divide(units);
    for unit in units.iter_mut().filter(|unit| unit.rises) {
        // Of two that are full at the same rate the port is named: a demand above it fits nowhere.
        let mut least = ports.least(unit, Side::Sends).or_less(ports.least(unit, Side::Receives));
        least = least.or_less(cables.least(unit.commodity));
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
