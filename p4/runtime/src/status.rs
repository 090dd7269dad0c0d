//! The outcome of each update of a Write, as transported in `grpc-status-details-bin`.
//!
//! The server packs a list of [`Outcome`]s into a status, and the client unpacks it. If the details of a target are not
//! such a list, they are ignored and this is not an error.

use std::fmt;

use bytes::Bytes;
use prost::Message as _;
use prost_types::Any;
use tonic::{Code, Status};

use crate::proto::{rpc, v1};
use crate::wire;

/// The type URL of `p4.v1.Error`.
const ERROR_TYPE: &str = "type.googleapis.com/p4.v1.Error";

/// Memory limit of the details of a status.
const MEMORY_LIMIT: usize = 16 << 20;

/// Result of one update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The canonical code; `Ok` for an update that was applied.
    pub code: Code,
    /// Text for people.
    pub message: String,
    /// The namespace that defines `vendor_code`; mostly empty.
    pub space: String,
    /// A code that is specific to the target.
    pub vendor_code: i32,
}

impl Outcome {
    /// Returns the outcome of an update that was applied.
    pub fn ok() -> Self {
        Outcome { code: Code::Ok, message: String::new(), space: String::new(), vendor_code: 0 }
    }

    /// Returns the outcome of an update that failed.
    pub fn failure(code: Code, message: impl Into<String>) -> Self {
        Outcome { code, message: message.into(), space: String::new(), vendor_code: 0 }
    }

    /// Returns whether the update was applied.
    pub fn is_ok(&self) -> bool {
        self.code == Code::Ok
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(code_name(self.code))?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        match self.vendor_code {
            0 => Ok(()),
            code => write!(f, " ({} {code})", self.space),
        }
    }
}

/// Returns the name of a code in the notation of the specifications.
pub(crate) fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// Packs outcomes into the status of a Write or a Read: `Ok` if all are successful, otherwise `UNKNOWN` with
/// one detail per outcome.
pub fn pack(outcomes: &[Outcome], message: &str) -> Result<(), Status> {
    if outcomes.iter().all(Outcome::is_ok) {
        return Ok(());
    }
    let details = outcomes.iter().map(|outcome| {
        let error = v1::Error {
            canonical_code: outcome.code as i32,
            message: outcome.message.clone(),
            space: outcome.space.clone(),
            code: outcome.vendor_code,
            details: None,
        };
        Any { type_url: ERROR_TYPE.to_owned(), value: error.encode_to_vec() }
    });
    let status =
        rpc::Status { code: Code::Unknown as i32, message: message.to_owned(), details: details.collect() };
    Err(Status::with_details(Code::Unknown, message, status.encode_to_vec().into()))
}

/// Unpacks the outcomes from a status, one per update. Returns `None` if the target sent none.
pub fn unpack(status: &Status) -> Option<Vec<Outcome>> {
    if status.details().is_empty() {
        return None;
    }
    // A list of outcomes that is too large is ignored too.
    let details = Bytes::copy_from_slice(status.details());
    let status: rpc::Status = wire::decode(details, MEMORY_LIMIT).ok()?;
    if status.details.is_empty() {
        return None;
    }
    status.details.iter().map(unpack_one).collect()
}

fn unpack_one(detail: &Any) -> Option<Outcome> {
    // The part before the slash differs between BMv2 and other targets.
    if detail.type_url.rsplit('/').next() != Some("p4.v1.Error") {
        return None;
    }
    wire::weigh::<v1::Error>(&detail.value, MEMORY_LIMIT).ok()?;
    let error = v1::Error::decode(detail.value.as_slice()).ok()?;
    let code = Code::from_i32(error.canonical_code);
    Some(Outcome { code, message: error.message, space: error.space, vendor_code: error.code })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_survive_a_status() {
        let vendor = Outcome {
            code: Code::ResourceExhausted,
            message: "Table is full.".to_owned(),
            space: "targetX".to_owned(),
            vendor_code: 500,
        };
        assert_eq!(vendor.to_string(), "RESOURCE_EXHAUSTED: Table is full. (targetX 500)");
        let outcomes = [vendor, Outcome::ok(), Outcome::failure(Code::AlreadyExists, "there")];
        let status = pack(&outcomes, "Write failure.").expect_err("two failed");
        assert_eq!(status.code(), Code::Unknown);
        assert_eq!(unpack(&status).as_deref(), Some(&outcomes[..]));
    }

    #[test]
    fn nothing_failed_is_no_error() {
        assert!(pack(&[Outcome::ok(), Outcome::ok()], "").is_ok());
        assert!(pack(&[], "").is_ok());
    }

    #[test]
    fn strange_details_are_no_details() {
        assert_eq!(unpack(&Status::unknown("no details")), None);
        let garbage = Status::with_details(Code::Unknown, "x", vec![0xff, 0xff, 0xff].into());
        assert_eq!(unpack(&garbage), None);
        let other = rpc::Status { code: 2, message: String::new(), details: vec![Any::default()] };
        let other = Status::with_details(Code::Unknown, "x", other.encode_to_vec().into());
        assert_eq!(unpack(&other), None);
    }
}
