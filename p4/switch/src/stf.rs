//! Packet tests in the STF format, which is common for P4 programs: entries, packets, and expectations.
//!
//! In: a script. Out: success, or the failed line with the reason, as in p4c's runner. Packets of a port are compared
//! in order. An unexpected packet is a fault if a line names its port, or if all ports are watched.

mod command;
mod line;
mod run;
mod script;
mod value;

pub use run::CheckedPorts;
pub use script::Script;
