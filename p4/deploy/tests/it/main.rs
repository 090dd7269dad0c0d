//! All tests of this crate in one program, so that the workspace is linked once.

mod deploy;
#[path = "deploy/support.rs"]
mod support;
mod unit;
