//! All tests of this crate in one program, so that the workspace is linked once.

mod artefacts;
mod fabric;
mod sai;
#[path = "fabric/support.rs"]
mod support;
