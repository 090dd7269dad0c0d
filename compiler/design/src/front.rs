//! The designs that no other design beats, and their order for display.
//!
//! In: designs, one at a time. Out: a front. Invariants: a design that is left out did not pass the checks, or a
//! design that passed beats or equals it.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_artefacts::Routing;

use crate::design::Design;
use crate::measure::{Criteria, Measure, MeasureError, Objective, hops};
use crate::space::Sieve;

/// Designs by routing and measure.
type ByRouting<'a> = BTreeMap<&'static str, BTreeMap<Measure, Vec<Design<'a>>>>;

/// Number of measures with a design above which designs are thinned. They take some 8 MiB.
const STORED_MAX: usize = 8192;

/// Designs by routing and measures. Of designs with equal measures, operating system and switches, the simplest is kept:
/// of those that depend on an assumption, and of the others.
pub struct Candidates<'a, 'p> {
    numbers: Criteria<'p>,
    by_routing: ByRouting<'a>,
    /// By routing, measures of designs that passed the checks, and whether within published limits. Designs that one of
    /// them beats are omitted.
    bar: BTreeMap<&'static str, Vec<(Measure, bool)>>,
    /// Number of measures with a design.
    stored: usize,
    /// Designs that were compared.
    pub compared: usize,
    compared_by_routing: BTreeMap<&'static str, usize>,
    /// Designs that were left out because an item of them has no price.
    pub unpriced: usize,
    /// Items without a price in the first design that was left out.
    pub missing: Vec<String>,
    /// Designs that were left out because a switch or a module of them has no published power.
    pub unpublished: usize,
    /// Switches and modules without published power in the first design that was left out.
    pub powerless: Vec<String>,
}

/// A design that passed the checks.
#[derive(Debug, Clone)]
pub struct FrontDesign<'a> {
    /// Its numbers.
    pub measure: Measure,
    /// The design.
    pub design: Design<'a>,
    /// Whether every limit that it needs is published or measured, and its parallel cables work in the assumed release.
    /// A design for which this does not hold beats only others of that kind.
    pub is_firm: bool,
}

/// Designs of which none beats another.
pub type Front<'a> = Vec<FrontDesign<'a>>;

/// Result of the checks of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is wrong.
    Firm,
    /// It exceeds a limit that is only assumed, or its parallel cables need a later release.
    Assumed,
    /// It cannot be built.
    Refused,
}

impl FrontDesign<'_> {
    /// Returns whether it is better than a design with this measure. `is_firm` tells whether every limit that this design
    /// needs is published or measured.
    pub fn beats(&self, measure: &Measure, is_firm: bool) -> bool {
        (self.is_firm || !is_firm) && self.measure.beats(measure)
    }
}

impl<'a, 'p> Candidates<'a, 'p> {
    /// Starts without a design.
    pub fn new(numbers: Criteria<'p>) -> Self {
        Candidates {
            numbers,
            by_routing: BTreeMap::new(),
            bar: BTreeMap::new(),
            stored: 0,
            compared: 0,
            compared_by_routing: BTreeMap::new(),
            unpriced: 0,
            missing: Vec::new(),
            unpublished: 0,
            powerless: Vec::new(),
        }
    }

    /// Returns the number of designs with a routing.
    pub fn count_by_routing(&self, routing: Routing) -> usize {
        self.compared_by_routing.get(routing.keyword()).copied().unwrap_or_default()
    }

    /// Replaces the designs by a bar: later designs that one of them beats are omitted. At most `most` designs with the
    /// same loss and planes by NIC are checked for it.
    ///
    /// # Errors
    ///
    /// Those of the check.
    pub fn into_bar<E>(
        self,
        most: usize,
        mut passes: impl FnMut(&Design<'a>) -> Result<Verdict, E>,
    ) -> Result<Self, E> {
        let numbers = self.numbers;
        let mut raised = Candidates::new(numbers);
        let mut counts: BTreeMap<(&str, u32, u32), usize> = BTreeMap::new();
        let fronts = self.fronts(|design| {
            let key = (design.routing.keyword(), u32::from(design.planes), design.planes_by_nic);
            let count = counts.entry(key).or_default();
            if *count >= most {
                return Ok(Verdict::Refused);
            }
            let verdict = passes(design)?;
            *count += usize::from(verdict != Verdict::Refused);
            Ok(verdict)
        })?;
        for (routing, front) in fronts {
            raised.bar.insert(routing, front.iter().map(|found| (found.measure, found.is_firm)).collect());
        }
        Ok(raised)
    }

    /// Returns whether a design of the bar beats one with this routing and measure. `exceeds` tells whether that one
    /// needs an assumed limit, as only then it can be beaten by others that need one.
    fn is_below_bar(&self, routing: Routing, measure: &Measure, exceeds: impl FnOnce() -> bool) -> bool {
        let Some(bar) = self.bar.get(routing.keyword()) else { return false };
        let beats =
            |firm: bool| bar.iter().any(|(better, is_firm)| *is_firm == firm && better.beats(measure));
        beats(true) || beats(false) && exceeds()
    }

    /// Adds a design.
    pub fn add(&mut self, design: Design<'a>) {
        self.compared += 1;
        *self.compared_by_routing.entry(design.routing.keyword()).or_default() += 1;
        let measure = match design.measure(self.numbers, &design.media()) {
            Ok(measure) => measure,
            Err(MeasureError::Price) => {
                if let (0, Some(prices)) = (self.unpriced, self.numbers.prices) {
                    self.missing = prices.unpriced_items(&design.bill()).map(str::to_owned).collect();
                }
                self.unpriced += 1;
                return;
            }
            Err(MeasureError::Power) => {
                if self.unpublished == 0 {
                    [self.powerless, _] = design.power(&design.media()).unpublished_kinds();
                }
                return self.unpublished += 1;
            }
        };
        if self.is_below_bar(design.routing, &measure, || design.is_conditional()) {
            return;
        }
        let by_measure = self.by_routing.entry(design.routing.keyword()).or_default();
        // Most measures have one design: a vector that grows by itself starts with room for four.
        let equal = by_measure.entry(measure).or_insert_with(|| {
            self.stored += 1;
            Vec::with_capacity(1)
        });
        match equal.iter_mut().find(|kept| is_judged_like(kept, &design)) {
            Some(kept) if plain(kept) <= plain(&design) => {}
            Some(kept) => *kept = design,
            None => equal.push(design),
        }
    }

    /// Returns the front of each routing, of the designs that pass a check. Designs that another one beats are not
    /// checked.
    ///
    /// # Errors
    ///
    /// Those of the check.
    pub fn fronts<E>(
        self,
        passes: impl FnMut(&Design<'a>) -> Result<Verdict, E>,
    ) -> Result<BTreeMap<&'static str, Front<'a>>, E> {
        fronts(self.by_routing, passes)
    }

    /// Returns whether so many designs are stored that they should be [thinned](Candidates::thin).
    pub fn is_full(&self) -> bool {
        self.stored >= STORED_MAX
    }

    /// Keeps only the front of each routing, of the designs that pass a check, and omits later designs that one of them
    /// beats.
    ///
    /// # Errors
    ///
    /// Those of the check.
    pub fn thin<E>(&mut self, passes: impl FnMut(&Design<'a>) -> Result<Verdict, E>) -> Result<(), E> {
        self.stored = 0;
        for (routing, front) in fronts(std::mem::take(&mut self.by_routing), passes)? {
            self.stored += front.len();
            let bar = self.bar.entry(routing).or_default();
            bar.retain(|(measure, is_firm)| !front.iter().any(|found| found.beats(measure, *is_firm)));
            bar.extend(front.iter().map(|found| (found.measure, found.is_firm)));
            bar.sort_unstable();
            bar.dedup();
            let by_measure = self.by_routing.entry(routing).or_default();
            for FrontDesign { measure, design, .. } in front {
                by_measure.entry(measure).or_default().push(design);
            }
        }
        Ok(())
    }
}

/// Returns the front of each routing, of the designs that pass a check.
fn fronts<'a, E>(
    by_routing: ByRouting<'a>,
    mut passes: impl FnMut(&Design<'a>) -> Result<Verdict, E>,
) -> Result<BTreeMap<&'static str, Front<'a>>, E> {
    let mut fronts = BTreeMap::new();
    for (routing, by_measure) in by_routing {
        let mut front: Front<'a> = Vec::new();
        // Measures are in ascending order, so a design that beats another comes before it.
        for (measure, mut equal) in by_measure {
            if front.iter().any(|better| better.beats(&measure, true)) {
                continue;
            }
            equal.sort_by_key(plain);
            for design in equal {
                // A design that depends on an assumption can also be beaten by designs that depend on one.
                if design.is_conditional() && front.iter().any(|better| better.beats(&measure, false)) {
                    continue;
                }
                let is_firm = match passes(&design)? {
                    Verdict::Firm => true,
                    Verdict::Assumed => false,
                    Verdict::Refused => continue,
                };
                if !front.iter().any(|better| better.beats(&measure, is_firm)) {
                    front.push(FrontDesign { measure, design, is_firm });
                }
                if is_firm {
                    break;
                }
            }
        }
        fronts.insert(routing, front);
    }
    Ok(fronts)
}

impl<'a> Sieve<'a> for Candidates<'a, '_> {
    fn omits(&self, floor: &Design<'a>, tiers: u8) -> bool {
        // Switches do not hold the routes of any design with these parts. A design that was compared gives a reason.
        if self.compared > 0 && floor.floor_exceeds_routes() {
            return true;
        }
        match floor.measure(self.numbers, &floor.media()) {
            Ok(measure) => {
                let measure = Measure { hops: hops(tiers.into()), ..measure };
                // More T1s and T2s have fewer neighbours each. So only the T0s and the routes to all switches tell it of
                // all designs with these parts.
                let exceeds = || floor.t0_exceeds_assumed() || floor.floor_exceeds_assumed_routes();
                self.is_below_bar(floor.routing, &measure, exceeds)
            }
            // A design with these parts cannot be compared either. One of them gives the reason.
            Err(MeasureError::Price) => self.unpriced > 0,
            Err(MeasureError::Power) => self.unpublished > 0,
        }
    }

    fn take(&mut self, design: Design<'a>) {
        self.add(design);
    }
}

/// Returns the front of several. Of equal designs it keeps a firm one, and of these the simplest.
pub fn merged<'a>(fronts: impl IntoIterator<Item = Front<'a>>) -> Front<'a> {
    let mut all: Front<'a> = fronts.into_iter().flatten().collect();
    all.sort_by_key(|found| (found.measure, !found.is_firm, plain(&found.design)));
    all.dedup_by_key(|found| found.measure);
    let others = all.clone();
    all.retain(|found| !others.iter().any(|other| other.beats(&found.measure, found.is_firm)));
    all
}

/// Returns whether the checks say the same of two designs: they have the same operating system and switches, and both
/// depend on an assumption, or neither does.
fn is_judged_like(design: &Design<'_>, other: &Design<'_>) -> bool {
    let pairs = || design.tiers().zip(other.tiers());
    design.os == other.os
        && pairs().all(|(one, two)| Arc::ptr_eq(one.platform, two.platform))
        && design.is_conditional() == other.is_conditional()
}

/// Simplicity of a design: kinds of switches, lanes of NICs that differ from the usual number, places for NICs, and cages
/// that stay empty.
fn plain(design: &Design<'_>) -> (usize, u32, u32, u64) {
    let mut kinds: Vec<&str> = design.tiers().map(|tier| tier.platform.hardware()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let unused = design.tiers().map(|tier| {
        let (used, all) = tier.cages();
        u64::from(all - used) * u64::from(tier.switches)
    });
    let lanes = design.nic_lanes().abs_diff(design.usual_nic_lanes());
    (kinds.len(), lanes, design.places(), unused.sum())
}

/// Orders a front: the best by the objective first, then the best by each measure, then the rest by the objective.
pub fn order(front: &mut Front<'_>, objective: Objective) {
    let by_objective = |found: &FrontDesign<'_>| (objective.of(&found.measure), found.measure);
    front.sort_by_key(by_objective);
    let mut leads: Vec<Measure> = front.first().map(|found| found.measure).into_iter().collect();
    for other in Objective::ALL {
        let best = front.iter().map(|found| found.measure).min_by_key(|measure| other.of(measure));
        leads.extend(best);
    }
    front.sort_by_key(|found| (!leads.contains(&found.measure), by_objective(found)));
}
