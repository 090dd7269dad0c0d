//! The collector. It combines the data of agents and switches, names faulty elements, and manages denials.
//!
//! In: reports of agents, counters of switches, orders of operators, the time. Out: verdicts with counts and
//! confidence, denials for agents, views. Invariants: only `io` opens sockets or reads a clock. A dead or hostile
//! source affects only itself. Memory is bounded by the size of the fabric.

mod ban;
mod chance;
mod coincidence;
mod collector;
mod contest;
mod corruption;
mod dated_verdict;
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
mod unexplained;
mod verdict;
mod view;

pub use collector::{Collector, DRAIN, DenialState, News, Order, OrderFault, PendingDenials, Source};
pub use denial::{Change, Denial, Denials, Stage};
pub use element::Element;
pub use guard::Refusal;
pub use options::Options;
pub use report::{ANSWER_MAX, Count, Report, ReportFault};
pub use switches::CounterReads;
pub use verdict::{DirectionCounters, Kind, Lengths, Verdict};
pub use view::detail::{AddressMeaning, Health, Item, PathItem, TierItems};
pub use view::{
    Agents, DenialView, PlaneView, SourceView, Summary, SwitchesView, TierView, VerdictView, metrics,
};
