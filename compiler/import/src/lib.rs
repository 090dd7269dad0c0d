//! From the cables of an existing network (a plant) to the fabric file that describes it.
//!
//! In: cables, from lists, DCIM systems, labs or LLDP. Out: a fabric file of counts and exceptions, a map of the
//! names that differ in the plant, and the connections that differ from the file. Invariants: every cable of the
//! plant is in the fabric of the file or in a finding. A plant that is not a Clos is refused, with a place.
//!
//! ```text
//! bytes --read--> Plant --level--> tiers --position--> coordinates --shape, fit--> candidates --text--> a file
//! a file --compile (by the caller)--> Plan --compare--> exceptions, findings, map
//! ```

mod compare;
mod fit;
mod import;
mod level;
mod own;
mod pattern;
mod plant;
mod ports;
mod position;
pub mod read;
mod shape;
mod text;

pub use fit::Wanted;
pub use import::{Imported, Options, Renamed, import};
pub use level::idle_pattern;
pub use plant::{Fault, Plant, Refused};
