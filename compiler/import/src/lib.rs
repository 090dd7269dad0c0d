//! From the cables of an existing network to the fabric file that describes it.
//!
//! In: cables from lists, DCIM systems, labs or LLDP. Out: a fabric file of counts and exceptions, a map of
//! names that differ from the network, and connections that differ from the file. Invariants: every cable of
//! the network is in the fabric of the file or in a finding. An existing network that is not a Clos network
//! is rejected. If one cable is the cause, the error contains its file and line.
//!
//! ```text
//! bytes --read--> ExistingNetwork --level--> tiers --position--> places
//! places --shape, fit--> candidates --text--> a file
//! a file --compile (by the caller)--> Plan --compare--> exceptions, findings, map
//! ```

mod compare;
mod fit;
mod import;
mod level;
mod network;
mod own;
mod pattern;
mod ports;
mod position;
pub mod read;
mod shape;
mod text;

pub use fit::HardwareOptions;
pub use import::{ImportResult, NameMapping, Options, import};
pub use level::idle_pattern;
pub use network::{ExistingNetwork, Fault, ImportError};
