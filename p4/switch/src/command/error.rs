//! Errors of starting and running a switch.

use std::io;
use std::path::PathBuf;

use closc_runtime::server::TlsFileError;
use closc_runtime::text::TextError;
use thiserror::Error;

use super::arguments::UsageError;
use crate::pipeline::PipelineError;
use crate::ports::InterfaceError;
use crate::server::EndpointError;

/// Errors of starting and running a switch.
#[derive(Debug, Error)]
pub enum CommandError {
    /// The arguments are invalid.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// A file cannot be read.
    #[error("`{}` cannot be read: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// Messages cannot be written to a file.
    #[error("`{}` cannot be written: {error}", file.display())]
    Log {
        /// The file.
        file: PathBuf,
        /// The error.
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
    /// Certificates are invalid.
    #[error(transparent)]
    Tls(#[from] TlsFileError),
    /// An address is invalid.
    #[error("`{address}` is not an address to listen on: {error}")]
    Address {
        /// The address.
        address: String,
        /// The error.
        error: io::Error,
    },
    /// An interface cannot be used.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// An endpoint cannot be served.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// Another error of the operating system.
    #[error(transparent)]
    Io(#[from] io::Error),
}
