//! Number types of the command line: one parser for each bound.
//!
//! Invariants: every number has an upper bound that this machine and the arithmetic behind it bear, and 0 is refused
//! where it means nothing; what 0 means elsewhere is in the help of its argument. A test walks all arguments.

use clap::builder::{RangedI64ValueParser, RangedU64ValueParser};
use closc_qos::units::Bytes;

#[cfg(test)]
mod tests;

/// Threads of a process; more than there are processors only take memory.
const THREADS_MAX: i64 = 1024;
/// Switches worked on at the same time: each takes a connection and a file or two.
pub(super) const PARALLEL_MAX: u16 = 1024;
/// A week.
const SECONDS_MAX: u64 = 7 * 24 * 3600;
/// A tebibyte.
pub(super) const MEBIBYTES_MAX: u32 = 1 << 20;
/// A terabyte.
const FLOW_BYTES_MAX: u64 = 1_000_000_000_000;
/// Rows of a list that is kept in memory in order.
const SHOWN_MAX: i64 = 100_000;
/// Repetitions of which each has a row in the answer.
const TRIALS_MAX: u64 = 1_000_000;

/// Bytes of a flow: at least 1; a terabyte takes a NIC of 800 Gb/s ten seconds.
pub(super) fn flow(text: &str) -> Result<Bytes, String> {
    let bytes = text.parse::<Bytes>().map_err(|error| format!("{error}"))?;
    if (1..=FLOW_BYTES_MAX).contains(&bytes.0) {
        Ok(bytes)
    } else {
        Err(format!("{bytes} is not between 1B and 1000GB"))
    }
}

/// Threads; 0 for as many as there are processors.
pub(super) fn threads() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(0..=THREADS_MAX)
}

/// Switches worked on at the same time.
pub(super) fn parallel() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=i64::from(PARALLEL_MAX))
}

/// Seconds, of which none is not a time at all.
pub(super) fn seconds() -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=SECONDS_MAX)
}

/// MiB of memory.
pub(super) fn mebibytes() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(MEBIBYTES_MAX))
}

/// A count of which 0 means nothing.
pub(super) fn from_1() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

/// A count that may be 0, and whose help says what that does.
pub(super) fn from_0() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32)
}

/// Rows that are kept; 0 for none.
pub(super) fn shown() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=SHOWN_MAX)
}

/// Repetitions.
pub(super) fn trials() -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=TRIALS_MAX)
}

/// Paths, of which a fabric may have more than 32 bits count.
pub(super) fn paths() -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=1 << 48)
}
