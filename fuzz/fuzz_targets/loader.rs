//! Any bytes as a fabric file: loaded, lowered and shown, without a panic.
//!
//! The test body is in `entry/loader.rs`, which tests run too.

#![no_main]

#[path = "../entry/loader.rs"]
mod loader;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| loader::run(bytes));
