//! Compiles arbitrary bytes as a program and runs it on packets, without a panic.
//!
//! In: BMv2 JSON. Out: none. Invariants: the result is either a program that processes packets, or an error.

use std::sync::Arc;

use closc_switch::{Engine, EngineConfig, Program, Sink};

/// Discards packets.
struct NullSink;

impl Sink for NullSink {
    fn transmit(&mut self, _port: u32, _frame: &[u8]) {}
}

/// A packet with headers for common parsers: Ethernet, IPv6, UDP.
const PACKET: [u8; 96] = {
    let mut packet = [0; 96];
    packet[5] = 1;
    packet[11] = 2;
    packet[12] = 0x86;
    packet[13] = 0xdd;
    packet[14] = 0x60;
    packet[20] = 17;
    packet[21] = 64;
    packet
};

/// Runs one input.
pub(crate) fn run(json: &[u8]) {
    let Ok(program) = Program::from_json(json) else { return };
    let mut engine = Engine::new(Arc::new(program), EngineConfig::default());
    for (at, length) in [(0, 0), (1, 1), (2, 14), (3, 60), (4, PACKET.len())] {
        engine.receive(u64::from(at) * 1_000, at, &PACKET[..length], &mut NullSink);
    }
}
