//! Small words of messages.

use crate::coordinate::Side;

/// Writes a number and what is counted: `1 port`, `520 ports`.
pub(crate) fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// Returns the key of a side: `down` or `up`.
pub(crate) fn side_word(side: Side) -> &'static str {
    match side {
        Side::Down => "down",
        Side::Up => "up",
    }
}
