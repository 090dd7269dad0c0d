//! Impact of failures: paths and bandwidth that are left to every pair of NICs.
//!
//! In: a fabric, and what fails in it: by name, at random, every combination, over time. Out: [`Outcome`]: minimum,
//! median and distribution over all pairs, the worst pairs, who is cut off. Invariants: exact and by composition, without
//! listing a pair; what the file declares absent or drained is the baseline; no I/O.
//!
//! Two measures of bandwidth stand side by side. A *share* is what a pair gets while all pairs send: its paths are
//! loaded evenly, so the share is the part of its paths that is left. What a pair gets *alone* is what its NIC ports
//! carry in the planes that still have a path: after rebalancing, one lost path of 256 takes nothing from a single pair.

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

pub use design::{Design, Figure, ratio};
pub use distribution::Distribution;
pub use domain::{of_fabric as domains_of, read as read_domains};
pub use each::{Chosen, Class};
pub use element::{Domain, Element, Elements, Kind, Losses, unknown as unknown_kind};
pub use lines::LineError;
pub use outcome::{Apart, Outcome, Worst, kind_word};
pub use random::{Draw, Rate, TooFew, draw};
pub use trace::{Change, Event, Moment, read as read_trace};

/// A fabric of which something is asked.
#[derive(Debug)]
pub struct WhatIf<'a> {
    /// Its elements.
    pub elements: Elements<'a>,
    /// Earlier failures, besides the exceptions of the file.
    given: Losses,
    state: State,
}

impl<'a> WhatIf<'a> {
    /// Takes a fabric as its file leaves it.
    pub fn new(elements: Elements<'a>) -> Self {
        WhatIf { elements, given: Losses::default(), state: State::of(elements.fabric) }
    }

    /// Takes a fabric in which something has failed already: everything else is compared with that.
    pub fn given(elements: Elements<'a>, failed: &[Element]) -> Self {
        let given = elements.losses_of(failed);
        let mut state = State::of(elements.fabric);
        state.lose(&given);
        WhatIf { elements, given, state }
    }

    fn fabric(&self) -> &'a Fabric {
        self.elements.fabric
    }

    /// Returns what is left when elements fail together, with so many of the worst pairs.
    pub fn fail(&self, failed: &[Element], worst: usize) -> Outcome {
        let mut state = self.state.clone();
        state.lose(&self.elements.losses_of(failed));
        self.compare(&state, worst)
    }

    /// Fails every combination of `together` different elements of some kinds, by classes of equal cost. The most
    /// costly come first.
    pub fn each(&self, kinds: &[Kind], together: usize) -> Vec<Class> {
        each::each(self, kinds, together, &|_| true)
    }

    /// The same, where only what is chosen fails.
    pub fn each_of(&self, kinds: &[Kind], together: usize, chosen: Chosen<'_>) -> Vec<Class> {
        each::each(self, kinds, together, chosen)
    }

    /// Returns the number of ordered pairs of NICs.
    pub fn pairs(&self) -> u64 {
        self.compare(&self.state, 0).pairs()
    }

    /// Follows a trace of failures and repairs, moment by moment.
    pub fn follow(&self, events: &[Event]) -> Vec<Moment> {
        trace::follow(self, events)
    }

    fn compare(&self, after: &State, worst: usize) -> Outcome {
        evaluate::evaluate(self.fabric(), &self.state, after, worst)
    }
}
