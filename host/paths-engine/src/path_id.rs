//! The identifier of an open destination.
//!
//! In: its place in the pool, and the generation of that place. Out: [`PathId`]. Invariants: the identifier of a closed
//! destination never names another one.

/// A destination that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId {
    pub(crate) index: u32,
    /// Number of destinations that were in its place before.
    pub(crate) generation: u32,
}

impl PathId {
    /// Names the destination in a place of the pool; the generation distinguishes it from earlier destinations in that
    /// place.
    pub(crate) fn new(index: u32, generation: u32) -> Self {
        PathId { index, generation }
    }

    /// Returns it as one number, for other languages.
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// Restores it from that number.
    pub fn from_bits(bits: u64) -> Self {
        PathId { index: bits as u32, generation: (bits >> 32) as u32 }
    }

    /// Returns its place in the pool, below [`crate::Capacity::destinations`].
    pub fn index(self) -> usize {
        self.index as usize
    }
}
