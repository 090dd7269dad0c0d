//! Why a file was not read.

use std::io;

/// Says which file was not read, and why.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` {reason}")]
pub struct FileError {
    name: String,
    /// Why.
    pub reason: Reason,
}

/// Why a file was not read. None of them quotes what is in it.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The path is absolute, goes up, or follows a link out of the folder.
    #[error("is outside of the folder of the file that names it")]
    Outside,
    /// It is a folder, a pipe, a socket or a device.
    #[error("is not a regular file")]
    NotRegular,
    /// It has more bytes than are read.
    #[error("has more than {}", closc_budget::size(*max))]
    TooLarge {
        /// The most that are read.
        max: u64,
    },
    /// It is a secret, and others than its owner can read or write it.
    #[error("is a secret that others can read (mode {mode:03o}): `chmod 600` it")]
    Shared {
        /// Its mode.
        mode: u32,
    },
    /// It is not UTF-8.
    #[error("is not text in UTF-8")]
    NotText,
    /// The system refused.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl FileError {
    pub(crate) fn new(name: &str, reason: Reason) -> Self {
        let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        FileError { name: name.chars().take(200).map(clean).collect(), reason }
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        let kind = match &error.reason {
            Reason::Io(inner) => inner.kind(),
            Reason::Outside | Reason::Shared { .. } => io::ErrorKind::PermissionDenied,
            Reason::NotRegular | Reason::NotText => io::ErrorKind::InvalidData,
            Reason::TooLarge { .. } => io::ErrorKind::FileTooLarge,
        };
        io::Error::new(kind, error)
    }
}
