//! All tests of this crate in one program, so that the workspace is linked once.

mod accepted;
mod advice;
mod common;
mod crash;
mod digests;
mod escapes;
mod fingerprints;
mod headroom_judge;
mod levels;
mod one_run;
mod packed;
mod parts;
mod signature;
#[path = "../../../files/tests/support/names.rs"]
mod support;
#[path = "../../../topology/tests/support/mod.rs"]
#[allow(dead_code, reason = "the files here go through all stages")]
mod topology_support;
mod tree;
