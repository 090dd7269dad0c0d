//! Helpers shared by the tests of several crates.

pub mod exceptions;
pub mod frr;
pub mod namespaces;
pub mod region;
pub mod shape;
pub mod spread;
pub mod units;
