//! Reasons why a file was not read.

use std::io;

/// The file that was not read, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` {reason}")]
pub struct FileError {
    name: String,
    /// The reason.
    pub reason: Reason,
}

/// Reason why a file was not read. The text never quotes the contents of the file.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The path is absolute, contains `..` or a NUL, or follows a link that is not allowed.
    #[error(
        "is not allowed; expected a path in the same folder or below, without `..` and without a link out of it"
    )]
    Outside,
    /// A folder, where a file is expected.
    #[error("is a folder; expected a file")]
    Folder,
    /// A file, where a folder is expected.
    #[error("is a file; expected a folder")]
    File,
    /// A folder without any file of the expected extensions.
    #[error("has no {extensions}{}", .skipped_file.as_ref().map(|name| format!("; `{name}` is not read")).unwrap_or_default())]
    Without {
        /// The expected extensions.
        extensions: String,
        /// One of the files in the folder.
        skipped_file: Option<String>,
    },
    /// It is a pipe, a socket or a device.
    #[error("is not a regular file")]
    NotRegular,
    /// It is larger than the limit.
    #[error("is larger than {}", closc_budget::size(*max))]
    TooLarge {
        /// The limit in bytes.
        max: u64,
    },
    /// It is a secret, but users other than its owner can read or write it.
    #[error("is a secret that other users can read or write (mode {mode:03o}); help: run `chmod 600` on it")]
    Shared {
        /// Its mode.
        mode: u32,
    },
    /// It is not UTF-8.
    #[error("is not text in UTF-8")]
    NotText,
    /// It is UTF-16, which some editors and spreadsheets write.
    #[error("is text in UTF-16; expected UTF-8")]
    Utf16,
    /// The operating system returned an error.
    #[error("cannot be read: {0}")]
    Io(io::Error),
}

impl From<io::Error> for Reason {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::IsADirectory => Reason::Folder,
            _ => Reason::Io(error),
        }
    }
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
            Reason::Folder => io::ErrorKind::IsADirectory,
            Reason::File => io::ErrorKind::NotADirectory,
            Reason::Without { .. } => io::ErrorKind::NotFound,
            Reason::NotRegular | Reason::NotText | Reason::Utf16 => io::ErrorKind::InvalidData,
            Reason::TooLarge { .. } => io::ErrorKind::FileTooLarge,
        };
        io::Error::new(kind, error)
    }
}
