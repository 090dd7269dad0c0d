//! Reads, indexes and rewrites arbitrary text as a P4Info.
//!
//! The body is in `entry/p4info.rs`, which is also used by tests.

#![no_main]

#[path = "../entry/p4info.rs"]
mod p4info;

libfuzzer_sys::fuzz_target!(|given: &str| p4info::run(given));
