//! The bytes that writes come from and go to.
//!
//! In: where, and bytes. Out: bytes. Invariants: nothing outside the region is touched. A region is a file that the job
//! maps into its memory as well, or a pattern that can be checked, for tests of a fabric without a job.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A region.
#[derive(Debug)]
pub enum Region {
    /// A file of so many bytes.
    File(File, u64),
    /// Every byte follows from its place; what arrives is compared with that and counted.
    Pattern {
        /// Bytes that were not what they should be.
        wrong: u64,
    },
}

impl Region {
    /// Returns how many bytes it has.
    pub fn len(&self) -> u64 {
        match self {
            Region::File(_, len) => *len,
            Region::Pattern { .. } => u64::MAX / 2,
        }
    }

    /// Tells whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells whether a range is inside.
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

    /// Writes bytes that came: to `target`, and from place `source` if it is a pattern.
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

/// The byte at a place: it differs between neighbours and between pieces.
fn pattern(place: u64) -> u8 {
    (place ^ place >> 8 ^ place >> 16 ^ place >> 24) as u8
}
