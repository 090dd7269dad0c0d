//! Number types of the command line: one parser per range.
//!
//! Invariants: every number has an upper bound, so that it exhausts neither memory nor arithmetic. 0 is rejected if
//! it has no meaning; otherwise the help of the argument explains it. A test checks all arguments.

use clap::builder::{RangedI64ValueParser, RangedU64ValueParser};
use closc_qos::units::Bytes;

#[cfg(test)]
mod tests;

/// Maximum number of threads; more threads than processors only use memory.
const THREADS_MAX: i64 = 1024;
/// Maximum number of switches handled in parallel. Each uses a connection and one or two open files.
pub(super) const PARALLEL_MAX: u16 = 1024;
/// A week.
const SECONDS_MAX: u64 = 7 * 24 * 3600;
/// A tebibyte.
pub(super) const MEBIBYTES_MAX: u32 = 1 << 20;
/// A terabyte.
const FLOW_BYTES_MAX: u64 = 1_000_000_000_000;
/// Maximum number of rows of a sorted list in memory.
const SHOWN_MAX: i64 = 100_000;
/// Maximum number of repetitions. The result has one row per repetition.
const TRIALS_MAX: u64 = 1_000_000;

/// Bytes of a flow, at least 1. A NIC of 800 Gb/s sends the maximum, a terabyte, in ten seconds.
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

/// Switches handled in parallel.
pub(super) fn parallel() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=i64::from(PARALLEL_MAX))
}

/// Seconds, at least 1.
pub(super) fn seconds() -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=SECONDS_MAX)
}

/// The number of a plane.
pub(super) fn plane(text: &str) -> Result<u8, String> {
    text.parse().map_err(|_| "expected a plane number from 0, or several as `0,1`".to_owned())
}

/// MiB of memory.
pub(super) fn mebibytes() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(MEBIBYTES_MAX))
}

/// A count of at least 1.
pub(super) fn from_1() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

/// A count of NICs, at least 1. Thousands separators are accepted, as closc prints them: `1,024`.
pub(super) fn nics(text: &str) -> Result<u32, String> {
    let groups: Vec<&str> = text.split([',', '_']).collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_grouped = match &groups[..] {
        [first, rest @ ..] if !rest.is_empty() => {
            first.len() <= 3 && rest.iter().all(|group| group.len() == 3)
        }
        _ => true,
    };
    if !is_grouped || !groups.iter().all(is_number) {
        return Err("expected a whole number, for example `1024` or `1,024`".to_owned());
    }
    let count = groups.concat().parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| format!("`{text}` is not in 1..={}", u32::MAX))
}

/// A count that may be 0; the help of the argument gives the meaning of 0.
pub(super) fn from_0() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32)
}

/// Rows that are kept; 0 for none.
pub(super) fn row_limit_parser() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=SHOWN_MAX)
}

/// Repetitions.
pub(super) fn trials() -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=TRIALS_MAX)
}

/// A number of paths, which can exceed 32 bits.
pub(super) fn paths() -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=1 << 48)
}
