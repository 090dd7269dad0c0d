//! Any text as a P4Info: read, indexed and written again, without a panic.
//!
//! The test body is in `entry/p4info.rs`, which tests run too.

#![no_main]

#[path = "../entry/p4info.rs"]
mod p4info;

libfuzzer_sys::fuzz_target!(|given: &str| p4info::run(given));
