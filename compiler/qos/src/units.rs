//! Numbers with units: [`Speed`], [`Length`], [`Bytes`], [`Nanoseconds`].
//!
//! In: the text of a topology file (`400G`, `2.5m`, `64KiB`, `120ns`). Out: an integer in the smallest unit, so that
//! sums are exact. Invariants: the output of [`std::fmt::Display`] parses to the same value. A number without a unit is
//! rejected with a suggestion.

mod bytes;
mod length;
mod quantity;
mod speed;
mod time;

pub use bytes::Bytes;
pub use length::Length;
pub use quantity::UnitError;
pub use speed::Speed;
pub use time::Nanoseconds;
pub(crate) use time::millis;
