//! Watches one switch that is not repaired, for as long as the watch runs.
//!
//! In: a switch whose configuration is compared. Out: whether it agrees with the tree, on the board.
//! Invariants: nothing is written, because a change may interrupt ports; `closc push` makes changes. The tree
//! is read again at each check, because the texts of thousands of switches are not kept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use closc_runtime::client::{Backoff, Jitter};
use tokio::sync::watch::Receiver;
use tokio::time::timeout;

use super::board::Role;
use super::{WatchState, end};
use crate::device_drift::DeviceDrift;
use crate::event::EventKind;
use crate::fault::Fault;
use crate::progress::Progress;
use crate::switch::Switch;

/// Watches a switch until asked to stop.
pub(super) async fn look(
    (place, row): (usize, String),
    switch: Arc<dyn Switch>,
    shared: Arc<WatchState>,
    mut stopped: Receiver<bool>,
) {
    let reporter = shared.reporter.of_device(switch.name(), switch.plane());
    let backoff = Backoff { jitter: Jitter::Seeded(place as u64), ..shared.options.push.pause };
    let mut onlooker = Onlooker {
        row,
        switch,
        state: &shared,
        progress: Progress::new(reporter),
        consecutive_failures: 0,
        last_finding: None,
    };
    loop {
        let found = tokio::select! {
            found = onlooker.check_drift() => found,
            () = end(&mut stopped) => break,
        };
        let wait = onlooker.take(found, backoff);
        if timeout(wait, end(&mut stopped)).await.is_ok() {
            break;
        }
    }
    shared.board.change(&onlooker.row, |status| (status.role, status.in_sync) = (Role::Away, false));
}

/// Differences: the number of entries of each table.
type Objects = BTreeMap<String, u64>;

struct Onlooker<'s> {
    /// Its name on the board.
    row: String,
    switch: Arc<dyn Switch>,
    state: &'s WatchState,
    progress: Progress,
    /// Consecutive checks that failed.
    consecutive_failures: u32,
    /// Last finding.
    last_finding: Option<Objects>,
}

impl Onlooker<'_> {
    /// Reads and compares, within the timeout of one switch.
    async fn check_drift(&self) -> Result<Objects, Fault> {
        let _permit = self.state.permits.acquire().await.expect("the semaphore stays open");
        let options = &self.state.options.push;
        let limit = options.timeout;
        let found = timeout(limit, self.switch.drift(options, &self.progress)).await;
        let late = |_| Fault::Timeout { timeout: limit, operation: self.progress.operation() };
        match found.map_err(late).flatten()? {
            // These switches have no pipeline.
            DeviceDrift::None | DeviceDrift::Pipeline { .. } => Ok(Objects::new()),
            DeviceDrift::Entries { objects, .. } => Ok(objects),
            DeviceDrift::Unknown(fault) => Err(fault),
        }
    }

    /// Records the result, and returns when to check again.
    fn take(&mut self, found: Result<Objects, Fault>, backoff: Backoff) -> Duration {
        let (board, name) = (&self.state.board, &self.row);
        let interval = self.state.options.interval;
        match found {
            Ok(objects) => {
                self.consecutive_failures = 0;
                board.change(name, |status| {
                    status.connections += u64::from(status.role == Role::Away);
                    status.role = Role::Watching;
                    status.checks += 1;
                    status.differences.clone_from(&objects);
                });
                if objects.is_empty() {
                    board.in_sync(name, 0);
                } else {
                    board.change(name, |status| (status.in_sync, status.fault) = (false, None));
                }
                if self.last_finding.as_ref() != Some(&objects) {
                    self.progress.report(EventKind::Drifted { objects: objects.clone() });
                    self.last_finding = Some(objects);
                }
                interval
            }
            Err(fault) => {
                self.consecutive_failures = self.consecutive_failures.saturating_add(1);
                self.progress.report(EventKind::Trouble { fault: fault.clone() });
                board.fail(name, fault);
                board.change(name, |status| status.role = Role::Away);
                self.last_finding = None;
                backoff.wait(self.consecutive_failures - 1).min(interval)
            }
        }
    }
}
