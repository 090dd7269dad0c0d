//! Limits on memory whose size another program, file or packet chooses.
//!
//! In: a reader with a limit, a charge of a peer, or the key of an entry. Out: the bytes or an error that
//! names the limit, whether the charge fits, or whether the entry is kept. Invariants: at most one byte more
//! than the limit is read before the error. A rejected charge changes nothing. Other files that call
//! `read_to_end` or `read_to_string` directly are listed with a reason in `tests/tidy/budget.rs`.

mod account;
mod json;
mod limited;
mod tally;

pub use account::{Account, ChargeError};
pub use json::decoded_json_bytes;
pub use limited::{OverLimit, exceeded_limit, read, read_into, read_text, size};
pub use tally::Tally;
