//! Impact of failures: the remaining paths and bandwidth of every pair of NICs.
//!
//! In: a fabric and its failures: named, random, all combinations, or a trace over time. Out: [`Outcome`]:
//! minimum, median and distribution over all pairs, the worst pairs, and the NICs that are cut off.
//! Invariants: results are exact, although pairs are not enumerated. The baseline is the fabric without the
//! equipment that is absent or drained according to its file. No I/O.
//!
//! There are two measures of bandwidth. A *share* is the bandwidth of a pair while all pairs send. Paths are
//! loaded evenly, so the share is the fraction of its paths that remain. The bandwidth of a pair *alone* is
//! its bandwidth while no other pair sends. It is a sum over all planes: the capacity of the NIC port, or of
//! the remaining disjoint paths if that is lower. So the loss of one path out of 256 does not affect a pair
//! that sends alone.

mod adapters;
mod bits;
mod design;
mod distribution;
mod domain;
mod each;
mod element;
mod evaluate;
mod group;
mod lines;
mod name;
mod outcome;
mod random;
pub mod report;
pub mod show;
mod state;
mod symmetry;
mod trace;

use closc_fabric::Fabric;

use state::State;

pub use adapters::AdapterPairs;
pub use design::{Design, Figure, ratio};
pub use distribution::Distribution;
pub use domain::{of_fabric as domains_of, read as read_domains};
pub use each::{Class, ElementFilter};
pub use element::{Domain, Element, Elements, Kind, Losses, unknown as unknown_kind};
pub use lines::LineError;
pub use outcome::{DistanceClass, Outcome, WorstPairs, kind_word};
pub use random::{Draw, DrawError, Rate, draw};
pub use trace::{Change, Event, Moment, read as read_trace};

/// A fabric with its baseline, for computing the impact of failures.
#[derive(Debug)]
pub struct WhatIf<'a> {
    /// The elements of the fabric.
    pub elements: Elements<'a>,
    /// Earlier failures, in addition to the exceptions of the file.
    earlier_losses: Losses,
    state: State,
}

impl<'a> WhatIf<'a> {
    /// Uses the state that the fabric file describes as the baseline.
    pub fn new(elements: Elements<'a>) -> Self {
        WhatIf { elements, earlier_losses: Losses::default(), state: State::of(elements.fabric) }
    }

    /// Adds earlier failures to the baseline with which every outcome is compared.
    pub fn with_failures(elements: Elements<'a>, failed: &[Element]) -> Self {
        let given = elements.losses_of(failed);
        let mut state = State::of(elements.fabric);
        state.lose(&given);
        WhatIf { elements, earlier_losses: given, state }
    }

    fn fabric(&self) -> &'a Fabric {
        self.elements.fabric
    }

    /// Returns the outcome if elements fail together, with up to `worst` of the worst pairs.
    pub fn fail(&self, failed: &[Element], worst: usize) -> Outcome {
        let mut state = self.state.clone();
        state.lose(&self.elements.losses_of(failed));
        self.compare(&state, worst)
    }

    /// Fails every combination of `together` different elements of some kinds. Returns classes of equal impact,
    /// greatest impact first.
    pub fn fail_combinations(&self, kinds: &[Kind], together: usize) -> Vec<Class> {
        each::fail_combinations(self, kinds, together, &|_| true)
    }

    /// Like [`WhatIf::fail_combinations`], restricted to chosen elements.
    pub fn fail_selected(&self, kinds: &[Kind], together: usize, chosen: ElementFilter<'_>) -> Vec<Class> {
        each::fail_combinations(self, kinds, together, chosen)
    }

    /// Returns the number of unordered pairs of NICs: each pair counts once.
    pub fn pairs(&self) -> u64 {
        self.compare(&self.state, 0).pairs()
    }

    /// Replays a trace of failures and repairs. Events with the same time form one moment.
    pub fn follow(&self, events: &[Event]) -> Vec<Moment> {
        trace::follow(self, events)
    }

    fn compare(&self, after: &State, worst: usize) -> Outcome {
        evaluate::evaluate(self.fabric(), &self.state, after, worst)
    }
}
