//! Reads, indexes and rewrites arbitrary text as a P4Info, without a panic.
//!
//! In: text. Out: none. Invariants: a P4Info that was read and written is the same when it is read again.

use closc_runtime::Info;
use closc_runtime::text::{self, read_p4info};

/// Runs one input.
pub(crate) fn run(given: &str) {
    let Ok(info) = read_p4info(given) else { return };
    let written = text::write(&info);
    let again = read_p4info(&written).expect("what was written can be read");
    // NaN differs from itself, so the texts are compared.
    assert_eq!(text::write(&again), written);
    if let Ok(index) = Info::new(info) {
        for request in closc_runtime::entry::wildcards(&index) {
            assert!(request.entity.is_some());
        }
    }
}
