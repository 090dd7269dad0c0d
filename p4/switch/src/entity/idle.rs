//! Entries whose idle timeout has passed without a hit.

use std::sync::Arc;

use closc_runtime::proto::v1;

use super::Store;
use super::table::target;

impl Store {
    /// Returns the entries to report now. Each is reported again after another timeout without a hit.
    pub(crate) fn idle(&mut self, now_ns: u64) -> Vec<v1::TableEntry> {
        let mut idle = Vec::new();
        if self.ageing_entries == 0 {
            return idle;
        }
        let pipeline = Arc::clone(&self.pipeline);
        for table in pipeline.info().tables().iter().filter(|table| table.idle_timeout) {
            let Ok(target) = target(&pipeline, table.preamble.id) else { continue };
            let mut found = Vec::new();
            for (handle, entry) in self.engine.tables[target.binding.index].entries_mut() {
                let since = entry.hit_ns.max(entry.reported_ns);
                if entry.idle_ns > 0 && now_ns.saturating_sub(since) >= entry.idle_ns {
                    entry.reported_ns = now_ns;
                    found.push(handle);
                }
            }
            idle.extend(found.into_iter().filter_map(|handle| self.identify(target, handle)));
        }
        for entry in &mut idle {
            self.name_entry(entry);
        }
        idle
    }
}
