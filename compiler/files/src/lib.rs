//! Reads files that other files name, confined to a folder; opens logs, state files and locks; replaces files
//! ([`disk`]).
//!
//! In: a folder and a path from a fabric file, a tree or a list; or a path from the user. Out: the bytes or the
//! reason for failure; an open file. Invariants: a path from a file cannot leave the folder, even over links. Only
//! regular files of a folder are read, never pipes or devices. No file is read past a limit.

pub mod disk;
mod error;
mod folder;
mod open;
mod own;
mod secret;

use std::os::unix::fs::FileTypeExt as _;

use camino::Utf8Path;

pub use error::{FileError, Reason};
pub use folder::Folder;
pub use own::own;

/// Maximum size of a certificate or key, with the complete chain.
pub const KEY_MAX: u64 = 1 << 20;

/// Maximum size of a text that a person or a planner writes: pins, traces, demands, templates.
pub const TEXT_MAX: u64 = 64 << 20;

/// Returns the folder of a file; paths in the file are relative to it.
pub fn folder_of(file: &Utf8Path) -> Result<Folder, FileError> {
    let parent = file.parent().filter(|parent| !parent.as_str().is_empty());
    Folder::open(parent.unwrap_or(Utf8Path::new(".")))
}

/// Reads a text that another file names, by a path relative to that file.
pub fn text_beside(file: &Utf8Path, name: &str, max: u64) -> Result<String, FileError> {
    folder_of(file)?.text(name, max)
}

/// Reads a file that the user named. It may be anywhere and may be a pipe, but is limited in size.
pub fn given(path: &Utf8Path, max: u64) -> Result<Vec<u8>, FileError> {
    let fail = |reason| FileError::new(path.as_str(), reason);
    let file = std::fs::File::open(path).map_err(|error| fail(error.into()))?;
    read(file, max).map_err(fail)
}

/// Reads a text that the user named.
pub fn given_text(path: &Utf8Path, max: u64) -> Result<String, FileError> {
    let bytes = given(path, max)?;
    String::from_utf8(bytes).map_err(|_| FileError::new(path.as_str(), Reason::NotText))
}

/// Reads a secret that the user named: a regular file, not through a link. Fails if users other than its owner can read
/// it.
pub fn secret_at(path: &Utf8Path, max: u64) -> Result<Vec<u8>, FileError> {
    let file = own(path, std::fs::File::options().read(true)).map_err(Reason::from);
    file.and_then(|file| secret::read_secret(file, max))
        .map_err(|reason| FileError::new(path.as_str(), reason))
}

/// Reads to the end, or to the limit.
fn read(file: std::fs::File, max: u64) -> Result<Vec<u8>, Reason> {
    let mut bytes = Vec::new();
    read_into(file, max, &mut bytes)?;
    Ok(bytes)
}

/// Reads a file into a buffer, which must be empty and keeps its capacity.
fn read_into(file: std::fs::File, max: u64, into: &mut Vec<u8>) -> Result<(), Reason> {
    let (kind, size) = (file.metadata()?.file_type(), file.metadata()?.len());
    // A device such as `/dev/zero` never ends: reading stops at the limit.
    let is_device = kind.is_char_device() || kind.is_block_device();
    let max = if is_device { max.min(TEXT_MAX) } else { max };
    if size > max {
        return Err(Reason::TooLarge { max });
    }
    into.reserve(usize::try_from(size).unwrap_or(0));
    // Files in `/proc` report no size, and other files may grow.
    match closc_budget::read_into(file, max, into) {
        Ok(_) => Ok(()),
        Err(error) if closc_budget::over_limit(&error).is_none() => Err(error.into()),
        Err(_) if is_device => Err(Reason::NotRegular),
        Err(_) => Err(Reason::TooLarge { max }),
    }
}
