//! All tests of this crate in one program, so that the workspace is linked once.

mod counters;
mod denials;
mod drain;
mod fuzz;
mod grafana;
mod localise;
mod never_wrong;
mod soak;
mod support;
mod tables;
