//! Why an update or a read request fails, with the code that P4Runtime gives it.

use closc_runtime::check::Violation;
use closc_runtime::status::Outcome;
use thiserror::Error;
use tonic::Code;

use crate::state::{ProfileError, TableError};

/// An update or a read request that fails.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// It breaks a rule of P4Runtime or of the P4Info.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// A table refuses it.
    #[error("table `{table}`: {error}")]
    Table {
        /// The table.
        table: String,
        /// Why.
        error: TableError,
    },
    /// An action profile refuses it.
    #[error("action profile `{profile}`: {error}")]
    Profile {
        /// The profile.
        profile: String,
        /// Why.
        error: ProfileError,
    },
    /// The program wrote the entry as a constant.
    #[error("table `{table}`: the entry is constant")]
    ConstEntry {
        /// The table.
        table: String,
    },
    /// Entries with their own sets, and members and groups, in one profile.
    #[error("action profile `{profile}` is programmed with {used}, it does not take {given} besides")]
    MixedProfile {
        /// The profile.
        profile: String,
        /// Contents.
        used: &'static str,
        /// Expected events.
        given: &'static str,
    },
    /// An object with a number exists.
    #[error("{what} {id} exists")]
    Exists {
        /// Kind of object.
        what: &'static str,
        /// Its number.
        id: u32,
    },
    /// An object with a number does not exist.
    #[error("{what} {id} does not exist")]
    NotFound {
        /// Kind of object.
        what: &'static str,
        /// Its number.
        id: u32,
    },
    /// A name that is not a port.
    #[error("`{name}` is not a port: ports are numbers from 0 to {most}")]
    NoSuchPort {
        /// The name.
        name: String,
        /// The greatest port.
        most: u32,
    },
    /// A port that the program cannot name.
    #[error("{place} has more than the {bits} bits that ports of the program have")]
    WidePort {
        /// Where.
        place: &'static str,
        /// Width of a port.
        bits: u32,
    },
    /// A name that is too long.
    #[error("a name has {bytes} bytes, it may have {most}")]
    LongName {
        /// Number that it has.
        bytes: usize,
        /// Number that it may have.
        most: usize,
    },
    /// There are no more numbers for names.
    #[error("entities have {most} names of type `{of}`, and the data plane has no number for another")]
    NamesFull {
        /// The type.
        of: String,
        /// Maximum count.
        most: u32,
    },
    /// A value does not fit what the data plane has for it.
    #[error("{place}: the value has more than the {bits} bits that the data plane has for it")]
    TooWide {
        /// Where.
        place: String,
        /// Width in the data plane.
        bits: u32,
    },
    /// A number is out of its range.
    #[error("{what} is {value}, it must be from {least} to {most}")]
    Range {
        /// Kind.
        what: &'static str,
        /// Its value.
        value: i64,
        /// Least value.
        least: i64,
        /// Greatest value.
        most: i64,
    },
    /// Rates that contradict each other or the type of the meter.
    #[error("meter `{meter}`: {problem}")]
    Meter {
        /// The meter, or the table of a direct one.
        meter: String,
        /// The error.
        problem: &'static str,
    },
    /// A defect of the switch.
    #[error("the switch failed while it applied the update; its log has the details")]
    Panic,
    /// The specification allows it, this switch does not do it.
    #[error("{what} is not supported by this switch")]
    Unsupported {
        /// Request.
        what: String,
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

    /// Returns what the answer to a Write or Read says about it.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::failed(self.code(), self.to_string())
    }

    /// Returns the fault for an object that the P4Info has and the program does not.
    pub(super) fn removed(kind: &str, name: &str) -> Self {
        Fault::unsupported(format!("{kind} `{name}`, which the compiler removed from the program as unused,"))
    }

    /// Returns a [`Fault::Unsupported`].
    pub(super) fn unsupported(what: impl Into<String>) -> Self {
        Fault::Unsupported { what: what.into() }
    }
}
