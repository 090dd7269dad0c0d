//! Any bytes as a program: compiled and run on packets, without a panic.
//!
//! The test body is in `entry/bmv2_json.rs`, which tests run too.

#![no_main]

#[path = "../entry/bmv2_json.rs"]
mod bmv2_json;

libfuzzer_sys::fuzz_target!(|json: &[u8]| bmv2_json::run(json));
