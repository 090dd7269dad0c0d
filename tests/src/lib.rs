//! Helpers shared by the tests of several crates.

pub mod shape;
