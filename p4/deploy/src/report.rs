//! Result of a push.

use std::collections::BTreeMap;

use closc_runtime::client::PipelineChange;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bind::{self, OmittedEntries};
use crate::difference::Counts;
use crate::factory::FactoryNote;
use crate::fault::Fault;
use crate::skipped_switches::SkippedSwitches;
use crate::unsupported_files::UnsupportedFile;

/// Action on the pipeline of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PipelineStep {
    /// The switch already ran the pipeline.
    Unchanged,
    /// The pipeline was set, and the switch kept its entries.
    Reconciled,
    /// The pipeline was set, and the tables were emptied.
    Cleared,
}

impl From<PipelineChange> for PipelineStep {
    fn from(change: PipelineChange) -> Self {
        match change {
            PipelineChange::Unchanged => PipelineStep::Unchanged,
            PipelineChange::Reconciled => PipelineStep::Reconciled,
            PipelineChange::Cleared => PipelineStep::Cleared,
        }
    }
}

/// The result of a push to a switch that was read back and is up to date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PushSummary {
    /// Change of the pipeline.
    pub pipeline: PipelineStep,
    /// Updates that were sent.
    pub updates: Counts,
    /// Entities that it holds.
    pub entities: usize,
    /// Number of attempts.
    pub attempts: u32,
    /// Entries that are omitted because the program of the switch has no table for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<OmittedEntries>,
}

/// Result of one switch.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// It is up to date.
    Good(PushSummary),
    /// The switch is not up to date, or its state is unknown.
    Failed(Fault),
    /// It was skipped.
    Skipped,
}

/// Result of a push.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PushReport {
    /// Every switch by name.
    pub devices: BTreeMap<String, Outcome>,
    /// The name of the push, under which switches over SSH keep their previous state for `--rollback`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Reason for an early end, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Skipped switches of the tree, by operating system.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<SkippedSwitches>,
    /// Files of the switches above that no transport carries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncarried: Vec<UnsupportedFile>,
    /// Factory settings that switches lack, and files on switches that undo a push at the next boot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub factory: Vec<FactoryNote>,
}

impl PushReport {
    /// Returns whether every switch is up to date, with every file that the tree has for it.
    pub fn is_good(&self) -> bool {
        self.stopped.is_none()
            && self.uncarried.is_empty()
            && self.devices.values().all(|outcome| matches!(outcome, Outcome::Good(_)))
    }

    /// Returns the number of updates that were sent to switches that are up to date. Failed switches are not counted.
    pub fn updates(&self) -> Counts {
        let mut sum = Counts::default();
        for outcome in self.devices.values() {
            if let Outcome::Good(good) = outcome {
                sum += good.updates;
            }
        }
        sum
    }

    /// Returns the entries that are omitted on switches that are up to date, one line per table.
    pub fn omission_notes(&self) -> Vec<String> {
        let good = self.devices.iter().filter_map(|(name, outcome)| match outcome {
            Outcome::Good(good) => Some((name.as_str(), good.left_out.as_slice())),
            Outcome::Failed(_) | Outcome::Skipped => None,
        });
        bind::show(good)
    }

    /// Returns the switches that failed, with their faults.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &Fault)> {
        self.devices.iter().filter_map(|(name, outcome)| match outcome {
            Outcome::Failed(fault) => Some((name.as_str(), fault)),
            Outcome::Good(_) | Outcome::Skipped => None,
        })
    }

    /// Returns the numbers of good, failed and skipped switches.
    pub fn counts(&self) -> (usize, usize, usize) {
        let mut counts = (0, 0, 0);
        for outcome in self.devices.values() {
            match outcome {
                Outcome::Good(_) => counts.0 += 1,
                Outcome::Failed(_) => counts.1 += 1,
                Outcome::Skipped => counts.2 += 1,
            }
        }
        counts
    }
}
