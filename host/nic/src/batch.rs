//! Frames that are about to be sent.
//!
//! Invariants: room for them is allocated once; a payload is written behind room for its headers, so that encapsulating
//! copies nothing.

use crate::wire::{HEADER_LEN, OPTION_LEN};

/// Frames of one system call.
pub const BATCH: usize = 32;
/// Room in front of a payload, for every header.
pub const HEADROOM: usize = 80;

const _: () = assert!(HEADROOM >= HEADER_LEN + OPTION_LEN);

/// One frame.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The port it leaves by.
    pub plane: u8,
    start: usize,
    end: usize,
    bytes: Box<[u8]>,
}

impl Frame {
    /// Returns the bytes on the wire.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the bytes on the wire, to complete them.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.end]
    }

    /// Returns the room for a payload.
    pub fn payload(&mut self) -> &mut [u8] {
        &mut self.bytes[HEADROOM..]
    }

    /// Returns a payload that was written.
    pub fn written(&self, len: usize) -> &[u8] {
        &self.bytes[HEADROOM..HEADROOM + len]
    }

    /// Puts headers in front: `write` gets the room before the payload and says where they begin.
    pub fn finish(&mut self, plane: u8, payload_len: usize, write: impl FnOnce(&mut [u8]) -> usize) {
        self.plane = plane;
        self.start = write(&mut self.bytes[..HEADROOM]);
        self.end = HEADROOM + payload_len;
    }
}

/// Frames, and how many of them are ready.
#[derive(Debug)]
pub struct Batch {
    frames: Vec<Frame>,
    len: usize,
}

impl Batch {
    /// Room for a batch of frames with payloads of so many bytes.
    pub fn new(payload_len: usize) -> Self {
        let bytes = vec![0; HEADROOM + payload_len].into_boxed_slice();
        Batch { frames: vec![Frame { plane: 0, start: 0, end: 0, bytes }; BATCH], len: 0 }
    }

    /// Returns the frame to be filled next, if there is room.
    pub fn free(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.len)
    }

    /// Counts the frame that [`Batch::free`] returned.
    pub fn push(&mut self) {
        self.len = (self.len + 1).min(self.frames.len());
    }

    /// Returns how many more fit.
    pub fn room(&self) -> usize {
        self.frames.len() - self.len
    }

    /// Returns the frames that are ready.
    pub fn ready(&self) -> &[Frame] {
        &self.frames[..self.len]
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}
