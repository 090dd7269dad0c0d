//! Sockets, the disk and the clock around the collector.
//!
//! In: patterns of sockets, switches, a state file, an address. Out: requests to agents, a state saved before it takes
//! effect, pages. Invariants: the time and bytes for each source are limited. A source that does not answer delays no
//! other. The collector makes all decisions.

mod agents;
mod disk;
mod document;
mod drain;
mod orders;
mod peer;
mod reading;
mod run;
mod serve;
mod shared_state;
mod switches;

pub use disk::{StateFault, read_state};
pub use document::{Session, names};
pub use drain::{DrainResult, drain};
pub use orders::{Operators, Orderer};
pub use run::{RunFault, Settings, run};
pub use serve::RequestHandler;
pub use shared_state::{Event, Observer};
