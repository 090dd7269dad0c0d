//! Cache of tables that are identical on many switches.
//!
//! In: the text after the name of a table. Out: the table of an earlier switch, if it has the same bytes. Invariants: a
//! table ends with its closing brace, so text that starts with the bytes of a complete table starts with that table.
//! Cached results depend only on these bytes. Only a few versions of each table are kept.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::model::peer::Peer;
use crate::model::qos::NamedQos;

/// Number of cached versions per table, because tiers and planes differ.
const KEPT: usize = 8;

/// Maximum length of cached tables.
const LONGEST: usize = 4 << 20;

/// A table with its text.
#[derive(Debug)]
pub(crate) struct Section {
    /// The text from the first brace to the last.
    pub(crate) text: Box<str>,
    number: u64,
}

/// Cached tables of earlier switches.
#[derive(Debug, Default)]
pub(crate) struct SectionCache {
    tables: RwLock<HashMap<Box<str>, Vec<Arc<Section>>>>,
    outcomes: Mutex<Vec<(Vec<u64>, Arc<NamedQos>)>>,
    peers: Mutex<Vec<(u64, Arc<[Peer]>)>>,
    numbers: AtomicU64,
    /// Number of ports of the last switch, which usually equals that of the next one.
    ports: AtomicUsize,
}

impl SectionCache {
    /// Returns the cached table with a name that is at the start of a text.
    pub(crate) fn table(&self, name: &str, text: &str) -> Option<Arc<Section>> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(name)?.iter().find(|known| text.starts_with(&*known.text)).cloned()
    }

    /// Wraps a table, and caches it unless it is too long or not an object. Of more than [`KEPT`] versions
    /// with the same name, the oldest is dropped.
    pub(crate) fn keep(&self, name: &str, text: &str) -> Arc<Section> {
        let section =
            Arc::new(Section { text: text.into(), number: self.numbers.fetch_add(1, Ordering::Relaxed) });
        // Only objects are cached: a number, for example, could continue after the text.
        if text.len() <= LONGEST && text.starts_with('{') {
            let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
            insert(tables.entry(name.into()).or_default(), Arc::clone(&section));
        }
        section
    }

    /// Returns the number of ports to reserve memory for.
    pub(crate) fn ports(&self) -> usize {
        self.ports.load(Ordering::Relaxed)
    }

    /// Records the number of ports of the switch that was just read.
    pub(crate) fn expect_ports(&self, ports: usize) {
        self.ports.store(ports, Ordering::Relaxed);
    }

    /// Returns the combined result of QoS tables; computes it if it is not cached.
    pub(crate) fn outcome(
        &self,
        tables: &[Arc<Section>],
        compute: impl FnOnce() -> Result<NamedQos, serde_json::Error>,
    ) -> Result<Arc<NamedQos>, serde_json::Error> {
        let numbers: Vec<u64> = tables.iter().map(|section| section.number).collect();
        let known = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, outcome)) = known.iter().find(|(known, _)| *known == numbers) {
            return Ok(Arc::clone(outcome));
        }
        drop(known);
        let outcome = Arc::new(compute()?);
        let mut known = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        insert(&mut known, (numbers, Arc::clone(&outcome)));
        Ok(outcome)
    }
}

impl SectionCache {
    /// Returns the neighbours in a table; reads the table if it is not cached.
    pub(crate) fn peers(
        &self,
        table: &Section,
        read: impl FnOnce(&str) -> Result<Arc<[Peer]>, serde_json::Error>,
    ) -> Result<Arc<[Peer]>, serde_json::Error> {
        let known = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, peers)) = known.iter().find(|(number, _)| *number == table.number) {
            return Ok(Arc::clone(peers));
        }
        drop(known);
        let peers = read(&table.text)?;
        let mut known = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        insert(&mut known, (table.number, Arc::clone(&peers)));
        Ok(peers)
    }
}

/// Inserts a value at the front, and drops the oldest one if there are already [`KEPT`].
fn insert<T>(kept: &mut Vec<T>, new: T) {
    kept.truncate(KEPT - 1);
    kept.insert(0, new);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_bytes_are_a_known_table() {
        let known = SectionCache::default();
        let first = known.keep("QUEUE", r#"{"a": {}}"#);
        let again = known.table("QUEUE", r#"{"a": {}}, "OTHER": {}"#).unwrap();
        assert_eq!(again.number, first.number);
        assert!(known.table("QUEUE", r#"{"a": {"b": "c"}}"#).is_none());
        assert!(known.table("BUFFER_PG", r#"{"a": {}}"#).is_none());
    }

    #[test]
    fn few_are_kept() {
        let known = SectionCache::default();
        for at in 0..100 {
            known.keep("QUEUE", &format!("{{\"{at}\": {{}}}}"));
        }
        assert_eq!(known.tables.read().unwrap()["QUEUE"].len(), KEPT);
        assert!(known.table("QUEUE", r#"{"99": {}}"#).is_some());
        assert!(known.table("QUEUE", r#"{"0": {}}"#).is_none());
    }
}
