//! Feeds arbitrary bytes to a host agent.
//!
//! The body is in `entry/agent.rs`, which is also used by tests.

#![no_main]

#[path = "../entry/agent.rs"]
mod agent;

libfuzzer_sys::fuzz_target!(|input: &[u8]| agent::run(input));
