//! The memory region that writes read from and write to.
//!
//! In: offsets and bytes. Out: bytes. Invariants: nothing outside the region is accessed. A region is a file that the
//! job also maps into its memory. For tests of a fabric without a job, it is a pattern that can be verified.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A region.
#[derive(Debug)]
pub enum Region {
    /// A file, and its size in bytes.
    File(File, u64),
    /// A pattern: every byte depends on its offset only. Received bytes are compared with it, and differences are
    /// counted.
    Pattern {
        /// Received bytes with a wrong value.
        wrong: u64,
    },
}

impl Region {
    /// Returns the size of the region in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Region::File(_, len) => *len,
            Region::Pattern { .. } => u64::MAX / 2,
        }
    }

    /// Returns whether the region is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether a range is inside the region.
    pub fn holds(&self, at: u64, len: u64) -> bool {
        at.checked_add(len).is_some_and(|end| end <= self.len())
    }

    /// Reads bytes.
    pub fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        match self {
            Region::File(file, _) => file.read_exact_at(out, at),
            Region::Pattern { .. } => {
                out.iter_mut().zip(at..).for_each(|(byte, place)| *byte = pattern(place));
                Ok(())
            }
        }
    }

    /// Writes received bytes to offset `target`. A pattern compares them with the bytes at that offset.
    pub fn write(&mut self, target: u64, bytes: &[u8]) -> io::Result<()> {
        if !self.holds(target, bytes.len() as u64) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        match self {
            Region::File(file, _) => file.write_all_at(bytes, target),
            Region::Pattern { wrong } => {
                let differ = bytes.iter().zip(target..).filter(|(byte, place)| **byte != pattern(*place));
                *wrong += differ.count() as u64;
                Ok(())
            }
        }
    }
}

/// Returns the byte at an offset. Adjacent bytes and adjacent pieces differ.
fn pattern(place: u64) -> u8 {
    (place ^ place >> 8 ^ place >> 16 ^ place >> 24) as u8
}
