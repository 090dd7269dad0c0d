//! Feeds arbitrary bytes to a collector.
//!
//! The body is in `entry/collect.rs`, which is also used by tests.

#![no_main]

#[path = "../entry/collect.rs"]
mod collect;

libfuzzer_sys::fuzz_target!(|input: &[u8]| collect::run(input));
