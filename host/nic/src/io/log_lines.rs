//! Lines of the agent on stderr.
//!
//! In: a line. Out: nothing. Invariants: a closed stderr does not end the agent.

use std::io::Write as _;

/// Prints a line on stderr and ignores errors.
pub(super) fn say(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "closc-nic: {line}");
}
