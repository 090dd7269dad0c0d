//! Compact host path tables, which map an entropy value to a destination address in nanoseconds, without
//! allocation.
//!
//! In: the bytes of a `.bin` path table, for example a memory-mapped file. Out: [`Table`], which maps a NIC's
//! inner address and an entropy value to the outer destination address. Invariants: `no_std`, no allocation,
//! no unsafe code, no panic on any bytes. [`Table::open`] checks magic, version, lengths and checksum once,
//! and later reads stay within the checked bytes. The format is described byte by byte in `FORMAT.md`.

#![no_std]

#[cfg(any(feature = "write", test))]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod checksum;
mod choice;
mod denied;
mod layout;
mod table;

#[cfg(feature = "write")]
pub mod write;

pub use choice::{Choice, Kind};
pub use denied::{Reason, Scope, TableDenial};
pub use table::{Destination, Fault, Header, Outer, PlaneAt, Table};
