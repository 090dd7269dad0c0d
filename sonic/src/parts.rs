//! A patch in parts, for transports with limits.
//!
//! In: the patches of a change, and limits. Out: patches that have the same effect when applied in order. Invariants:
//! operations keep their order, so a definition comes before its references. A table that is too large for one part is
//! added with its first entry; the others follow.

use crate::change::Change;
use crate::config_db::ConfigDb;
use crate::method::seconds_of;
use crate::patch::{Action, Content, Operation, Patch};

/// Limits of one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of its operations as JSON.
    pub bytes: usize,
    /// Seconds that SONiC's updater takes for it, as in [`crate::Estimate`].
    pub seconds: u64,
}

impl Change {
    /// Returns the patches, in order, each within the limits. An operation that exceeds them by itself
    /// becomes a separate part.
    pub fn parts(&self, live: &ConfigDb, bounds: Bounds) -> Vec<Patch> {
        let mut parts = Vec::new();
        for step in self.steps(live) {
            let operations = step.operations.into_iter().flat_map(|operation| split(operation, bounds));
            let (mut part, mut bytes, mut seconds) = (Patch::default(), 0_usize, 0_u64);
            for operation in operations {
                let (own_bytes, own_seconds) = (operation.bytes(), seconds_of(&operation, &self.bounces));
                let is_over = bytes + own_bytes > bounds.bytes || seconds + own_seconds > bounds.seconds;
                if is_over && !part.is_empty() {
                    parts.push(std::mem::take(&mut part));
                    (bytes, seconds) = (0, 0);
                }
                part.operations.push(operation);
                (bytes, seconds) = (bytes + own_bytes, seconds.saturating_add(own_seconds));
            }
            parts.push(part);
        }
        parts
    }
}

/// Splits the addition of a table into its entries, if it is too large for one part.
fn split(operation: Operation, bounds: Bounds) -> Vec<Operation> {
    if operation.bytes() <= bounds.bytes {
        return vec![operation];
    }
    let Operation { table, action: Action::Add(Content::Table(entries)), .. } = operation else {
        return vec![operation];
    };
    let mut entries = entries.into_iter();
    let first = entries.next().map(|first| Operation {
        table: table.clone(),
        key: None,
        field: None,
        action: Action::Add(Content::Table([first].into())),
    });
    let others = entries.map(|(key, entry)| Operation {
        table: table.clone(),
        key: Some(key),
        field: None,
        action: Action::Add(Content::Entry(entry)),
    });
    first.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overlay, change};

    fn config(text: &str) -> ConfigDb {
        ConfigDb::parse(text).expect("right")
    }

    #[test]
    fn parts_are_the_operations_in_their_order() {
        let live = config(
            r#"{ "DEVICE_NEIGHBOR": { "Ethernet0": { "name": "a" }, "Ethernet4": { "name": "b" } } }"#,
        );
        let tree = config(
            r#"{ "DEVICE_NEIGHBOR": { "Ethernet0": { "name": "c" }, "Ethernet4": { "name": "d" } },
                 "SCHEDULER": { "one": { "type": "DWRR" }, "three": { "type": "DWRR" }, "two": { "type": "DWRR" } } }"#,
        );
        let made = change("p0-t0-001", &live, &tree, &Overlay::default(), false).expect("they go together");
        let wide = Bounds { bytes: usize::MAX, seconds: u64::MAX };
        assert_eq!(made.parts(&live, wide), made.steps(&live));
        let by_time = made.parts(&live, Bounds { seconds: 2, ..wide });
        assert_eq!(by_time.iter().map(|part| part.operations.len()).collect::<Vec<_>>(), [1, 1, 1]);
        let narrow = made.parts(&live, Bounds { bytes: 1, ..wide });
        let operations: Vec<Operation> = narrow.into_iter().flat_map(|part| part.operations).collect();
        let places: Vec<String> = operations.iter().map(Operation::place).collect();
        let entries = ["SCHEDULER", "SCHEDULER|three", "SCHEDULER|two"];
        assert_eq!(places[..3], entries);
        assert_eq!(places[3..], ["DEVICE_NEIGHBOR|Ethernet0.name", "DEVICE_NEIGHBOR|Ethernet4.name"]);
        // The limit is compared with the bytes that are written.
        let all: usize = made.patch.operations.iter().map(Operation::bytes).sum();
        assert_eq!(made.parts(&live, Bounds { bytes: all, ..wide }).len(), 1);
        assert_eq!(made.parts(&live, Bounds { bytes: all - 1, ..wide }).len(), 2);
    }
}
