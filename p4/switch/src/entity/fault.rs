//! Errors of updates and read requests, with their P4Runtime codes.

use closc_runtime::check::Violation;
use closc_runtime::status::Outcome;
use thiserror::Error;
use tonic::Code;

use crate::state::{ProfileError, TableError};

/// An error of an update or a read request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The request violates a rule of P4Runtime or of the P4Info.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// A table rejects the update.
    #[error("table `{table}`: {error}")]
    Table {
        /// The table.
        table: String,
        /// The error.
        error: TableError,
    },
    /// An action profile rejects the update.
    #[error("action profile `{profile}`: {error}")]
    Profile {
        /// The profile.
        profile: String,
        /// The error.
        error: ProfileError,
    },
    /// The entry is constant in the program.
    #[error("table `{table}`: the entry is constant")]
    ConstEntry {
        /// The table.
        table: String,
    },
    /// One-shot action sets and members or groups are mixed in one profile.
    #[error(
        "action profile `{profile}` is programmed with {current_kind}, it does not take {rejected_kind} besides"
    )]
    MixedProfile {
        /// The profile.
        profile: String,
        /// The kind in use.
        current_kind: &'static str,
        /// The other kind.
        rejected_kind: &'static str,
    },
    /// An object with a number exists.
    #[error("{kind} {id} exists")]
    Exists {
        /// Kind of object.
        kind: &'static str,
        /// Its number.
        id: u32,
    },
    /// An object with a number does not exist.
    #[error("{kind} {id} does not exist")]
    NotFound {
        /// Kind of object.
        kind: &'static str,
        /// Its number.
        id: u32,
    },
    /// The name does not identify a port.
    #[error("`{name}` is not a port: ports are numbers from 0 to {max_port}")]
    NoSuchPort {
        /// The name.
        name: String,
        /// The greatest port.
        max_port: u32,
    },
    /// A port number has too many bits for the program.
    #[error("{place} has more than the {bits} bits that ports of the program have")]
    WidePort {
        /// The field.
        place: &'static str,
        /// Width of a port.
        bits: u32,
    },
    /// The name is too long.
    #[error("a name has {bytes} bytes, it may have {max_bytes}")]
    LongName {
        /// Its length.
        bytes: usize,
        /// Maximum length.
        max_bytes: usize,
    },
    /// All numbers for names are in use.
    #[error("entities have {max_names} names of type `{of}`, and the data plane has no number for another")]
    NamesFull {
        /// The type.
        of: String,
        /// Maximum number of names.
        max_names: u32,
    },
    /// A value has too many bits for the data plane.
    #[error("{place}: the value has more than the {bits} bits that the data plane has for it")]
    TooWide {
        /// The field.
        place: String,
        /// Width in the data plane.
        bits: u32,
    },
    /// A number is out of range.
    #[error("{field} is {value}, it must be from {least} to {most}")]
    Range {
        /// The field.
        field: &'static str,
        /// Its value.
        value: i64,
        /// Least value.
        least: i64,
        /// Greatest value.
        most: i64,
    },
    /// Rates of a meter are contradictory or do not fit its type.
    #[error("meter `{meter}`: {problem}")]
    Meter {
        /// The meter, or the table of a direct one.
        meter: String,
        /// The error.
        problem: &'static str,
    },
    /// The switch has a defect.
    #[error("the switch failed while it applied the update; its log has the details")]
    Panic,
    /// The request is valid but not supported by this switch.
    #[error("{feature} is not supported by this switch")]
    Unsupported {
        /// The feature.
        feature: String,
    },
}

impl Fault {
    /// Returns the canonical code.
    pub fn code(&self) -> Code {
        match self {
            Fault::Violation(violation) => violation.code(),
            Fault::Table { error, .. } => match error {
                TableError::Exists => Code::AlreadyExists,
                TableError::NotFound => Code::NotFound,
                TableError::Full(_) => Code::ResourceExhausted,
                TableError::NoKey => Code::InvalidArgument,
            },
            Fault::Profile { error, .. } => match error {
                ProfileError::MemberExists(_) | ProfileError::GroupExists(_) => Code::AlreadyExists,
                ProfileError::NoMember(_) | ProfileError::NoGroup(_) => Code::NotFound,
                ProfileError::MemberUsed(_) | ProfileError::GroupUsed(_) => Code::FailedPrecondition,
                ProfileError::Full(_) => Code::ResourceExhausted,
            },
            Fault::ConstEntry { .. } => Code::PermissionDenied,
            Fault::Exists { .. } => Code::AlreadyExists,
            Fault::NotFound { .. } => Code::NotFound,
            Fault::TooWide { .. } => Code::OutOfRange,
            Fault::NamesFull { .. } => Code::ResourceExhausted,
            Fault::NoSuchPort { .. }
            | Fault::WidePort { .. }
            | Fault::LongName { .. }
            | Fault::MixedProfile { .. }
            | Fault::Range { .. }
            | Fault::Meter { .. } => Code::InvalidArgument,
            Fault::Panic => Code::Internal,
            Fault::Unsupported { .. } => Code::Unimplemented,
        }
    }

    /// Returns the error in the form of Write and Read responses.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::failure(self.code(), self.to_string())
    }

    /// Returns the error for an object of the P4Info that the program does not contain.
    pub(super) fn removed_object(kind: &str, name: &str) -> Self {
        Fault::unsupported(format!("{kind} `{name}`, which the compiler removed from the program as unused,"))
    }

    /// Returns a [`Fault::Unsupported`].
    pub(super) fn unsupported(what: impl Into<String>) -> Self {
        Fault::Unsupported { feature: what.into() }
    }
}
