//! Bytes of which any part can be read: a file, or an object in a store.
//!
//! In: a place and a buffer. Out: bytes. Invariants: all parts are of one version: reading fails if the file or object
//! is replaced in the meantime.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// Bytes of which any part can be read.
pub trait Blob: Debug + Send + Sync {
    /// Returns the number of bytes.
    fn length(&self) -> u64;

    /// Reads bytes from an offset; none past the end.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize>;

    /// Returns how many bytes to request at a time: for reading everything in order, and for reading a few parts.
    fn portions(&self) -> [usize; 2] {
        [8 << 10; 2]
    }
}

/// A file of a disk.
#[derive(Debug)]
pub(crate) struct LocalFile {
    pub(crate) file: File,
    pub(crate) length: u64,
}

impl Blob for LocalFile {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        self.file.read_at(into, at)
    }
}

/// Reads from an offset, independently of other readers.
pub(crate) struct OffsetReader {
    pub(crate) blob: Arc<dyn Blob>,
    pub(crate) at: u64,
}

impl Read for OffsetReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.blob.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
