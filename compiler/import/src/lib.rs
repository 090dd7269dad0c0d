//! From the cables of a plant that stands to the fabric file that describes it.
//!
//! In: cables, as lists, DCIM systems, labs or LLDP have them. Out: a fabric file of numbers and exceptions, a map from names of
//! the plant to those of the file where they differ, and what is plugged otherwise than the file says. Invariants: every
//! cable of the plant is in the fabric of the file or in a finding; a plant that is not a Clos is refused, with a place.
//!
//! ```text
//! bytes --read--> Plant --level--> tiers --position--> coordinates --shape, fit--> candidates --text--> a file
//! a file --compile (by the caller)--> Plan --compare--> exceptions, findings, map
//! ```

mod compare;
mod fit;
mod import;
mod level;
mod pattern;
mod plant;
mod position;
pub mod read;
mod shape;
mod text;

pub use fit::Wanted;
pub use import::{Imported, Options, Renamed, import};
pub use plant::{Fault, Plant, Refused};
