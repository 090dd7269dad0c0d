//! The identifier of an open destination.
//!
//! In: the index of a destination in the pool, and the generation of that index. Out: [`PathId`]. Invariants: an
//! identifier is never used for two destinations.

/// The identifier of an open destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId {
    pub(crate) index: u32,
    /// Number of earlier destinations with the same index.
    pub(crate) generation: u32,
}

impl PathId {
    /// Creates the identifier of the destination at an index of the pool. The generation distinguishes it from earlier
    /// destinations at that index.
    pub(crate) fn new(index: u32, generation: u32) -> Self {
        PathId { index, generation }
    }

    /// Returns the id as one number, for other languages.
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// Restores it from that number.
    pub fn from_bits(bits: u64) -> Self {
        PathId { index: bits as u32, generation: (bits >> 32) as u32 }
    }

    /// Returns the index of the destination in the pool, below [`crate::Capacity::destinations`].
    pub fn index(self) -> usize {
        self.index as usize
    }
}
