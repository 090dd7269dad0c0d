//! Criteria for packets of this fabric, and the reasons to reject one.
//!
//! In: segments, pool and cookie of a fabric. Out: checks of addresses. Invariants: this module does not parse packets.

/// Criteria for packets of this fabric.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    /// First 32 bits of the segments of plane 0.
    pub block: u32,
    /// Number of blocks: 1, or one per plane with consecutive numbers.
    pub blocks: u8,
    /// Address pool of the NICs.
    pub pool: u128,
    /// Length of the pool.
    pub pool_len: u8,
    /// UDP port of messages.
    pub udp_port: u16,
    /// Cookie of the fabric or, for messages, of the two NICs.
    pub cookie: u64,
}

impl Identity {
    /// Returns whether an address belongs to the pool of NICs.
    pub fn holds(&self, address: &[u8; 16]) -> bool {
        let differs = u128::from_be_bytes(*address) ^ self.pool;
        self.pool_len == 0 || differs >> (128 - u32::from(self.pool_len)) == 0
    }

    /// Returns the blocks of all planes.
    pub fn blocks(&self) -> std::ops::RangeInclusive<u32> {
        self.block..=self.block.saturating_add(u32::from(self.blocks.max(1)) - 1)
    }

    /// Returns 16 bits derived from the cookie, which every numbered packet carries.
    pub fn tag(&self) -> u16 {
        (self.cookie ^ self.cookie >> 16 ^ self.cookie >> 32 ^ self.cookie >> 48) as u16
    }
}

/// The reason why a packet is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is shorter than its headers require.
    Short,
    /// Its source or destination is outside the fabric.
    Outside,
    /// Its cookie is wrong, for example that of another fabric.
    Cookie,
    /// Its kind is unknown.
    Kind,
    /// It is a message of an agent of another version.
    Version,
    /// Its checksum is wrong.
    Damaged,
}
