//! All tests of this crate in one program, so that the workspace is linked once.

mod bind;
mod bmv2;
mod common;
mod conformance;
mod entities;
mod fabric;
mod fairness;
mod fuzz;
mod judge;
mod limits;
mod memory;
mod names;
mod sai;
mod server;
mod stf;
mod testgen;
mod unused;
mod values;
