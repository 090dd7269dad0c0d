//! Any bytes as what a host agent receives, without a panic.
//!
//! The test body is in `entry/agent.rs`, which tests run too.

#![no_main]

#[path = "../entry/agent.rs"]
mod agent;

libfuzzer_sys::fuzz_target!(|input: &[u8]| agent::run(input));
