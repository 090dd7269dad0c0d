//! Helpers shared by the tests of several crates.

pub mod exceptions;
pub mod namespaces;
pub mod shape;
