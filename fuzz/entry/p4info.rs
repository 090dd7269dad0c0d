//! Any text as a P4Info: read, indexed and written again, without a panic.
//!
//! In: text. Out: nothing. Invariants: what is read is written so that the same is read again.

use closc_runtime::Info;
use closc_runtime::text::{self, read_p4info};

/// Tries one input.
pub(crate) fn run(given: &str) {
    let Ok(info) = read_p4info(given) else { return };
    let written = text::write(&info);
    let again = read_p4info(&written).expect("what was written can be read");
    // Not a number differs from itself, so texts are compared.
    assert_eq!(text::write(&again), written);
    if let Ok(index) = Info::new(info) {
        for request in closc_runtime::entry::wildcards(&index) {
            assert!(request.entity.is_some());
        }
    }
}
