//! What a switch remembers: table entries, profiles, counters, meters, registers, replication, digests.
//!
//! Nothing here knows P4Runtime: keys and arguments are words, objects are indices of the program. What always holds:
//! memory follows use, not the sizes that the program declares.

mod array;
mod digest;
mod exact;
mod lpm;
mod meter;
mod profile;
mod random;
mod replication;
mod table;
mod ternary;
mod value_set;

pub use array::{Counter, CounterBank, RegisterBank};
pub use digest::{DigestConfig, DigestList, DigestState, Sample};
pub use meter::{Meter, MeterBank, MeterConfig, PacketSize};
pub use profile::{GroupMember, MemberAction, Profile, ProfileError, SetMember, WatchPort};
pub use random::Random;
pub use replication::{CloneSession, Replica, Replication};
pub use table::{ActionRef, DefaultAction, Entry, EntryMeta, Key, Table, TableError};
pub use value_set::{SetMatch, ValueSet};

use crate::program::Program;

/// Arrays that actions read and write.
#[derive(Debug)]
pub struct Arrays {
    /// Indexed counters.
    pub counters: Vec<CounterBank>,
    /// Indexed meters; direct ones live in their entries.
    pub meters: Vec<MeterBank>,
    /// Registers.
    pub registers: Vec<RegisterBank>,
    /// Source of random numbers.
    pub random: Random,
    /// Inputs seen by hashes that count, by calculation.
    pub counting: std::collections::BTreeMap<u16, Counting>,
    /// Room for hash inputs.
    pub scratch: Vec<u8>,
}

/// State of a hash that counts.
#[derive(Debug, Default)]
pub struct Counting {
    /// Next number.
    pub next: u64,
    /// Number of each input, for the consistent one.
    pub seen: std::collections::HashMap<Box<[u8]>, u64>,
}

impl Arrays {
    /// Returns empty arrays for a program.
    pub fn new(program: &Program, seed: u64) -> Self {
        Self {
            counters: program.counters.iter().map(|array| CounterBank::new(array.size)).collect(),
            meters: program.meters.iter().map(|array| MeterBank::new(array.size)).collect(),
            registers: program
                .registers
                .iter()
                .map(|array| RegisterBank::new(array.size, array.bits))
                .collect(),
            random: Random::new(seed),
            counting: std::collections::BTreeMap::new(),
            scratch: Vec::new(),
        }
    }
}
