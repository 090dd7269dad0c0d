//! Cables between switches, and the commodities that use them.
//!
//! In: a placement. Out: the rate that cables allow each commodity. Invariants: a commodity that the placement
//! spreads over several cables is limited by the fullest of them.

use super::{LowestRate, Unit, is_bottleneck, level};
use crate::ecmp::{self, Spreading};
use crate::host::Problem;
use crate::load::{LinkValues, Stage};
use crate::placement::Placement;
use crate::split::{GroupPair, PlaneFractions, share};

/// Use of a cable: its stage, its index, and the fraction of a commodity on it, in each plane of a kind.
type CableUse = (Stage, u32, f64);

/// The cables that commodities use: the placement with the seed of its hash.
pub(crate) struct Footprints<'a> {
    pub(crate) placement: &'a Placement,
    pub(crate) seed: u64,
}

impl Footprints<'_> {
    /// Returns the fraction of a commodity on each plane of a kind.
    pub(super) fn share(&self, problem: &Problem<'_>, commodity: usize, kind: usize) -> f64 {
        let weights = match self.placement {
            Placement::Sprayed(splits) => splits[commodity].as_deref(),
            Placement::Pinned(_) => None,
        };
        share(problem.network, &problem.commodities.all[commodity], weights, kind)
    }
}

/// Maximum number of uses that are kept between rounds. If there are more, all are computed again each time.
const KEPT_MAX: usize = 1 << 22;

/// The uses of one commodity in one kind of planes.
struct CommodityUses {
    kind: usize,
    commodity: usize,
    uses: Vec<CableUse>,
}

/// The cables between switches during the rounds.
pub(super) struct Cables<'a> {
    problem: Problem<'a>,
    footprints: &'a Footprints<'a>,
    /// The uses of all commodities; `None` if there are too many to keep.
    cached_uses: Option<Vec<CommodityUses>>,
    /// Rate of the stopped pairs on each cable.
    stopped_rates: Vec<LinkValues>,
    /// Number of rising pairs on each cable.
    pairs: Vec<LinkValues>,
    /// The lowest rate of the rising pairs on each cable.
    rising_rates: Vec<LinkValues>,
    /// The rate that the cables of each commodity allow.
    allowed_rates: Vec<LowestRate>,
    /// The lowest rate at which a cable of each commodity is a bottleneck; NaN if none is.
    bottleneck_rates: Vec<f64>,
}

impl<'a> Cables<'a> {
    pub(super) fn new(problem: &Problem<'a>, footprints: &'a Footprints<'a>) -> Self {
        let zero = vec![LinkValues::zero(&problem.network.shape); problem.network.kinds.len()];
        let count = problem.commodities.all.len();
        let mut cables = Cables {
            problem: *problem,
            footprints,
            cached_uses: None,
            stopped_rates: zero.clone(),
            pairs: zero.clone(),
            rising_rates: zero,
            allowed_rates: vec![LowestRate::NONE; count],
            bottleneck_rates: vec![f64::NAN; count],
        };
        let (mut kept, mut uses_kept) = (Vec::new(), 0);
        cables.visit(|kind, commodity, uses| {
            uses_kept += uses.len();
            if uses_kept <= KEPT_MAX {
                kept.push(CommodityUses { kind, commodity, uses: uses.to_vec() });
            }
        });
        cables.cached_uses = (uses_kept <= KEPT_MAX).then_some(kept);
        cables
    }

    /// Calls `each` with the uses of every commodity in every kind of planes.
    fn visit(&self, mut each: impl FnMut(usize, usize, &[CableUse])) {
        match &self.cached_uses {
            Some(kept) => kept.iter().for_each(|kept| each(kept.kind, kept.commodity, &kept.uses)),
            None => compute_uses(&self.problem, self.footprints, each),
        }
    }

    /// Divides the remaining capacity of every cable among its rising pairs.
    pub(super) fn divide(&mut self, units: &[Unit<'_>]) {
        let shape = &self.problem.network.shape;
        let count = self.allowed_rates.len();
        let (mut rising, mut stopped) = (vec![0.0; count], vec![0.0; count]);
        for unit in units {
            if unit.rises {
                rising[unit.commodity] += unit.pairs;
            } else {
                stopped[unit.commodity] += unit.pairs * unit.rate;
            }
        }
        let zero = vec![LinkValues::zero(shape); self.stopped_rates.len()];
        let (mut taken, mut pairs) = (zero.clone(), zero);
        self.visit(|kind, commodity, uses| {
            for (stage, at, part) in uses {
                *taken[kind].at(*stage, *at as usize) += stopped[commodity] * part;
                *pairs[kind].at(*stage, *at as usize) += rising[commodity] * part;
            }
        });
        let mut least = vec![LowestRate::NONE; count];
        self.visit(|kind, commodity, uses| {
            for (stage, at, _) in uses {
                let at = *at as usize;
                let rate = level(stage.speed(shape), taken[kind].of(*stage)[at], pairs[kind].of(*stage)[at]);
                least[commodity].lower(rate, *stage);
            }
        });
        (self.stopped_rates, self.pairs, self.allowed_rates) = (taken, pairs, least);
    }

    /// Returns the rate that the cables of a commodity allow it.
    pub(super) fn allowed_rate(&self, commodity: usize) -> LowestRate {
        self.allowed_rates[commodity]
    }

    /// Finds the bottlenecks.
    pub(super) fn hold(&mut self, units: &[Unit<'_>]) {
        let shape = &self.problem.network.shape;
        let mut rates = vec![f64::INFINITY; self.allowed_rates.len()];
        for unit in units.iter().filter(|unit| unit.rises) {
            rates[unit.commodity] = rates[unit.commodity].min(unit.rate);
        }
        let mut held = std::mem::take(&mut self.rising_rates);
        for links in &mut held {
            links.fill(f64::INFINITY);
        }
        self.visit(|kind, commodity, uses| {
            for (stage, at, _) in uses {
                let least = held[kind].at(*stage, *at as usize);
                *least = least.min(rates[commodity]);
            }
        });
        let mut done = vec![f64::NAN; self.allowed_rates.len()];
        self.visit(|kind, commodity, uses| {
            for (stage, at, _) in uses {
                let at = *at as usize;
                let (taken, pairs) =
                    (self.stopped_rates[kind].of(*stage)[at], self.pairs[kind].of(*stage)[at]);
                let rate = level(stage.speed(shape), taken, pairs);
                if rate.is_finite() && is_bottleneck(rate, held[kind].of(*stage)[at]) {
                    // `min` ignores NaN, so the lowest rate wins.
                    done[commodity] = rate.min(done[commodity]);
                }
            }
        });
        (self.rising_rates, self.bottleneck_rates) = (held, done);
    }

    /// Returns whether a cable of a commodity is a bottleneck at this rate or below.
    pub(super) fn is_bottleneck(&self, commodity: usize, rate: f64) -> bool {
        self.bottleneck_rates[commodity] <= rate * (1.0 + super::ROUNDING)
    }
}

/// Computes the uses.
fn compute_uses(
    problem: &Problem<'_>,
    footprints: &Footprints<'_>,
    mut each: impl FnMut(usize, usize, &[CableUse]),
) {
    let network = problem.network;
    let all = &problem.commodities.all;
    let mut uses = Vec::new();
    let mut scratch = LinkValues::zero(&network.shape);
    let mut found = |kind: usize, at: usize, run: GroupPair, load: &mut LinkValues| {
        uses.clear();
        let gbps = all[at].gbps;
        load.take(&network.shape, (run.a, run.b), |stage, at, carried| {
            uses.push((stage, at as u32, carried / gbps));
        });
        each(kind, at, &uses);
    };
    match footprints.placement {
        Placement::Sprayed(splits) => {
            let mut parts = PlaneFractions::default();
            for (at, commodity) in all.iter().enumerate() {
                let Some(run) = GroupPair::of(network, problem.sides, commodity) else { continue };
                let weights = splits[at].as_deref();
                for kind in 0..network.kinds.len() {
                    let rate = commodity.gbps * share(network, commodity, weights, kind);
                    if rate > 0.0 {
                        let within = weights.and_then(|weights| weights.plane_weights[kind].as_ref());
                        parts.spread(network, &network.kinds[kind], run, within);
                        parts.add(network, run, rate, &mut scratch);
                        found(kind, at, run, &mut scratch);
                    }
                }
            }
        }
        Placement::Pinned(Some(routes)) => {
            ecmp::visit_commodities(problem, Spreading::Pinned(routes), &mut scratch, &mut found);
        }
        Placement::Pinned(None) => {
            ecmp::visit_commodities(
                problem,
                ecmp::by_file(problem.topology, footprints.seed),
                &mut scratch,
                &mut found,
            );
        }
    }
}
