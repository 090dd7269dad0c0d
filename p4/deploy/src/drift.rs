//! Drift: unwanted state that switches hold, and wanted state that they lack.
//!
//! In: a fleet. Out: [`DriftReport`]. Invariants: nothing is written, and no primacy is needed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::device_drift::DeviceDrift;
use crate::event::{EventKind, Observer, Reporter};
use crate::factory::FactoryNote;
use crate::fault::Fault;
use crate::fleet::Fleet;
use crate::options::PushOptions;
use crate::parallel::map_parallel;
use crate::progress::Progress;
use crate::skipped_switches::SkippedSwitches;
use crate::unsupported_files::UnsupportedFile;

/// Differences of the switches of a fleet from their target state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DriftReport {
    /// Every switch by name.
    pub devices: BTreeMap<String, DeviceDrift>,
    /// Switches of the tree that were not compared, by operating system.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<SkippedSwitches>,
    /// Files of the switches above that no transport reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncarried: Vec<UnsupportedFile>,
    /// Factory settings that switches lack, and files on switches that undo a push at the next boot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub factory: Vec<FactoryNote>,
}

impl DriftReport {
    /// Returns whether every switch is up to date.
    pub fn is_clean(&self) -> bool {
        self.uncarried.is_empty() && self.devices.values().all(|drift| *drift == DeviceDrift::None)
    }

    /// Returns whether a switch, or a file of one, could not be read.
    pub fn is_incomplete(&self) -> bool {
        !self.uncarried.is_empty()
            || self.devices.values().any(|drift| matches!(drift, DeviceDrift::Unknown(_)))
    }

    /// Shows the differences; a report without drift is empty.
    pub fn show(&self) -> String {
        let mut text = String::new();
        for (name, drift) in &self.devices {
            let lines = drift.lines();
            if lines.is_empty() {
                continue;
            }
            text.push_str(name);
            text.push('\n');
            for line in lines {
                text.push_str("  ");
                text.push_str(&line);
                text.push('\n');
            }
        }
        for uncarried in &self.uncarried {
            text.push_str(&uncarried.line());
            text.push('\n');
        }
        text
    }
}

/// Compares every switch of a fleet with its target state.
pub async fn drift(fleet: &Fleet, options: &PushOptions, observer: Observer) -> DriftReport {
    let (reporter, options) = (Reporter::new(observer), *options);
    let all = reporter.clone();
    let found = map_parallel(fleet.switches(), options.max_parallel, move |switch| {
        let reporter = reporter.of_device(switch.name(), switch.plane());
        async move {
            reporter.send(EventKind::DeviceStarted);
            let progress = Progress::new(reporter);
            let found = tokio::time::timeout(options.timeout, switch.drift(&options, &progress)).await;
            let late = |_| Fault::Timeout { timeout: options.timeout, operation: progress.operation() };
            let drift = found.map_err(late).flatten().unwrap_or_else(DeviceDrift::Unknown);
            (switch.name().to_owned(), drift)
        }
    });
    DriftReport {
        devices: found.await.into_iter().collect(),
        factory: all.factory(),
        left_alone: fleet.skipped_switches.clone(),
        uncarried: fleet.unsupported_files(),
    }
}
