//! The state of a switch: table entries, profiles, counters, meters, registers, replication, digests.
//!
//! It is independent of P4Runtime: keys and arguments are words, objects are indices of the program. Invariants: memory
//! grows with use, not with declared sizes.

mod array;
mod digest;
mod exact;
mod lpm;
mod meter;
mod port;
mod profile;
mod random;
mod replication;
mod table;
mod ternary;
mod value_set;

pub(crate) use array::{Counter, CounterBank, RegisterBank};
pub use digest::DigestList;
pub(crate) use digest::{DigestConfig, DigestState, Sample};
pub(crate) use meter::{Meter, MeterBank, MeterConfig, PacketSize};
pub(crate) use port::Port;
pub(crate) use profile::{GroupMember, MemberAction, Profile, ProfileError, SetMember};
pub(crate) use random::Random;
pub(crate) use replication::{CloneSession, Replica, Replication};
pub(crate) use table::{ActionRef, DefaultAction, Entry, EntryMeta, Key, Table, TableError};
pub(crate) use value_set::{SetMatch, ValueSet};

use crate::program::Program;

/// Arrays that actions use.
#[derive(Debug)]
pub(crate) struct Arrays {
    /// Indexed counters.
    pub(crate) counters: Vec<CounterBank>,
    /// Indexed meters; direct ones are in their entries.
    pub(crate) meters: Vec<MeterBank>,
    pub(crate) registers: Vec<RegisterBank>,
    /// Source of random numbers.
    pub(crate) random: Random,
    /// State of stateful hashes, by calculation.
    pub(crate) counting: std::collections::BTreeMap<u16, HashState>,
    /// Buffer for hash inputs.
    pub(crate) scratch: Vec<u8>,
}

/// State of a stateful hash.
#[derive(Debug, Default)]
pub(crate) struct HashState {
    /// Next number.
    pub(crate) next: u64,
    /// Number of each input, for the consistent variant.
    pub(crate) seen: std::collections::HashMap<Box<[u8]>, u64>,
}

impl Arrays {
    /// Returns empty arrays for a program.
    pub(crate) fn new(program: &Program, seed: u64) -> Self {
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
