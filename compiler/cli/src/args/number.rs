//! Number types of the command line: one parser per range.
//!
//! Invariants: every number has an upper bound, so that it exhausts neither memory nor arithmetic. 0 is rejected if
//! it has no meaning; otherwise the help of the argument explains it. A test checks all arguments.

use std::ops::RangeInclusive;

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

/// Accepts a number of threads; 0 stands for one per processor.
pub(super) fn threads() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(0..=THREADS_MAX)
}

/// Accepts a number of switches handled in parallel, at least 1.
pub(super) fn parallel() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=i64::from(PARALLEL_MAX))
}

/// Accepts seconds, at least 1.
pub(super) fn seconds() -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=SECONDS_MAX)
}

/// Parses the number of a plane.
pub(super) fn plane(text: &str) -> Result<u8, String> {
    text.parse().map_err(|_| "expected a plane number from 0, or several as `0,1`".to_owned())
}

/// Accepts MiB of memory, at least 1.
pub(super) fn mebibytes() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(MEBIBYTES_MAX))
}

/// Accepts a count of at least 1.
pub(super) fn from_1() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

/// Parses a count of NICs, at least 1. Thousands separators are accepted, as closc prints them: `1,024`.
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

/// Parses one number from 1 to `max`, or a range of them: `2`, `1..3`. Both ends are included.
pub(super) fn range(max: u8) -> impl Fn(&str) -> Result<RangeInclusive<u8>, String> + Clone {
    move |text| {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let number = |text: &str| text.parse::<u8>().ok().filter(|number| (1..=max).contains(number));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok(first..=last),
            _ => Err(format!("expected a number from 1 to {max}, or a range such as `1..{max}`")),
        }
    }
}

/// Accepts a count that may be 0; the help of the argument gives the meaning of 0.
pub(super) fn from_0() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32)
}

/// Accepts a number of rows that are kept; 0 stands for none.
pub(super) fn row_limit_parser() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=SHOWN_MAX)
}

/// Accepts a number of repetitions, at least 1.
pub(super) fn trials() -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=TRIALS_MAX)
}

/// Accepts a number of paths, which can exceed 32 bits.
pub(super) fn paths() -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=1 << 48)
}
