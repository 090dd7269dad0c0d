//! Audit logs: the author, source and result of each change, one JSON line before the change and one after
//! it.
//!
//! In: a destination (a file, `journald` or `syslog`), the operation, and results. Out: lines on disk, or in
//! the logging service. Invariants: a line has been written by the time the call returns. Each line contains
//! the digest of the previous one ([`Chain`]). Lines are never rewritten.

mod chain;
mod log;
mod sink;

pub use chain::{Chain, ChainFault};
pub use log::Log;
