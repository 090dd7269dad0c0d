//! All tests of this crate in one program, so that the workspace is linked once.

mod adapters;
mod bgp;
mod delay;
mod ecmp;
mod entropy;
mod errors;
mod holes;
mod isolation;
mod placement;
mod properties;
mod qos;
mod region;
mod rows;
#[path = "../../../topology/tests/support/mod.rs"]
#[allow(dead_code, reason = "only the tests of the topology use the complete module")]
mod support;
mod unusable;
