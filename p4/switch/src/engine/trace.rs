//! Log messages about single packets, and recorded table keys for tests.

use std::fmt;

use crate::bits;
use crate::program::Table;

/// Log target of the messages.
pub(crate) const PACKETS: &str = "closc_switch::packets";

/// Returns whether every step is logged.
#[inline]
pub(super) fn on() -> bool {
    tracing::enabled!(target: PACKETS, tracing::Level::TRACE)
}

/// Formats a key: its fields as numbers, separated by commas.
struct Key<'k>(&'k Table, &'k [u64]);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, field) in self.0.key.iter().enumerate() {
            let words = &self.1[field.word as usize..(field.word + field.words) as usize];
            f.write_str(if at == 0 { "0x" } else { ",0x" })?;
            for byte in bits::to_bytes(words, bits::bytes_for(field.bits as usize)) {
                write!(f, "{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Logs a look-up.
#[cold]
pub(super) fn looked_up(table: &Table, key: &[u64], entry: Option<u32>) {
    let key = Key(table, key);
    if let Some(entry) = entry {
        tracing::trace!(target: PACKETS, table = table.name, %key, entry, "hit");
    } else {
        tracing::trace!(target: PACKETS, table = table.name, %key, "miss");
    }
}

/// Logs an action call.
#[cold]
pub(super) fn calls(action: &str) {
    tracing::trace!(target: PACKETS, action, "action");
}
