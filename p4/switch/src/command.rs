//! The switch as a command, with the command line of BMv2's `simple_switch_grpc`.
//!
//! Comes in: arguments. Goes out: a switch that runs until a signal ends it. What always holds: nothing is listened on
//! but loopback unless the arguments say so.

mod arguments;
mod error;
mod log;
mod options;
mod run;
mod tls;

pub use arguments::{Request, UsageError, parse};
pub use error::CommandError;
pub use options::{Level, LogTarget, Options, TlsFiles};
pub use run::{Addresses, switch_main};
