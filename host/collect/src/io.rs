//! Sockets, the disk and the clock: what drives the collector.
//!
//! In: patterns of sockets, switches, a state file, an address. Out: agents that are asked, a state that is on the disk before
//! anybody acts by it, pages. Invariants: a source has so much time and so many bytes, no more; nothing waits for one that
//! does not answer; what it decides is decided in the collector.

mod agents;
mod disk;
mod document;
mod drain;
mod orders;
mod peer;
mod reading;
mod run;
mod serve;
mod shared;
mod switches;

pub use disk::{StateFault, read_state};
pub use document::{Session, names};
pub use drain::{Asked, drain};
pub use orders::{Operators, Orderer};
pub use run::{RunFault, Settings, run};
pub use serve::Desk;
pub use shared::{Event, Observer};
