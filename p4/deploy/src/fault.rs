//! Errors of one switch. Every message names the switch, the operation, and the table and entry if there is
//! one.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use closc_runtime::Info;
use closc_runtime::client::{ClientError, WriteError};
use closc_runtime::proto::v1;
use closc_runtime::render;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::ser::SerializeStruct as _;
use thiserror::Error;
use tonic::Code;

use crate::invalid::InvalidState;

/// Limit of rejected updates and differences in a message; the others are counted.
const LISTED: usize = 10;

/// The operation during which an error occurred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// The connection was being made.
    Connecting,
    /// The controller was taking part in arbitration.
    Arbitrating,
    /// The pipeline was being compared.
    ComparingPipeline,
    /// The pipeline was being set.
    SettingPipeline,
    /// An object was being read.
    Reading {
        /// The table, profile or other object.
        object: String,
    },
    /// Updates were being written.
    Writing,
    /// A change was being confirmed and saved.
    Confirming,
    /// A change was being rolled back.
    RollingBack,
    /// The push was waiting.
    Waiting {
        /// The condition that was awaited.
        condition: String,
    },
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Connecting => f.write_str("connecting"),
            Operation::Arbitrating => f.write_str("arbitrating"),
            Operation::ComparingPipeline => f.write_str("comparing the pipeline"),
            Operation::SettingPipeline => f.write_str("setting the pipeline"),
            Operation::Reading { object } => write!(f, "reading `{object}`"),
            Operation::Writing => f.write_str("writing"),
            Operation::Confirming => f.write_str("confirming"),
            Operation::RollingBack => f.write_str("rolling back"),
            Operation::Waiting { condition: what } => write!(f, "waiting for {what}"),
        }
    }
}

/// A fault of one switch, with its name.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("`{device}`: {fault}")]
pub struct DeviceError {
    /// The switch.
    pub device: String,
    /// The error.
    pub fault: Fault,
}

/// Errors of one switch.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Fault {
    /// A call failed.
    #[error("while {operation}: {source}")]
    Call {
        /// The operation that failed.
        operation: Operation,
        /// The error of the call.
        source: ClientError,
    },
    /// A write was not fully applied.
    #[error("{0}")]
    Write(Box<WriteFault>),
    /// The switch reported that all updates were applied, and its state still differs.
    #[error("{} entries differ after all updates were written: {}", changes.len(), listed(changes))]
    Differs {
        /// The differences, by names.
        changes: Vec<String>,
    },
    /// The switch has changed since the plan was made.
    #[error("the live state has changed since the plan was made: {}; make a new plan", changes.join(", "))]
    Moved {
        /// Changed parts, object by object.
        changes: Vec<String>,
    },
    /// The switch cannot hold or read back a kind of wanted entity.
    #[error("the switch does not support `{object}`, which {entities} entries need")]
    Unsupported {
        /// The table, profile or other object.
        object: String,
        /// Number of wanted entities in it.
        entities: u64,
    },
    /// The switch returned an invalid state.
    #[error("while {operation}: {invalid}")]
    InvalidState {
        /// The operation that failed.
        operation: Operation,
        /// The error in the answer.
        invalid: InvalidState,
    },
    /// The timeout of the switch expired.
    #[error("not finished within {} s, while {operation}", timeout.as_secs_f64())]
    Timeout {
        /// The timeout.
        timeout: Duration,
        /// The operation at that time.
        operation: Operation,
    },
    /// The compiled entries of the switch cannot be used.
    #[error("{0}")]
    Tree(Box<crate::tree::TreeError>),
    /// A change needs a reload, which gNMI does not offer.
    #[error(
        "the change needs a reload, which SONiC's gNMI does not offer: push this switch over sonic-ssh, or \
         reload it by hand; {}",
        listed(reasons)
    )]
    NeedsReload {
        /// The reasons why a patch does not suffice.
        reasons: Vec<String>,
    },
    /// A request to a switch over SSH or gNMI failed.
    #[error("while {operation}: {reason}")]
    Remote {
        /// The operation that failed.
        operation: Operation,
        /// Message of the switch, or of `ssh`.
        reason: String,
        /// Whether another attempt may succeed: the connection failed, or the switch changed after it was read.
        is_transient: bool,
    },
    /// The tree, the site's overlay or the configuration of the switch does not permit the push.
    #[error("{reason}")]
    Site {
        /// The reason.
        reason: String,
    },
    /// This controller must not change the switch now.
    #[error("{reason}")]
    Refused {
        /// The reason.
        reason: String,
    },
    /// The task ended early, which is a bug of closc.
    #[error("the task of the switch ended unexpectedly: {reason}")]
    Ended {
        /// The reason.
        reason: String,
    },
}

/// An update that the switch rejected, by names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RejectedUpdate {
    /// The update.
    pub update: String,
    /// The answer of the switch.
    pub outcome: String,
}

/// A write that was not fully applied. Every update is applied, rejected, not tried, in doubt or unsent.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteFault {
    /// Applied updates.
    pub applied: usize,
    /// The first updates that were rejected, at most 10.
    pub rejections: Vec<RejectedUpdate>,
    /// Number of rejected updates.
    pub n_refused: usize,
    /// Number of updates rejected because the switch had changed since it was read.
    pub n_conflicts: usize,
    /// Number of updates that the switch never tried because of rejected ones, although they were retried.
    pub aborted: usize,
    /// Number of updates sent without an answer.
    pub in_doubt: usize,
    /// Number of updates not sent.
    pub unsent: usize,
    /// The first update of unknown outcome, by names.
    pub first_open: Option<String>,
    /// Reason for an early end of the write.
    pub cause: Option<ClientError>,
}

impl WriteFault {
    /// Summarizes the error of a write.
    pub(crate) fn new(info: &Info, updates: &[v1::Update], error: WriteError) -> Self {
        let show = |update| render::update(info, update).to_string();
        let open = error.in_doubt.first().map(|range| range.start).or_else(|| {
            let answered = error.n_applied + error.failed.len();
            error.cause.as_ref().filter(|_| error.n_aborted == 0).map(|_| answered)
        });
        let refused = error.failed.iter().take(LISTED).map(|failed| RejectedUpdate {
            update: show(&failed.update),
            outcome: failed.outcome.to_string(),
        });
        WriteFault {
            applied: error.n_applied,
            rejections: refused.collect(),
            n_refused: error.failed.len(),
            n_conflicts: error.failed.iter().filter(|failed| is_conflict(failed.outcome.code)).count(),
            aborted: error.n_aborted,
            in_doubt: error.in_doubt.iter().map(ExactSizeIterator::len).sum(),
            unsent: error.n_unsent,
            first_open: open.and_then(|place| updates.get(place)).map(show),
            cause: error.cause.map(|cause| *cause),
        }
    }
}

impl fmt::Display for WriteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} updates applied", self.applied)?;
        if self.n_refused > 0 {
            write!(f, ", {} refused", self.n_refused)?;
        }
        if self.aborted > 0 {
            write!(f, ", {} not tried by the switch", self.aborted)?;
        }
        if self.in_doubt > 0 {
            write!(f, ", {} in doubt", self.in_doubt)?;
        }
        if self.unsent > 0 {
            write!(f, ", {} not sent", self.unsent)?;
        }
        for refused in &self.rejections {
            write!(f, "; refused `{}`: {}", refused.update, refused.outcome)?;
        }
        if self.n_refused > self.rejections.len() {
            write!(f, "; and {} more", self.n_refused - self.rejections.len())?;
        }
        if let Some(first) = &self.first_open {
            write!(f, "; the first without an answer is `{first}`")?;
        }
        match &self.cause {
            Some(cause) => write!(f, "; {cause}"),
            None => Ok(()),
        }
    }
}

fn listed(changes: &[String]) -> String {
    let few = changes.iter().take(LISTED).cloned().collect::<Vec<_>>().join("; ");
    match changes.len().saturating_sub(LISTED) {
        0 => few,
        more => format!("{few}; and {more} more"),
    }
}

impl Fault {
    /// Returns a keyword for programs that read reports.
    pub fn kind(&self) -> &'static str {
        match self {
            Fault::Call { source: ClientError::NotPrimary { .. }, .. } => "not-primary",
            Fault::Call { operation: Operation::Connecting, .. } => "unreachable",
            Fault::Call { .. } => "call",
            Fault::Write(fault) if matches!(fault.cause, Some(ClientError::NotPrimary { .. })) => {
                "not-primary"
            }
            Fault::Write(fault) if fault.n_refused > 0 => "refused",
            Fault::Write(_) => "write",
            Fault::Differs { .. } => "differs",
            Fault::Moved { .. } => "moved",
            Fault::Unsupported { .. } => "unsupported",
            Fault::InvalidState { .. } => "invalid-state",
            Fault::Timeout { .. } => "timeout",
            Fault::Tree(_) => "tree",
            Fault::Remote { operation: Operation::Confirming, .. } => "unconfirmed",
            Fault::Remote { is_transient: true, .. } => "unreachable",
            Fault::Remote { .. } => "refused",
            Fault::NeedsReload { .. } => "needs-reload",
            Fault::Site { .. } => "site",
            Fault::Refused { .. } => "not-begun",
            Fault::Ended { .. } => "ended",
        }
    }

    /// Returns whether another attempt may succeed without intervention.
    pub fn is_transient(&self) -> bool {
        match self {
            // The election id is still in use by an earlier stream of this controller, whose end the switch has not
            // noticed.
            Fault::Call { operation: Operation::Arbitrating, source }
                if source.code() == Some(Code::InvalidArgument) =>
            {
                true
            }
            Fault::Call { source, .. } => is_transient(source),
            Fault::Write(fault) => match &fault.cause {
                Some(cause) => is_transient(cause),
                // A rejected update may be accepted once the others are in place. If another client wrote in the
                // meantime, reading again helps.
                None => fault.applied > 0 || fault.n_conflicts > 0,
            },
            Fault::Differs { .. } => true,
            Fault::Remote { is_transient, .. } => *is_transient,
            Fault::NeedsReload { .. }
            | Fault::Site { .. }
            | Fault::Moved { .. }
            | Fault::Unsupported { .. }
            | Fault::InvalidState { .. }
            | Fault::Timeout { .. }
            | Fault::Tree(_)
            | Fault::Refused { .. }
            | Fault::Ended { .. } => false,
        }
    }

    /// Returns the first updates that were rejected, at most 10.
    pub fn rejections(&self) -> &[RejectedUpdate] {
        match self {
            Fault::Write(fault) => &fault.rejections,
            _ => &[],
        }
    }
}

/// Returns whether an update was rejected because an entity exists, or is missing, contrary to the state that was read.
fn is_conflict(code: Code) -> bool {
    matches!(code, Code::AlreadyExists | Code::NotFound)
}

/// Returns whether a call may succeed when it is repeated on a new connection.
fn is_transient(error: &ClientError) -> bool {
    match error {
        // The stream ends when a target restarts, so an unexpected answer is worth another attempt.
        ClientError::Protocol { .. } => true,
        error => error.is_transient(),
    }
}

impl Serialize for Fault {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Fault", 3)?;
        fields.serialize_field("kind", self.kind())?;
        fields.serialize_field("message", &self.to_string())?;
        fields.serialize_field("refused", self.rejections())?;
        fields.end()
    }
}

/// An error of a switch in a JSON document.
#[derive(JsonSchema)]
#[schemars(rename = "Fault")]
#[expect(dead_code, reason = "only its form is asked for")]
struct FaultDocument {
    /// Kind of the error.
    kind: String,
    /// Message of the error.
    message: String,
    /// The first few rejected updates.
    refused: Vec<RejectedUpdate>,
}

impl JsonSchema for Fault {
    fn schema_name() -> Cow<'static, str> {
        FaultDocument::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        FaultDocument::json_schema(generator)
    }
}

impl Serialize for DeviceError {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("DeviceError", 2)?;
        fields.serialize_field("device", &self.device)?;
        fields.serialize_field("fault", &self.fault)?;
        fields.end()
    }
}
