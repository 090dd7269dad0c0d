//! Why a switch cannot be started, or that it broke.

use std::io;
use std::path::PathBuf;

use closc_runtime::server::TlsFileError;
use closc_runtime::text::TextError;
use thiserror::Error;

use super::arguments::UsageError;
use crate::pipeline::PipelineError;
use crate::ports::InterfaceError;
use crate::server::EndpointError;

/// A switch that cannot be started or that broke.
#[derive(Debug, Error)]
pub enum CommandError {
    /// The arguments make no sense.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// A file cannot be read.
    #[error("`{}` cannot be read: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Messages cannot be written to a file.
    #[error("`{}` cannot be written: {error}", file.display())]
    Log {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A P4Info is not in text format.
    #[error("`{}`: {error}", file.display())]
    Info {
        /// The file.
        file: PathBuf,
        /// The error.
        error: TextError,
    },
    /// A program cannot be run.
    #[error("`{}`: {error}", file.display())]
    Program {
        /// The file.
        file: PathBuf,
        /// The error.
        error: PipelineError,
    },
    /// Certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsFileError),
    /// An address means nothing.
    #[error("`{address}` is not an address to listen on: {error}")]
    Address {
        /// Given value.
        address: String,
        /// Why.
        error: io::Error,
    },
    /// An interface cannot be used.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// An endpoint cannot be served.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The system refuses something else.
    #[error(transparent)]
    Io(#[from] io::Error),
}
