//! Conditions for packets of agents, and why one does not meet them.
//!
//! In: the segments, pool and cookie of a fabric. Out: answers about addresses. Invariants: nothing here reads a packet.

/// Conditions for a packet of ours.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    /// The first 32 bits of segments in plane 0.
    pub block: u32,
    /// Blocks of segments: 1, or one for each plane, each one higher than that of the plane before.
    pub blocks: u8,
    /// The NICs' pool and its length.
    pub pool: u128,
    /// Length of the pool.
    pub pool_len: u8,
    /// UDP port of messages.
    pub udp_port: u16,
    /// Shared knowledge of all agents of a fabric.
    pub cookie: u64,
}

impl Identity {
    /// Tells whether an address is of the pool of NICs.
    pub fn holds(&self, address: &[u8; 16]) -> bool {
        let differs = u128::from_be_bytes(*address) ^ self.pool;
        self.pool_len == 0 || differs >> (128 - u32::from(self.pool_len)) == 0
    }

    /// Returns the blocks of all planes.
    pub fn blocks(&self) -> std::ops::RangeInclusive<u32> {
        self.block..=self.block.saturating_add(u32::from(self.blocks.max(1)) - 1)
    }

    /// The part of the cookie that every sprayed packet carries.
    pub fn tag(&self) -> u16 {
        (self.cookie ^ self.cookie >> 16 ^ self.cookie >> 32 ^ self.cookie >> 48) as u16
    }
}

/// Why a packet is not ours, or cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Shorter than its headers say.
    Short,
    /// Sent from, or to, outside the fabric.
    Outside,
    /// The cookie is another fabric's.
    Cookie,
    /// Of a kind that agents do not send.
    Kind,
    /// A message of an agent of another version.
    Version,
    /// Its bytes are not those that were sent.
    Damaged,
}
