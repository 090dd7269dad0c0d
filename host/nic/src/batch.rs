//! Frames that are about to be sent.
//!
//! Invariants: memory is allocated once. A payload is written after free space for its headers, so encapsulation copies
//! nothing.

use crate::wire::{HEADER_LEN, OPTION_LEN};

/// Maximum number of frames per system call.
pub const BATCH: usize = 32;
/// Space in front of a payload, enough for all headers.
pub const HEADROOM: usize = 80;

const _: () = assert!(HEADROOM >= HEADER_LEN + OPTION_LEN);

/// One frame.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The plane of the port that sends it.
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

    /// Returns the bytes on the wire, for changes such as a checksum.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.end]
    }

    /// Returns the buffer for a payload.
    pub fn payload(&mut self) -> &mut [u8] {
        &mut self.bytes[HEADROOM..]
    }

    /// Returns the first `len` bytes of the payload.
    pub fn payload_prefix(&self, len: usize) -> &[u8] {
        &self.bytes[HEADROOM..HEADROOM + len]
    }

    /// Adds headers. `write` receives the space before the payload, and returns the offset of the first header.
    pub fn finish(&mut self, plane: u8, payload_len: usize, write: impl FnOnce(&mut [u8]) -> usize) {
        self.plane = plane;
        self.start = write(&mut self.bytes[..HEADROOM]);
        self.end = HEADROOM + payload_len;
    }
}

/// Frames, of which the first `len` are ready.
#[derive(Debug)]
pub struct Batch {
    frames: Vec<Frame>,
    len: usize,
}

impl Batch {
    /// Allocates a batch of frames with payloads of up to `payload_len` bytes.
    pub fn new(payload_len: usize) -> Self {
        let bytes = vec![0; HEADROOM + payload_len].into_boxed_slice();
        Batch { frames: vec![Frame { plane: 0, start: 0, end: 0, bytes }; BATCH], len: 0 }
    }

    /// Returns the next free frame.
    pub fn free(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.len)
    }

    /// Marks the frame returned by [`Batch::free`] as ready.
    pub fn push(&mut self) {
        self.len = (self.len + 1).min(self.frames.len());
    }

    /// Returns how many more frames fit.
    pub fn free_frames(&self) -> usize {
        self.frames.len() - self.len
    }

    /// Returns the frames that are ready.
    pub fn ready(&self) -> &[Frame] {
        &self.frames[..self.len]
    }

    /// Empties the batch.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}
