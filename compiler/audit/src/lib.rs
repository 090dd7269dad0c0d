//! Audit logs: the author, source and result of each change, one line of JSON before the change and one after it.
//!
//! In: a place (a file, `journald` or `syslog`), the operation, results. Out: lines on disk, or with the logging service.
//! Invariants: a line is written when the call returns. Each line has the digest of the previous one ([`Chain`]). Lines
//! are never rewritten.

mod chain;
mod log;
mod sink;

pub use chain::{Chain, ChainFault};
pub use log::Log;
