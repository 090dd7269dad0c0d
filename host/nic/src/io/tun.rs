//! The TUN device: packets of the node, and packets for it.
//!
//! In: segments that the kernel did not split, packets in order. Out: packets that fit the fabric, segments that the kernel
//! takes at once. Invariants: what was joined is handed over before anything waits.

use std::fs::File;
use std::io::{Read as _, Write as _};

use crate::offload::{Joiner, SEGMENT_MAX, VNET_LEN, split};

/// The device.
pub(super) struct Tun {
    file: File,
    given: Box<[u8]>,
    joiner: Joiner,
}

impl Tun {
    pub(super) fn new(file: File) -> Self {
        Tun { file, given: vec![0; VNET_LEN + SEGMENT_MAX].into(), joiner: Joiner::default() }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Takes what the node sends next: each packet of it with its length and who writes it. Tells whether there was anything.
    pub(super) fn read(&mut self, packet: impl FnMut(usize, &mut dyn FnMut(&mut [u8]))) -> bool {
        let Ok(len) = self.file.read(&mut self.given) else { return false };
        split(&self.given[..len], packet);
        true
    }

    /// Hands a packet to the node, or keeps it until more of the same stream comes.
    pub(super) fn write(&mut self, packet: &[u8]) {
        let file = &mut self.file;
        // A full queue of the node drops, as any network does.
        self.joiner.push(packet, |bytes| drop(file.write(bytes)));
    }

    /// Hands over what was kept.
    pub(super) fn flush(&mut self) {
        let file = &mut self.file;
        self.joiner.flush(|bytes| drop(file.write(bytes)));
    }
}
