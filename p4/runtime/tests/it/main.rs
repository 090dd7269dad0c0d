//! All tests of this crate in one program, so that the workspace is linked once.

mod bmv2;
#[path = "common/canned.rs"]
mod canned;
mod common;
mod descriptors;
mod fairness;
mod memory;
mod pipeline;
mod robustness;
mod session;
mod tls;
mod write;
