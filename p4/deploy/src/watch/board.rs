//! State of each watched switch.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;

use crate::counters::Counters;
use crate::difference::Counts;
use crate::fault::Fault;
use crate::skipped_switches::SkippedSwitches;

/// Role of this controller for a switch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// There is no connection.
    #[default]
    Away,
    /// This controller is connected and not primary.
    StandingBy,
    /// This controller is primary.
    Leading,
    /// This controller reads the switch and writes nothing.
    Watching,
}

/// State of a switch.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DeviceStatus {
    /// Its plane, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plane: Option<u8>,
    /// Role of this controller for it.
    pub role: Role,
    /// Whether it was up to date at the last check. For a P4Runtime switch it is always false without primacy.
    pub in_sync: bool,
    /// Number of its entities when it was last in sync.
    pub entities: usize,
    /// Entries of each table that differed at the last check, for a switch that is not repaired.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub differences: BTreeMap<String, u64>,
    /// Number of reads and comparisons.
    pub checks: u64,
    /// Number of checks that changed the switch.
    pub repairs: u64,
    /// Updates that were sent.
    pub updates: Counts,
    /// Number of times that its pipeline was set.
    pub pipelines_set: u64,
    /// Number of times that a connection was opened.
    pub connections: u64,
    /// Number of errors.
    pub failures: u64,
    /// Last error, until the next successful check or a change of role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Seconds since it was last found in, or brought to, its target state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_sync_age_seconds: Option<f64>,
    /// Counters at the last read, if they are read. They are dropped with the connection, so old values are not served.
    #[serde(skip)]
    pub counters: Option<Arc<Counters>>,
}

impl DeviceStatus {
    /// Returns whether the switch needs no attention: it is in sync, or another controller takes care of it.
    pub fn is_good(&self) -> bool {
        match self.role {
            Role::Leading | Role::Watching => self.in_sync,
            Role::StandingBy => true,
            Role::Away => false,
        }
    }
}

/// State of every switch.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct WatchStatus {
    /// The switches by name.
    pub devices: BTreeMap<String, DeviceStatus>,
    /// Switches of the tree that are not watched, by operating system.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<SkippedSwitches>,
}

impl WatchStatus {
    /// Returns whether no switch needs attention.
    pub fn is_good(&self) -> bool {
        self.devices.values().all(DeviceStatus::is_good)
    }

    /// Returns the number of switches that satisfy a condition.
    pub fn count(&self, holds: impl Fn(&DeviceStatus) -> bool) -> usize {
        self.devices.values().filter(|device| holds(device)).count()
    }
}

/// State, under one lock per switch.
#[derive(Debug)]
pub(super) struct Board {
    devices: BTreeMap<String, Mutex<Entry>>,
    skipped_switches: Vec<SkippedSwitches>,
}

#[derive(Debug, Default)]
struct Entry {
    status: DeviceStatus,
    in_sync_since: Option<Instant>,
}

impl Board {
    pub(super) fn new(
        devices: impl Iterator<Item = (String, Option<u8>)>,
        left_alone: Vec<SkippedSwitches>,
    ) -> Self {
        let entry = |plane| {
            let status = DeviceStatus { plane, ..DeviceStatus::default() };
            Mutex::new(Entry { status, in_sync_since: None })
        };
        Board {
            devices: devices.map(|(name, plane)| (name, entry(plane))).collect(),
            skipped_switches: left_alone,
        }
    }

    /// Returns the counters of a switch at the last read.
    pub(super) fn counters(&self, device: &str) -> Option<Arc<Counters>> {
        let entry = self.devices.get(device)?.lock().unwrap_or_else(PoisonError::into_inner);
        entry.status.counters.clone()
    }

    fn with(&self, device: &str, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.devices.get(device) {
            change(&mut entry.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    pub(super) fn change(&self, device: &str, change: impl FnOnce(&mut DeviceStatus)) {
        self.with(device, |entry| change(&mut entry.status));
    }

    /// Records that a switch is up to date.
    pub(super) fn in_sync(&self, device: &str, entities: usize) {
        self.with(device, |entry| {
            entry.status.in_sync = true;
            entry.status.entities = entities;
            entry.status.fault = None;
            entry.in_sync_since = Some(Instant::now());
        });
    }

    /// Records a fault.
    pub(super) fn fail(&self, device: &str, fault: Fault) {
        self.change(device, |status| {
            status.in_sync = false;
            status.failures += 1;
            status.fault = Some(fault);
        });
    }

    pub(super) fn status(&self) -> WatchStatus {
        let devices = self.devices.iter().map(|(name, entry)| {
            let entry = entry.lock().unwrap_or_else(PoisonError::into_inner);
            let mut status = entry.status.clone();
            status.in_sync_age_seconds = entry.in_sync_since.map(|since| since.elapsed().as_secs_f64());
            (name.clone(), status)
        });
        WatchStatus { devices: devices.collect(), left_alone: self.skipped_switches.clone() }
    }
}
