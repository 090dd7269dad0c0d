//! Bytes with random access: a file, or an object in a store.
//!
//! In: an offset and a buffer. Out: bytes. Invariants: all reads return bytes of the same version. Reading
//! fails if the file or object is replaced in the meantime.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// Bytes with random access.
pub trait Blob: Debug + Send + Sync {
    /// Returns the number of bytes.
    fn length(&self) -> u64;

    /// Reads bytes from an offset; returns 0 past the end.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize>;

    /// Returns the request sizes in bytes: for reading everything in order, and for reading a few parts.
    fn portions(&self) -> [usize; 2] {
        [8 << 10; 2]
    }
}

/// A file on a disk.
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

/// Reads from an offset, which is independent of other readers of the blob.
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
