//! Numbers that carry their unit: [`Speed`], [`Length`], [`Bytes`], [`Nanoseconds`].
//!
//! In: the text of a topology file (`400G`, `2.5m`, `64KiB`, `120ns`). Out: an integer of the smallest unit,
//! so that no sum ever rounds. Invariants: what [`std::fmt::Display`] prints parses back to the same value, and
//! a number without a unit is refused with the text to write instead.

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
