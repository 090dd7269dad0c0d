//! PFC: `MAP_PFC_PRIORITY_TO_QUEUE`, `PFC_PRIORITY_TO_PRIORITY_GROUP_MAP`, `PFC_WD` and `CABLE_LENGTH`.
//!
//! In: the profile. Out: rows; none for a lossy profile. Invariants: a port with PFC has headroom, because its cable
//! length is written. It has a watchdog if the profile has one.

use closc_qos::profile::{WatchdogAction, WatchdogTimes};

use super::super::json::{Document, Row};
use super::super::repeated::Fields;
use super::Qos;

impl Qos<'_> {
    /// Returns whether a PFC priority maps to a group with another number. The identity map is the default of ASICs,
    /// and some ASICs reject it if it is explicit.
    pub(super) fn maps_groups(&self) -> bool {
        self.profile
            .pfc_to_priority_group()
            .into_iter()
            .any(|(priority, group)| priority.get() != group.get())
    }

    /// Writes `MAP_PFC_PRIORITY_TO_QUEUE`.
    pub(in super::super) fn write_pfc_queues(&self, document: &mut Document) {
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

    /// Writes `CABLE_LENGTH`, a single row with a field for each port.
    pub(in super::super) fn cables(&self, document: &mut Document) {
        // SONiC rejects the complete configuration if this row has no field.
        if !self.pauses() || self.ports().next().is_none() {
            return;
        }
        document.table("CABLE_LENGTH", |table| {
            let length = |kind: usize| format!("{}m", self.kinds()[kind].cable.meters_ceil());
            table.texts(&[self.name()], self.ports().map(|(name, kind)| (name, length(kind))));
        });
    }

    /// Writes `PFC_WD`.
    pub(in super::super) fn watchdog(&self, document: &mut Document) {
        let (Some(watchdog), Some(times)) = (self.profile.watchdog(), self.switch.watchdog) else { return };
        if !self.pauses() {
            return;
        }
        document.table("PFC_WD", |table| {
            let fields = Fields::new(|row| watch(row, watchdog.action, times));
            for (name, _) in self.ports() {
                table.repeat_row(&[name], &fields);
            }
            table.row(&["GLOBAL"], |row| row.number("POLL_INTERVAL", times.poll.millis_ceil()));
        });
    }
}

fn watch(row: &mut Row<'_>, action: WatchdogAction, times: WatchdogTimes) {
    row.text(
        "action",
        match action {
            WatchdogAction::Drop => "drop",
            WatchdogAction::Forward => "forward",
            WatchdogAction::Alert => "alert",
        },
    );
    row.number("detection_time", times.detection.millis_ceil());
    row.number("restoration_time", times.restoration.millis_ceil());
}
