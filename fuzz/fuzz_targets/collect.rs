//! Any bytes as what a collector receives, without a panic.
//!
//! The test body is in `entry/collect.rs`, which tests run too.

#![no_main]

#[path = "../entry/collect.rs"]
mod collect;

libfuzzer_sys::fuzz_target!(|input: &[u8]| collect::run(input));
