//! Packet tests as text, in the STF form that P4 programs carry beside their source: entries, packets, and what is
//! expected of them.
//!
//! In: a script. Out: nothing, or the line that went wrong and how: what p4c's own runner says of it. Ports send in order;
//! packets that no line expects are a fault where a line names their port, or where all ports are watched.

mod command;
mod line;
mod run;
mod script;
mod value;

pub use run::Watched;
pub use script::Script;
