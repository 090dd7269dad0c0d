//! Lines of the agent on stderr.
//!
//! In: a line. Out: nothing. Invariants: a reader that is gone does not end the agent.

use std::io::Write as _;

/// Says a line on stderr. Where nobody reads it, the agent goes on.
pub(super) fn say(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "closc-nic: {line}");
}
