//! Events during a push, for progress bars and logs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use closc_platform::FactorySetting;
use schemars::JsonSchema;
use serde::Serialize;
use smol_str::SmolStr;

use crate::difference::Counts;
use crate::factory::{FactoryNote, FactoryNotes, FactoryState};
use crate::fault::Fault;
use crate::report::PipelineStep;
use crate::skipped_switches::SkippedSwitches;
use crate::unsupported_files::UnsupportedFile;

/// An event of a push or a watch.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Event {
    /// Milliseconds since the beginning.
    pub at_ms: u64,
    /// The switch, if the event concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub device: Option<SmolStr>,
    /// The plane of the event, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plane: Option<u8>,
    /// The kind of event, with its fields.
    #[serde(flatten)]
    pub what: EventKind,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum EventKind {
    /// A wave begins.
    WaveStarted {
        /// Its switches.
        devices: usize,
    },
    /// The push of a switch begins.
    DeviceStarted,
    /// The pipeline was set.
    PipelineSet {
        /// The change of the pipeline.
        step: PipelineStep,
    },
    /// The switch was read and compared.
    Compared {
        /// Updates to send.
        updates: Counts,
    },
    /// CONFIG_DB of a switch with two transports is up to date. The push of its entries follows.
    Configured {
        /// Changes of CONFIG_DB.
        updates: Counts,
    },
    /// The push waits for ports that entries name and that do not exist yet.
    Waiting {
        /// The ports.
        ports: Vec<String>,
    },
    /// Updates were written.
    Written {
        /// Number of updates written so far.
        updates: usize,
        /// Total number of updates.
        of: usize,
    },
    /// The switch was read back and is up to date.
    Verified {
        /// Number of entities on the switch.
        entities: usize,
    },
    /// An attempt failed and another one follows.
    Retrying {
        /// The attempt that failed, from 1.
        attempt: u32,
        /// The error.
        fault: Fault,
    },
    /// A switch is finished.
    DeviceDone {
        /// Updates sent to the switch.
        updates: Counts,
    },
    /// A switch failed.
    DeviceFailed {
        /// The error.
        fault: Fault,
    },
    /// A wave is finished.
    WaveDone {
        /// Switches that are up to date.
        good: usize,
        /// Switches that failed.
        failed: usize,
    },
    /// The push waits for the gate between two waves.
    GateAsked,
    /// The gate allows the next wave.
    GatePassed,
    /// Switches are watched from now on.
    Watching {
        /// Number of switches.
        devices: usize,
        /// Address at which metrics are served.
        metrics: String,
        /// Switches of the tree that are not watched, by operating system.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        left_alone: Vec<SkippedSwitches>,
        /// Files of the switches that are not compared.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        uncarried: Vec<UnsupportedFile>,
    },
    /// A watched switch was repaired.
    Repaired {
        /// Updates sent to the switch.
        updates: Counts,
        /// Number of entities on the switch.
        entities: usize,
    },
    /// The differences of a switch that is watched but not repaired have changed.
    Drifted {
        /// Number of entries that differ, by table; empty if the switch is up to date.
        objects: BTreeMap<String, u64>,
    },
    /// The counters of a switch that is watched cannot be read.
    Uncounted {
        /// The reason.
        reason: String,
    },
    /// This controller became primary of a switch it watches.
    Leading,
    /// This controller is connected to a switch that it watches and is not primary.
    StandingBy {
        /// The election id of the primary, if the switch reports it.
        primary: Option<String>,
    },
    /// A watched switch cannot be reached or repaired.
    Trouble {
        /// The error.
        fault: Fault,
    },
    /// The push stops: no further switch is started.
    Stopped {
        /// The reason.
        reason: String,
    },
}

impl Event {
    /// Returns the line for the log of a watch; `None` for routine steps.
    pub fn line(&self) -> Option<String> {
        let text = match &self.what {
            EventKind::PipelineSet { step: PipelineStep::Reconciled } => {
                "pipeline set, entries kept".to_owned()
            }
            EventKind::PipelineSet { step: PipelineStep::Cleared } => "pipeline set, tables empty".to_owned(),
            EventKind::Compared { updates } if updates.total() == 0 => return None,
            EventKind::Compared { updates } => format!(
                "differs: {} to insert, {} to modify, {} to delete",
                updates.insert, updates.modify, updates.delete
            ),
            EventKind::Watching { devices, metrics, .. } => {
                format!("watching {devices} switches; metrics at {metrics}")
            }
            EventKind::Repaired { updates, entities } => {
                format!("repaired with {} updates, holds {entities} entities", updates.total())
            }
            EventKind::Drifted { objects } if objects.is_empty() => "in sync".to_owned(),
            EventKind::Drifted { objects } => {
                let counts: Vec<String> =
                    objects.iter().map(|(table, count)| format!("{count} of {table}")).collect();
                format!("differs: {}", counts.join(", "))
            }
            EventKind::Uncounted { reason } => format!("its counters are not read: {reason}"),
            EventKind::Leading => "this controller is primary".to_owned(),
            EventKind::StandingBy { primary: Some(id) } => {
                format!("standing by, another controller is primary with election id {id}")
            }
            EventKind::StandingBy { primary: None } => "standing by".to_owned(),
            EventKind::Trouble { fault } | EventKind::DeviceFailed { fault } => fault.to_string(),
            EventKind::Retrying { attempt, fault } => format!("attempt {attempt} failed: {fault}"),
            EventKind::Stopped { reason } => format!("stopped: {reason}"),
            EventKind::PipelineSet { step: PipelineStep::Unchanged }
            | EventKind::WaveStarted { .. }
            | EventKind::DeviceStarted
            | EventKind::Configured { .. }
            | EventKind::Waiting { .. }
            | EventKind::Written { .. }
            | EventKind::Verified { .. }
            | EventKind::DeviceDone { .. }
            | EventKind::WaveDone { .. }
            | EventKind::GateAsked
            | EventKind::GatePassed => return None,
        };
        Some(match &self.device {
            Some(device) => format!("{device}: {text}"),
            None => text,
        })
    }
}

/// Receives events as they happen, from several threads; it must not block. An error for [`EventKind::DeviceStarted`]
/// is the reason why the switch must not be changed; errors for other events have no effect.
pub type Observer = Arc<dyn Fn(Event) -> Result<(), String> + Send + Sync>;

/// Sends events of one run, or of one switch in it.
#[derive(Clone)]
pub(crate) struct Reporter {
    observer: Observer,
    start: Instant,
    device: Option<SmolStr>,
    plane: Option<u8>,
    factory: FactoryNotes,
}

impl Reporter {
    pub(crate) fn new(observer: Observer) -> Self {
        let (start, factory) = (Instant::now(), FactoryNotes::default());
        Reporter { observer, start, device: None, plane: None, factory }
    }

    pub(crate) fn of_plane(&self, plane: Option<u8>) -> Self {
        Reporter { plane, ..self.clone() }
    }

    pub(crate) fn of_device(&self, name: &str, plane: Option<u8>) -> Self {
        Reporter { device: Some(name.into()), plane, ..self.clone() }
    }

    /// Adds a finding about a factory setting of the switch.
    pub(crate) fn note(&self, setting: &'static FactorySetting, state: FactoryState) {
        if let Some(device) = &self.device {
            self.factory.add(device, setting, state);
        }
    }

    /// Returns the findings about factory settings, of all switches.
    pub(crate) fn factory(&self) -> Vec<FactoryNote> {
        self.factory.all()
    }

    pub(crate) fn send(&self, what: EventKind) {
        let _ = self.ask(what);
    }

    /// Sends an event, and returns the objection of the observer.
    pub(crate) fn ask(&self, what: EventKind) -> Result<(), String> {
        let at_ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        (self.observer)(Event { at_ms, device: self.device.clone(), plane: self.plane, what })
    }
}

/// Returns an observer that ignores all events.
pub fn silent() -> Observer {
    Arc::new(|_| Ok(()))
}
