//! Decodes arbitrary bytes as controller requests, and passes them to the switch.
//!
//! The body is in `entry/server.rs`, which is also used by tests.

#![no_main]

#[path = "../entry/server.rs"]
mod server;

libfuzzer_sys::fuzz_target!(|input: &[u8]| server::run(input));
