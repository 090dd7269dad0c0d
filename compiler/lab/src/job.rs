//! A job on a lab: agents on its NICs exchange messages while a scenario breaks and mends the fabric.
//!
//! ```text
//! scenario (YAML) --parse--> Scenario --bind(model)--> Timeline: what is broken when, and what that should cost
//! pattern, NICs ---------------------> Work: which message is next, what it waits for
//! Work ---orders---> agents ---answers---> Record: messages, samples, losses, changes of state
//! Timeline, Record --> Statistics --expect--> Verdict --> Report --> text, Markdown, JSON, SVG
//! ```
//!
//! In: a lab that is up, a pattern, a scenario. Out: a report. Invariants: everything but `agents` and `run` is pure and
//! tested without a network; what was started is ended, what was broken is mended, however it ends.

mod agents;
mod ask;
mod pattern;
mod plot;
mod record;
mod report;
mod run;
mod scenario;
mod show;
mod statistics;
mod timeline;
mod verdict;

pub use closc_nic::choose::Transport;
pub use pattern::{Pattern, Work};
pub use plot::svg;
pub use report::Report;
pub use run::{JobError, Orders, run};
pub use scenario::{BYTES_MAX, Scenario, ScenarioFault};
pub use show::{human, markdown};
pub use timeline::{Seat, Timeline, seats};
