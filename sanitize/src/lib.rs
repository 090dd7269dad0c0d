//! The files of `closc-nic` and `closc-switch` that contain unsafe code. Their own tests run here under
//! AddressSanitizer, without the hundreds of dependencies of their crates.
//!
//! Invariants: the original files of the crates are compiled, not copies.

#![allow(dead_code, reason = "the crates around these files use all of them")]

/// Lengths of the headers in front of a packet: Ethernet with IPv6, and the destination option.
mod wire {
    pub(crate) const HEADER_LEN: usize = 54;
    pub(crate) const OPTION_LEN: usize = 16;
}

#[path = "../../host/nic/src/batch.rs"]
mod batch;
#[path = "../../host/nic/src/io/sys.rs"]
mod sys;

#[path = "../../p4/switch/src/ports/raw.rs"]
mod raw;
