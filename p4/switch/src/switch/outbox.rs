//! Output of a switch that is locked, sent after unlocking.

use std::ops::Range;

use crate::engine::Sink;
use crate::state::DigestList;

/// Maximum memory that an empty outbox keeps.
const KEPT: usize = 1 << 18;

/// A packet in an [`Outbox`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct OutboxPacket {
    port: u32,
    at_ns: u64,
    bytes: Range<usize>,
}

/// Packets and digests of a switch. Its buffers are reused.
#[derive(Debug, Default)]
pub struct Outbox {
    cpu_port: Option<u32>,
    now_ns: u64,
    bytes: Vec<u8>,
    packets: Vec<OutboxPacket>,
    /// Dropped packets with their time, if requested.
    lost: Option<Vec<(u64, Vec<u8>)>>,
    pub(super) to_controller: Vec<Vec<u8>>,
    pub(super) digests: Vec<DigestList>,
}

impl Outbox {
    /// Returns an empty outbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an outbox that keeps dropped packets.
    pub(crate) fn with_lost() -> Self {
        Self { lost: Some(Vec::new()), ..Self::default() }
    }

    /// Takes the dropped packets with their time.
    pub(crate) fn take_lost(&mut self) -> Vec<(u64, Vec<u8>)> {
        self.lost.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Prepares the outbox for a switch.
    pub(super) fn open(&mut self, cpu_port: Option<u32>, now_ns: u64) {
        (self.cpu_port, self.now_ns) = (cpu_port, now_ns);
    }

    /// Returns the packets in the order they were sent: port, time, bytes.
    pub fn packets(&self) -> impl Iterator<Item = (u32, u64, &[u8])> {
        self.packets.iter().map(|sent| (sent.port, sent.at_ns, &self.bytes[sent.bytes.clone()]))
    }

    /// Returns whether the outbox is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Removes the packets.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.packets.clear();
    }
}

impl Sink for Outbox {
    fn clock(&mut self, at_ns: u64) {
        self.now_ns = at_ns;
    }

    fn transmit(&mut self, port: u32, frame: &[u8]) {
        if self.cpu_port == Some(port) {
            self.to_controller.push(frame.to_vec());
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(frame);
        self.packets.push(OutboxPacket { port, at_ns: self.now_ns, bytes: start..self.bytes.len() });
    }

    fn discard(&mut self, frame: &[u8]) {
        if let Some(lost) = &mut self.lost {
            lost.push((self.now_ns, frame.to_vec()));
        }
    }

    fn digest(&mut self, list: DigestList) {
        self.digests.push(list);
    }
}
