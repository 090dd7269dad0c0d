//! Packet tests as text, in the STF form that P4 programs carry beside their source: entries, packets, and what is
//! expected of them.
//!
//! In: a script. Out: nothing, or the line that went wrong and how. Ports send in order; packets that no
//! line expects are a fault.

mod run;
mod script;

pub use script::Script;
