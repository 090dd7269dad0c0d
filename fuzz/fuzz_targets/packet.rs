//! Sends arbitrary bytes as a packet into the fabric pipeline.
//!
//! The body is in `entry/packet.rs`, which is also used by tests.

#![no_main]

#[path = "../entry/packet.rs"]
mod packet;

libfuzzer_sys::fuzz_target!(|input: (u8, u16, u64, &[u8])| packet::run(input));
