//! The TUN device: packets from and to the node.
//!
//! In: large TCP segments of the kernel, packets in order. Out: packets that fit the fabric, large segments for the
//! kernel. Invariants: joined segments are flushed before the loop waits.

use std::fs::File;
use std::io::{Read as _, Write as _};

use crate::offload::{Joiner, SEGMENT_MAX, VNET_LEN, split};

/// The device.
pub(super) struct Tun {
    file: File,
    buffer: Box<[u8]>,
    joiner: Joiner,
}

impl Tun {
    pub(super) fn new(file: File) -> Self {
        Tun { file, buffer: vec![0; VNET_LEN + SEGMENT_MAX].into(), joiner: Joiner::default() }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Reads the next packets of the node. Calls `packet` for each, with its length and a function that writes it.
    /// Returns whether there were any.
    pub(super) fn read(&mut self, packet: impl FnMut(usize, &mut dyn FnMut(&mut [u8]))) -> bool {
        let Ok(len) = self.file.read(&mut self.buffer) else { return false };
        split(&self.buffer[..len], packet);
        true
    }

    /// Passes a packet to the node, or keeps it until more of the same stream arrives.
    pub(super) fn write(&mut self, packet: &[u8]) {
        let file = &mut self.file;
        // If the node's queue is full, the packet is lost, as in any network.
        self.joiner.push(packet, |bytes| drop(file.write(bytes)));
    }

    /// Passes buffered packets to the node.
    pub(super) fn flush(&mut self) {
        let file = &mut self.file;
        self.joiner.flush(|bytes| drop(file.write(bytes)));
    }
}
