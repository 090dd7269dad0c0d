//! QoS profiles, PFC headroom and ECN thresholds.
//!
//! In: numbers with units (speed, length, bytes, time), a QoS profile and the constants of a switch ASIC.
//! Out: what the switch and the host are told, with every term of the arithmetic kept. Always: no I/O, no
//! other crate of the workspace, integers of 64 or 128 bits, the same input gives the same output.

pub mod codes;
pub mod ecn;
mod error;
pub mod explain;
pub mod headroom;
pub mod profile;
pub mod units;

pub use error::QosError;
pub use units::{Bytes, Length, Nanoseconds, Speed, UnitError};
