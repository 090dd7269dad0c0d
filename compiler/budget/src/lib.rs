//! Limits on memory whose size is chosen by another program, a file or a packet.
//!
//! In: a reader with a limit, a charge of a peer, or the key of an entry. Out: the bytes or an error with the
//! limit, whether the charge fits, or whether to keep the entry. Invariants: at most one byte above the limit
//! is read before the error. A rejected charge does not change the account. Other files that call
//! `read_to_end` or `read_to_string` directly are listed with a reason in `tests/tidy/budget.rs`.

mod account;
mod json;
mod limited;
mod tally;

pub use account::{Account, ChargeError};
pub use json::decoded_json_bytes;
pub use limited::{OverLimit, exceeded_limit, read, read_into, read_text, size};
pub use tally::Tally;
