//! The switch as a command, with the command line of BMv2's `simple_switch_grpc`.
//!
//! In: arguments. Out: a switch that runs until a signal ends it. Invariants: it listens only on loopback unless the
//! arguments specify another address.

mod arguments;
mod error;
mod log;
mod options;
mod run;

pub use error::CommandError;
pub use run::{Addresses, switch_main};
