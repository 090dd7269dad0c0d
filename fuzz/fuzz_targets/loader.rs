//! Loads and lowers arbitrary bytes as a fabric file, and shows the findings.
//!
//! The body is in `entry/loader.rs`, which is also used by tests.

#![no_main]

#[path = "../entry/loader.rs"]
mod loader;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| loader::run(bytes));
