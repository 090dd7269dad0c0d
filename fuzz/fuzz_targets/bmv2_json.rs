//! Compiles arbitrary bytes as a program and runs it on packets.
//!
//! The body is in `entry/bmv2_json.rs`, which is also used by tests.

#![no_main]

#[path = "../entry/bmv2_json.rs"]
mod bmv2_json;

libfuzzer_sys::fuzz_target!(|json: &[u8]| bmv2_json::run(json));
