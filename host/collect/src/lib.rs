//! The collector: lays what agents and switches say side by side, names what is broken, keeps denials.
//!
//! In: reports of agents, counters of switches, orders of people, the time. Out: verdicts with counts and confidence, denials for agents, views.
//! Invariants: nothing but `io` opens a socket or reads a clock; a source that is dead or hostile costs itself only; what
//! is kept is bounded by the fabric.

mod ban;
mod chance;
mod collector;
mod dead_agent;
mod denial;
mod element;
mod evidence;
mod guard;
mod identity;
pub mod io;
mod options;
mod repair;
mod report;
mod switches;
#[cfg(test)]
mod testing;
mod verdict;
mod view;

pub use collector::{Collector, DRAIN, News, Next, Order, OrderFault, Source, Standing};
pub use denial::{Change, Denial, Denials, Stage};
pub use element::Element;
pub use guard::Refusal;
pub use options::Options;
pub use report::{ANSWER_MAX, Count, Report, ReportFault};
pub use switches::Twice;
pub use verdict::{Counted, Kind, Lengths, Verdict};
pub use view::detail::{Decoded, Health, Item, PathItem, TierItems};
pub use view::{
    Agents, DenialView, PlaneView, SourceView, Summary, SwitchesView, TierView, VerdictView, metrics,
};
