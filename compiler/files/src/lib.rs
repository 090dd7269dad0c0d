//! Reads files that are named in other files, confined to a folder. Also opens logs, state files and locks,
//! and replaces files ([`disk`]).
//!
//! In: a folder and a path from a fabric file, a tree or a list; or a path from the user. Out: the bytes or the
//! reason for failure; an open file. Invariants: a path from a file cannot leave the folder, even through links. Only
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
pub use own::open_own_file;

/// Maximum size of a certificate or key, including the complete chain.
pub const KEY_MAX: u64 = 1 << 20;

/// Maximum size of a text file that a person or a planner writes: pins, traces, demands, templates.
pub const TEXT_MAX: u64 = 64 << 20;

/// Opens the folder of a file. Paths in the file are relative to it.
pub fn open_folder_of(file: &Utf8Path) -> Result<Folder, FileError> {
    let parent = file.parent().filter(|parent| !parent.as_str().is_empty());
    Folder::open(parent.unwrap_or(Utf8Path::new(".")))
}

/// Reads a text file that another file names, by a path relative to the folder of the latter.
pub fn text_beside(file: &Utf8Path, name: &str, max: u64) -> Result<String, FileError> {
    open_folder_of(file)?.text(name, max)
}

/// Reads a file that the user named. The file may be anywhere and may be a pipe, but its size is limited.
pub fn read_user_file(path: &Utf8Path, max: u64) -> Result<Vec<u8>, FileError> {
    let fail = |reason| FileError::new(path.as_str(), reason);
    let file = std::fs::File::open(path).map_err(|error| fail(error.into()))?;
    read(file, max).map_err(fail)
}

/// Reads a text file that the user named.
pub fn read_user_text(path: &Utf8Path, max: u64) -> Result<String, FileError> {
    text_of(read_user_file(path, max)?).map_err(|reason| FileError::new(path.as_str(), reason))
}

/// Decodes bytes as text.
fn text_of(bytes: Vec<u8>) -> Result<String, Reason> {
    let is_utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    String::from_utf8(bytes).map_err(|_| if is_utf16 { Reason::Utf16 } else { Reason::NotText })
}

/// Lists the files of a folder that have one of the extensions, sorted by name. If the folder has no such
/// file, this is an error, because the user named the folder and it would have no effect.
pub fn names_with(folder: &Utf8Path, extensions: &[&str]) -> Result<Vec<String>, FileError> {
    let fail = |reason: Reason| FileError::new(folder.as_str(), reason);
    let entries = folder.read_dir_utf8().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotADirectory => fail(Reason::File),
        _ => fail(error.into()),
    })?;
    let (mut names, mut skipped) = (Vec::new(), None);
    for entry in entries {
        let entry = entry.map_err(|error| fail(error.into()))?;
        let is_read = entry.path().extension().is_some_and(|own| extensions.contains(&own));
        if is_read {
            names.push(entry.file_name().to_owned());
        } else {
            skipped = skipped.max(Some(entry.file_name().to_owned()));
        }
    }
    names.sort();
    if names.is_empty() { Err(no_readable_file(folder, extensions, skipped)) } else { Ok(names) }
}

/// Returns the error for a folder that the user named, but that contains no file closc reads.
pub fn no_readable_file(folder: &Utf8Path, extensions: &[&str], skipped: Option<String>) -> FileError {
    let wanted: Vec<String> = extensions.iter().map(|extension| format!("`.{extension}`")).collect();
    let wanted = format!("{} file", wanted.join(" or "));
    FileError::new(folder.as_str(), Reason::Without { extensions: wanted, skipped_file: skipped })
}

/// Reads a secret that the user named: a regular file that is not a link. Fails if users other than its owner
/// can read or write it.
pub fn secret_at(path: &Utf8Path, max: u64) -> Result<Vec<u8>, FileError> {
    let file = open_own_file(path, std::fs::File::options().read(true)).map_err(Reason::from);
    file.and_then(|file| secret::read_secret(file, max))
        .map_err(|reason| FileError::new(path.as_str(), reason))
}

/// Reads a file to the end; fails if it is larger than the limit.
fn read(file: std::fs::File, max: u64) -> Result<Vec<u8>, Reason> {
    let mut bytes = Vec::new();
    read_into(file, max, &mut bytes)?;
    Ok(bytes)
}

/// Reads a file into a buffer, which must be empty and keeps its capacity.
fn read_into(file: std::fs::File, max: u64, into: &mut Vec<u8>) -> Result<(), Reason> {
    let (kind, size) = (file.metadata()?.file_type(), file.metadata()?.len());
    // A device such as `/dev/zero` never ends, so reading stops at the limit.
    let is_device = kind.is_char_device() || kind.is_block_device();
    let max = if is_device { max.min(TEXT_MAX) } else { max };
    if size > max {
        return Err(Reason::TooLarge { max });
    }
    into.reserve(usize::try_from(size).unwrap_or(0));
    // Files in `/proc` do not report their size, and other files may grow.
    match closc_budget::read_into(file, max, into) {
        Ok(_) => Ok(()),
        Err(error) if closc_budget::exceeded_limit(&error).is_none() => Err(error.into()),
        Err(_) if is_device => Err(Reason::NotRegular),
        Err(_) => Err(Reason::TooLarge { max }),
    }
}
