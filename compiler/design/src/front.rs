//! The Pareto front: designs that no other design beats, and their order for display.
//!
//! In: designs, one at a time. Out: a front. Invariants: a design is omitted only if it did not pass the
//! checks, or if a design that passed beats or equals it.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_artefacts::Routing;

use crate::design::Design;
use crate::measure::{Criteria, Floor, Measure, MeasureError, Objective, hops};
use crate::space::Sieve;

/// Designs by routing and measure.
type ByRouting<'a> = BTreeMap<&'static str, BTreeMap<Measure, Vec<Design<'a>>>>;

/// Number of stored measures at which designs are thinned, without a bar. Each thinning raises the bar for later
/// designs, but also checks designs that later ones beat.
const STORED_WITHOUT_BAR: usize = 1024;

/// Number of stored measures at which designs are thinned, with a bar. They take about 8 MiB.
const STORED_WITH_BAR: usize = 8192;

/// Designs by routing and measure. Of designs with equal measure, operating system and switches, only the
/// simplest is kept. Designs that depend on an assumption are kept separately from the others.
pub struct Candidates<'a, 'p> {
    numbers: Criteria<'p>,
    by_routing: ByRouting<'a>,
    /// By routing, the measures of designs that passed the checks, and whether each is within published
    /// limits. Designs beaten by one of these are omitted.
    bar: BTreeMap<&'static str, Vec<(Measure, bool)>>,
    /// Number of stored measures.
    stored: usize,
    /// Number of stored measures at which designs are thinned: at least twice the number after the last thinning, so
    /// that a large front is not thinned for each new design.
    stored_max: usize,
    /// Number of compared designs.
    pub compared: usize,
    compared_by_routing: BTreeMap<&'static str, usize>,
    /// Number of designs that were omitted because an item has no price.
    pub unpriced: usize,
    /// Items without a price in the first such design.
    pub missing: Vec<String>,
    /// Number of designs that were omitted because the power of a switch or module is not published.
    pub unpublished: usize,
    /// Switches and modules without published power in the first such design.
    pub powerless: Vec<String>,
}

/// A design that passed the checks.
#[derive(Debug, Clone)]
pub struct FrontDesign<'a> {
    /// The measure of the design.
    pub measure: Measure,
    /// The design.
    pub design: Design<'a>,
    /// Whether the design does not depend on assumptions: all limits are published or measured, and parallel
    /// cables work in the default release. A design that is not firm can beat only others that are not firm.
    pub is_firm: bool,
}

/// Designs none of which beats another.
pub type Front<'a> = Vec<FrontDesign<'a>>;

/// The front of several routing modes.
#[derive(Debug)]
pub struct MergedFront<'a> {
    /// Designs none of which beats another.
    pub front: Front<'a>,
    /// The best design of each routing mode by measure. Designs of other routing modes may beat it.
    pub best: BTreeMap<&'static str, FrontDesign<'a>>,
}

/// Result of the checks of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The design passes without assumptions.
    Firm,
    /// The design exceeds an assumed limit, or its parallel cables need a later release.
    Assumed,
    /// The design cannot be built.
    Refused,
}

impl Verdict {
    /// Returns whether a design passes without assumed limits; `None` if it is refused.
    fn is_firm(self) -> Option<bool> {
        match self {
            Verdict::Firm => Some(true),
            Verdict::Assumed => Some(false),
            Verdict::Refused => None,
        }
    }
}

impl FrontDesign<'_> {
    /// Returns whether this design beats one with the given measure. `is_firm` states whether that design
    /// does not depend on assumptions.
    pub fn beats(&self, measure: &Measure, is_firm: bool) -> bool {
        (self.is_firm || !is_firm) && self.measure.beats(measure)
    }
}

impl<'a, 'p> Candidates<'a, 'p> {
    /// Starts without designs.
    pub fn new(numbers: Criteria<'p>) -> Self {
        Candidates {
            numbers,
            by_routing: BTreeMap::new(),
            bar: BTreeMap::new(),
            stored: 0,
            stored_max: STORED_WITHOUT_BAR,
            compared: 0,
            compared_by_routing: BTreeMap::new(),
            unpriced: 0,
            missing: Vec::new(),
            unpublished: 0,
            powerless: Vec::new(),
        }
    }

    /// Returns the number of compared designs with a routing mode.
    pub fn count_by_routing(&self, routing: Routing) -> usize {
        self.compared_by_routing.get(routing.keyword()).copied().unwrap_or_default()
    }

    /// Turns the designs that pass a check into a bar: later designs that one of them beats are omitted.
    ///
    /// # Errors
    ///
    /// The errors of the check.
    pub fn into_bar<E>(self, passes: impl FnMut(&Design<'a>) -> Result<Verdict, E>) -> Result<Self, E> {
        let mut raised = Candidates { stored_max: STORED_WITH_BAR, ..Candidates::new(self.numbers) };
        for (routing, front) in fronts(self.by_routing, passes)? {
            let bar = front.iter().map(|found| (found.measure.clone(), found.is_firm));
            raised.bar.insert(routing, bar.collect());
        }
        Ok(raised)
    }

    /// Returns whether a design of the bar beats one with this routing and measure. `exceeds` returns whether
    /// the latter depends on an assumption. Only then can it be beaten by designs that depend on one.
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
        let measure = match design.measure(self.numbers, &design.compared_media(self.numbers)) {
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
        // Most measures have one design, but a vector that grows by itself starts with room for four.
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

    /// Returns the front of the routing modes that `lists` accepts, and of each routing mode the best design by
    /// measure, whose first number is that of switches. Of designs with equal measure, the front has a firm one if
    /// there is one, and of these the simplest. Designs that others beat are not checked.
    ///
    /// # Errors
    ///
    /// The errors of the check.
    pub fn into_fronts<E>(
        self,
        lists: impl Fn(&str) -> bool,
        mut passes: impl FnMut(&Design<'a>) -> Result<Verdict, E>,
    ) -> Result<MergedFront<'a>, E> {
        let mut groups: BTreeMap<Measure, Vec<(&'static str, Vec<Design<'a>>)>> = BTreeMap::new();
        for (routing, by_measure) in self.by_routing {
            for (measure, mut equal) in by_measure {
                equal.sort_by_key(plain);
                groups.entry(measure).or_default().push((routing, equal));
            }
        }
        let mut merged = MergedFront { front: Vec::new(), best: BTreeMap::new() };
        // Measures are in ascending order, so a design that beats another comes before it.
        for (measure, group) in groups {
            for (routing, equal) in &group {
                if !merged.best.contains_key(routing) {
                    let found = find_first_pass(&measure, equal, &mut passes)?;
                    merged.best.extend(found.map(|found| (*routing, found)));
                }
            }
            let listed = group.into_iter().filter(|(routing, _)| lists(routing));
            let mut equal: Vec<Design<'a>> = listed.flat_map(|(_, equal)| equal).collect();
            equal.sort_by_key(plain);
            merged.add(measure, equal, &mut passes)?;
        }
        Ok(merged)
    }

    /// Returns whether the stored designs should be [thinned](Candidates::thin).
    pub fn is_full(&self) -> bool {
        self.stored >= self.stored_max
    }

    /// Keeps only the front of each routing mode among designs that pass a check. Later designs beaten by one
    /// of these are omitted.
    ///
    /// # Errors
    ///
    /// The errors of the check.
    pub fn thin<E>(&mut self, passes: impl FnMut(&Design<'a>) -> Result<Verdict, E>) -> Result<(), E> {
        self.stored = 0;
        for (routing, front) in fronts(std::mem::take(&mut self.by_routing), passes)? {
            self.stored += front.len();
            let bar = self.bar.entry(routing).or_default();
            bar.retain(|(measure, is_firm)| !front.iter().any(|found| found.beats(measure, *is_firm)));
            bar.extend(front.iter().map(|found| (found.measure.clone(), found.is_firm)));
            bar.sort_unstable();
            bar.dedup();
            let by_measure = self.by_routing.entry(routing).or_default();
            for FrontDesign { measure, design, .. } in front {
                by_measure.entry(measure).or_default().push(design);
            }
        }
        self.stored_max = self.stored_max.max(2 * self.stored);
        Ok(())
    }
}

/// Returns the front of each routing mode among designs that pass a check.
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
                // A design that depends on an assumption can also be beaten by others that depend on one.
                if design.is_conditional() && front.iter().any(|better| better.beats(&measure, false)) {
                    continue;
                }
                let Some(is_firm) = passes(&design)?.is_firm() else { continue };
                if !front.iter().any(|better| better.beats(&measure, is_firm)) {
                    front.push(FrontDesign { measure: measure.clone(), design, is_firm });
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
    fn omits(&self, floor: &Floor<'a>, tiers: u8) -> bool {
        let now = &floor.now;
        // Any design with these parts has too many routes for its switches. At least one design has been
        // compared, so a message can name a reason.
        if self.compared > 0 && now.floor_exceeds_routes() {
            return true;
        }
        match floor.measure(self.numbers) {
            Ok(measure) => {
                let measure = Measure { hops: hops(tiers.into()), ..measure };
                // With more T1s and T2s, each has fewer neighbours. So only limits on T0s and on the routes
                // to all switches are exceeded in every design with these parts.
                let exceeds = || now.t0_exceeds_assumed() || now.floor_exceeds_assumed_routes();
                self.is_below_bar(now.routing, &measure, exceeds)
            }
            // Designs with these parts cannot be compared either. One of them is kept as the reason.
            Err(MeasureError::Price) => self.unpriced > 0,
            Err(MeasureError::Power) => self.unpublished > 0,
        }
    }

    fn add_design(&mut self, design: Design<'a>) {
        self.add(design);
    }
}

impl<'a> MergedFront<'a> {
    /// Adds the first firm design of several with equal measure, otherwise the first that passes, unless another one
    /// beats it. Designs are in the order of their complexity.
    fn add<E>(
        &mut self,
        measure: Measure,
        equal: Vec<Design<'a>>,
        passes: &mut impl FnMut(&Design<'a>) -> Result<Verdict, E>,
    ) -> Result<(), E> {
        if self.beats(&measure, true) {
            return Ok(());
        }
        let is_beaten_if_assumed = self.beats(&measure, false);
        let mut kept: Option<FrontDesign<'a>> = None;
        for design in equal {
            let is_conditional = design.is_conditional();
            if is_conditional && (is_beaten_if_assumed || kept.is_some()) {
                continue;
            }
            let Some(is_firm) = passes(&design)?.is_firm() else { continue };
            if is_firm {
                kept = Some(FrontDesign { measure, design, is_firm });
                break;
            }
            if !is_beaten_if_assumed && kept.is_none() {
                kept = Some(FrontDesign { measure: measure.clone(), design, is_firm });
            }
        }
        self.front.extend(kept);
        Ok(())
    }

    /// Returns whether a design of the front beats one with this measure.
    fn beats(&self, measure: &Measure, is_firm: bool) -> bool {
        self.front.iter().any(|better| better.beats(measure, is_firm))
    }
}

/// Returns the first of several designs with equal measure that passes a check.
fn find_first_pass<'a, E>(
    measure: &Measure,
    equal: &[Design<'a>],
    mut passes: impl FnMut(&Design<'a>) -> Result<Verdict, E>,
) -> Result<Option<FrontDesign<'a>>, E> {
    for design in equal {
        let Some(is_firm) = passes(design)?.is_firm() else { continue };
        return Ok(Some(FrontDesign { measure: measure.clone(), design: design.clone(), is_firm }));
    }
    Ok(None)
}

/// Returns whether the checks have the same result for two designs. For this, operating system and switches
/// must be the same, and either both or neither may depend on an assumption.
fn is_judged_like(design: &Design<'_>, other: &Design<'_>) -> bool {
    let pairs = || design.tiers().zip(other.tiers());
    design.os == other.os
        && pairs().all(|(one, two)| Arc::ptr_eq(one.platform, two.platform))
        && design.is_conditional() == other.is_conditional()
}

/// Returns the complexity of a design: tiers of routers with deep buffers, kinds of switches, deviation from the usual
/// number of NIC lanes, places for NICs, and empty cages.
fn plain(design: &Design<'_>) -> (usize, usize, u32, u32, u64) {
    let deep = design.tiers().filter(|tier| tier.platform.has_deep_buffer()).count();
    let mut kinds: Vec<&str> = design.tiers().map(|tier| tier.platform.hardware()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let unused = design.tiers().map(|tier| {
        let (used, all) = tier.cages();
        u64::from(all - used) * u64::from(tier.switches)
    });
    let lanes = design.nic_lanes().abs_diff(design.usual_nic_lanes());
    (deep, kinds.len(), lanes, design.places(), unused.sum())
}

/// Number by which a front is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The number.
    pub objective: Objective,
    /// Whether it is that of the last stage; otherwise that of the first.
    pub is_of_last_stage: bool,
}

/// Sort key of a measure. The smallest is first.
type Key = [u64; 5];

impl Order {
    fn number(self, measure: &Measure) -> u64 {
        if self.is_of_last_stage { self.objective.of_last_stage(measure) } else { self.objective.of(measure) }
    }

    /// Returns the sort key, given the least number of all designs within limits.
    fn key(self, measure: &Measure, least: u64) -> Key {
        let number = self.number(measure);
        if self.objective == Objective::Balanced && number <= least + least / BALANCED_PART {
            let last = measure.last_stage();
            let switches = if self.is_of_last_stage { last.switches } else { measure.switches };
            return [0, switches.into(), measure.cables, measure.modules, number];
        }
        [1, number, self.objective.of(measure), 0, 0]
    }
}

/// With [`Objective::Balanced`], the first designs have at most this part more than the least bandwidth: a tenth. closc
/// chose the part, see decision 201.
const BALANCED_PART: u64 = 10;

/// Orders a front: the best by the objective, then the best by each measure, then all others by the
/// objective. Designs that exceed a limit come after all designs within limits, in the same order.
pub fn order<'a>(front: &mut Front<'a>, order: Order, exceeds: impl Fn(&FrontDesign<'a>) -> bool) {
    // If all designs exceed a limit, the least number is that of all.
    let number = |found: &FrontDesign<'a>| (exceeds(found), order.number(&found.measure));
    let (_, least) = front.iter().map(number).min().unwrap_or_default();
    let by_objective = |found: &FrontDesign<'_>| (order.key(&found.measure, least), found.measure.clone());
    front.sort_by_cached_key(by_objective);
    let mut leads: Vec<Measure> = Vec::new();
    for exceeding in [false, true] {
        let measures =
            || front.iter().filter(|found| exceeds(found) == exceeding).map(|found| &found.measure);
        leads.extend(measures().next().cloned());
        for objective in Objective::ALL {
            let other = Order { objective, ..order };
            leads.extend(measures().min_by_key(|measure| other.key(measure, 0)).cloned());
        }
    }
    front.sort_by_cached_key(|found| (exceeds(found), !leads.contains(&found.measure), by_objective(found)));
}
