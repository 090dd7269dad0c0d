//! Errors between a client and a target. Every error names the target.

use std::fmt;
use std::time::Duration;

use thiserror::Error;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Status};

use super::controller::Primacy;
use super::fault::{ConnectFault, diagnose};
use crate::status::{Outcome, code_name, unpack};

/// The calls of the services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rpc {
    /// `Write`.
    Write,
    /// `Read`.
    Read,
    /// `SetForwardingPipelineConfig`.
    SetPipeline,
    /// `GetForwardingPipelineConfig`.
    GetPipeline,
    /// `StreamChannel`.
    Stream,
    /// `Capabilities`.
    Capabilities,
    /// `Capabilities` of gNMI.
    GnmiCapabilities,
    /// `Get` of gNMI.
    GnmiGet,
    /// `Set` of gNMI.
    GnmiSet,
}

impl Rpc {
    /// Returns the path of the call.
    pub(super) fn path(self) -> PathAndQuery {
        PathAndQuery::from_static(match self {
            Rpc::Write => "/p4.v1.P4Runtime/Write",
            Rpc::Read => "/p4.v1.P4Runtime/Read",
            Rpc::SetPipeline => "/p4.v1.P4Runtime/SetForwardingPipelineConfig",
            Rpc::GetPipeline => "/p4.v1.P4Runtime/GetForwardingPipelineConfig",
            Rpc::Stream => "/p4.v1.P4Runtime/StreamChannel",
            Rpc::Capabilities => "/p4.v1.P4Runtime/Capabilities",
            Rpc::GnmiCapabilities => "/gnmi.gNMI/Capabilities",
            Rpc::GnmiGet => "/gnmi.gNMI/Get",
            Rpc::GnmiSet => "/gnmi.gNMI/Set",
        })
    }
}

impl fmt::Display for Rpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rpc::Write => "Write",
            Rpc::Read => "Read",
            Rpc::SetPipeline => "SetForwardingPipelineConfig",
            Rpc::GetPipeline => "GetForwardingPipelineConfig",
            Rpc::Stream => "StreamChannel",
            Rpc::Capabilities | Rpc::GnmiCapabilities => "Capabilities",
            Rpc::GnmiGet => "Get",
            Rpc::GnmiSet => "Set",
        })
    }
}

/// An error of a client.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ClientError {
    /// An invalid address.
    #[error("`{address}` is not the address of a target: {reason}")]
    Address {
        /// The text.
        address: String,
        /// The error.
        reason: &'static str,
    },
    /// Certificates or keys that cannot be read.
    #[error("{endpoint}: the TLS configuration is not usable: {reason}")]
    Credentials {
        /// The target.
        endpoint: String,
        /// The error.
        reason: String,
    },
    /// There is no connection.
    #[error("{endpoint}: {fault}")]
    Connect {
        /// The target.
        endpoint: String,
        /// The reason.
        fault: ConnectFault,
    },
    /// The target did not answer in time.
    #[error("{endpoint}: no answer to {rpc} within {} s", deadline.as_secs_f64())]
    Deadline {
        /// The target.
        endpoint: String,
        /// The call.
        rpc: Rpc,
        /// The deadline.
        deadline: Duration,
    },
    /// Only the primary may make this call.
    #[error("{endpoint}: not primary: {state}")]
    NotPrimary {
        /// The target.
        endpoint: String,
        /// The state of this controller in the arbitration.
        state: Primacy,
    },
    /// The target rejected the call.
    #[error("{endpoint}: {rpc} refused: {}: {message}{}", code_name(*code), list(details))]
    Rpc {
        /// The target.
        endpoint: String,
        /// The call.
        rpc: Rpc,
        /// The code.
        code: Code,
        /// The message of the target.
        message: String,
        /// The outcomes for the parts of the request, if any.
        details: Vec<Outcome>,
    },
    /// The answer of the target is invalid.
    #[error("{endpoint}: the answer to {rpc} makes no sense: {reason}")]
    Protocol {
        /// The target.
        endpoint: String,
        /// The call.
        rpc: Rpc,
        /// The error.
        reason: String,
    },
}

/// Characters of a target's message that are kept.
const SAID: usize = 1000;

/// Returns a message of a target as one line of limited length. The target is not trusted, and the message is shown to
/// users.
fn sanitize_message(said: &str) -> String {
    said.chars().take(SAID).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn list(details: &[Outcome]) -> String {
    let failed: Vec<String> =
        details.iter().filter(|outcome| !outcome.is_ok()).map(ToString::to_string).collect();
    if failed.is_empty() { String::new() } else { format!(" ({})", failed.join("; ")) }
}

impl ClientError {
    /// Returns whether a target does not implement the request, according to the status or to its details.
    pub fn is_unimplemented(&self) -> bool {
        match self {
            ClientError::Rpc { code: Code::Unimplemented, .. } => true,
            ClientError::Rpc { details, .. } => {
                let mut failed = details.iter().filter(|outcome| !outcome.is_ok()).peekable();
                failed.peek().is_some() && failed.all(|outcome| outcome.code == Code::Unimplemented)
            }
            _ => false,
        }
    }

    /// Returns the error for the status that ended a call.
    pub(super) fn from_status(endpoint: &str, rpc: Rpc, status: &Status) -> Self {
        let endpoint = endpoint.to_owned();
        // A status with a source was created by the client, because the connection failed.
        if let Some(cause) = std::error::Error::source(status) {
            return ClientError::Connect { endpoint, fault: diagnose(cause) };
        }
        let details = unpack(status).unwrap_or_default();
        ClientError::Rpc {
            endpoint,
            rpc,
            code: status.code(),
            message: sanitize_message(status.message()),
            details,
        }
    }

    /// Returns the code with which the target rejected the call, if it did. If this controller is not primary, returns
    /// `PERMISSION_DENIED`, even if the call was not sent.
    pub fn code(&self) -> Option<Code> {
        match self {
            ClientError::Rpc { code, .. } => Some(*code),
            ClientError::NotPrimary { .. } => Some(Code::PermissionDenied),
            ClientError::Address { .. }
            | ClientError::Credentials { .. }
            | ClientError::Connect { .. }
            | ClientError::Deadline { .. }
            | ClientError::Protocol { .. } => None,
        }
    }

    /// Returns whether the same call may succeed later, without changes.
    pub fn is_transient(&self) -> bool {
        match self {
            ClientError::Connect { fault, .. } => match fault {
                ConnectFault::Refused
                | ConnectFault::Unreachable { .. }
                | ConnectFault::Timeout
                | ConnectFault::Broken { .. } => true,
                ConnectFault::Tls(_) | ConnectFault::NotGrpc { .. } => false,
            },
            ClientError::Deadline { .. } => true,
            ClientError::Rpc { code, .. } => {
                matches!(code, Code::Unavailable | Code::Aborted | Code::Cancelled)
            }
            ClientError::Address { .. }
            | ClientError::Credentials { .. }
            | ClientError::NotPrimary { .. }
            | ClientError::Protocol { .. } => false,
        }
    }
}
