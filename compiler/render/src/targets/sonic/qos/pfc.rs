//! Pauses: `MAP_PFC_PRIORITY_TO_QUEUE`, `PFC_PRIORITY_TO_PRIORITY_GROUP_MAP`, `PFC_WD` and `CABLE_LENGTH`.
//!
//! In: the profile. Out: rows; none for a lossy profile. Always: what pauses has headroom (the length of its
//! cable is written) and, where the profile has one, a watchdog.

use closc_qos::profile::{Watchdog, WatchdogAction};

use super::super::json::{Document, Row};
use super::Qos;

impl Qos<'_> {
    /// Says whether ports pause: the profile has lossless classes and the target has a buffer to pause for.
    pub(super) fn pauses(&self) -> bool {
        self.profile.is_lossless() && self.buffers.is_some()
    }

    /// Says whether pauses name another group than their own number. The plain map is what ASICs start with, and
    /// not every one takes it.
    pub(super) fn maps_groups(&self) -> bool {
        self.profile.pfc_to_priority_group().into_iter().any(|(priority, group)| priority.get() != group.get())
    }

    /// Writes `MAP_PFC_PRIORITY_TO_QUEUE`.
    pub(in super::super) fn paused_queues(&self, document: &mut Document) {
        if self.pauses() {
            document.table("MAP_PFC_PRIORITY_TO_QUEUE", |table| {
                table.map(&[self.name()], self.profile.pfc_to_queue());
            });
        }
    }

    /// Writes `PFC_PRIORITY_TO_PRIORITY_GROUP_MAP`.
    pub(in super::super) fn pausing_groups(&self, document: &mut Document) {
        if self.pauses() && self.maps_groups() {
            document.table("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", |table| {
                table.map(&[self.name()], self.profile.pfc_to_priority_group());
            });
        }
    }

    /// Writes `CABLE_LENGTH`, which is one row with a field for each port.
    pub(in super::super) fn cables(&self, document: &mut Document) {
        if !self.pauses() {
            return;
        }
        document.table("CABLE_LENGTH", |table| {
            let lengths = self.kinds.ports.iter().map(|(place, kind)| {
                (self.view.ports[*place].name, format!("{}m", self.kinds.kinds[*kind].0.meters))
            });
            table.texts(&[self.name()], lengths);
        });
    }

    /// Writes `PFC_WD`.
    pub(in super::super) fn watchdog(&self, document: &mut Document) {
        let Some(watchdog) = self.profile.watchdog().filter(|_| self.pauses()) else { return };
        document.table("PFC_WD", |table| {
            self.each_port(|name, _| table.row(&[name], |row| watch(row, watchdog)));
            table.row(&["GLOBAL"], |row| row.number("POLL_INTERVAL", watchdog.poll.millis_ceil()));
        });
    }
}

fn watch(row: &mut Row<'_>, watchdog: &Watchdog) {
    row.text("action", match watchdog.action {
        WatchdogAction::Drop => "drop",
        WatchdogAction::Forward => "forward",
        WatchdogAction::Alert => "alert",
    });
    row.number("detection_time", watchdog.detection.millis_ceil());
    row.number("restoration_time", watchdog.restoration.millis_ceil());
}
