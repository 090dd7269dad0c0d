//! Any bytes as requests of a controller: decoded as gRPC decodes them, and handed to the switch, without a panic.
//!
//! The test body is in `entry/server.rs`, which tests run too.

#![no_main]

#[path = "../entry/server.rs"]
mod server;

libfuzzer_sys::fuzz_target!(|input: &[u8]| server::run(input));
