//! Any bytes as a packet into the fabric pipeline, without a panic.
//!
//! The test body is in `entry/packet.rs`, which tests run too.

#![no_main]

#[path = "../entry/packet.rs"]
mod packet;

libfuzzer_sys::fuzz_target!(|input: (u8, u16, u64, &[u8])| packet::run(input));
