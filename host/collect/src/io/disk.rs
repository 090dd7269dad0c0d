//! Denials on disk.
//!
//! Invariants: the file is complete at every moment. Only one collector uses it at a time. An unreadable file is an
//! error, not an empty list.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use closc_files::disk;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Denials;

/// Schema of the file.
const SCHEMA: &str = "closc-collect-state/1";
/// Maximum size of the file, enough for 256 current denials and as many ended ones.
const STATE_MAX: u64 = 16 << 20;

/// Why the state file cannot be used.
#[derive(Debug, Error)]
pub enum StateFault {
    /// The file cannot be read or written.
    #[error("cannot use the state `{0}`: {1}")]
    Io(Utf8PathBuf, io::Error),
    /// The content is not a state.
    #[error("`{0}` is not a state of a collector: {1}")]
    Unreadable(Utf8PathBuf, String),
    /// The state belongs to another fabric.
    #[error("`{path}` is the state of fabric `{theirs}`, but this is `{local_fabric}`")]
    Fabric {
        /// The file.
        path: Utf8PathBuf,
        /// Its fabric.
        theirs: String,
        /// The fabric of this collector.
        local_fabric: String,
    },
    /// Another collector uses it.
    #[error("another collector uses the state `{0}`")]
    Taken(Utf8PathBuf),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    schema: String,
    fabric: String,
    denials: Denials,
}

/// The state file, locked by this process.
#[derive(Debug)]
pub(super) struct Disk {
    path: Utf8PathBuf,
    fabric: String,
    /// The lock is released when this is dropped, even if the process is killed.
    _lock: File,
}

impl Disk {
    /// Opens and reads a state file; a missing file is an empty state.
    pub(super) fn open(path: &Utf8Path, fabric: &str) -> Result<(Disk, Denials), StateFault> {
        let io = |error| StateFault::Io(path.to_owned(), error);
        let lock = lock(path).map_err(io)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StateFault::Taken(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        sweep(path).map_err(io)?;
        let denials = read(path, fabric)?;
        Ok((Disk { path: path.to_owned(), fabric: fabric.to_owned(), _lock: lock }, denials))
    }

    /// Saves the denials. They are on the disk when this returns.
    pub(super) fn save(&self, denials: &Denials) -> io::Result<()> {
        let state =
            State { schema: SCHEMA.to_owned(), fabric: self.fabric.clone(), denials: denials.clone() };
        let mut text = serde_json::to_vec_pretty(&state)?;
        text.push(b'\n');
        disk::replace_private(&self.path, &text)
    }
}

/// Opens the lock file. The state file itself cannot be locked, because it is replaced.
fn lock(path: &Utf8Path) -> io::Result<File> {
    let name = path.file_name().unwrap_or_default();
    let place = disk::folder_of(path).join(format!(".{name}.lock"));
    let mut options = File::options();
    closc_files::open_own_file(place, options.create(true).truncate(false).write(true).mode(0o600))
}

/// Removes files left by a collector that was killed while writing.
fn sweep(path: &Utf8Path) -> io::Result<()> {
    let start = format!(".{}.", path.file_name().unwrap_or_default());
    for entry in std::fs::read_dir(disk::folder_of(path))? {
        let entry = entry?;
        let name = entry.file_name();
        let is_part = name.to_str().is_some_and(|name| name.starts_with(&start) && name.ends_with(PART));
        if is_part {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// File name extension of incomplete files (`closc_files::disk`).
const PART: &str = ".closc-new";

fn read(path: &Utf8Path, fabric: &str) -> Result<Denials, StateFault> {
    let io = |error| StateFault::Io(path.to_owned(), error);
    let file = match closc_files::open_own_file(path, File::options().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Denials::default()),
        opened => opened.map_err(io)?,
    };
    // Read one byte more than the maximum, so that `parse` reports a longer file.
    let mut text = Vec::new();
    match closc_budget::read_into(file, STATE_MAX + 1, &mut text) {
        Err(error) if closc_budget::exceeded_limit(&error).is_none() => return Err(io(error)),
        Ok(_) | Err(_) => {}
    }
    parse(path, &text, fabric)
}

/// Parses a state of a fabric.
pub fn read_state(text: &[u8], fabric: &str) -> Result<Denials, StateFault> {
    parse(Utf8Path::new("state"), text, fabric)
}

/// Parses a state; `path` is for error messages.
fn parse(path: &Utf8Path, text: &[u8], fabric: &str) -> Result<Denials, StateFault> {
    let wrong = |why: String| StateFault::Unreadable(path.to_owned(), why);
    if text.len() as u64 > STATE_MAX {
        return Err(wrong(format!("it has more than {STATE_MAX} bytes")));
    }
    let state: State = serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
    if state.schema != SCHEMA {
        return Err(wrong(format!("its schema is `{}`", state.schema)));
    }
    if state.fabric != fabric {
        let (path, ours) = (path.to_owned(), fabric.to_owned());
        return Err(StateFault::Fabric { path, theirs: state.fabric, local_fabric: ours });
    }
    Ok(state.denials)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_a_regular_file() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let at = |name: &str| Utf8PathBuf::try_from(folder.path().join(name)).expect("a path is text");
        let says = |name: &str| Disk::open(&at(name), "x").map(drop).expect_err("it is refused").to_string();
        std::os::unix::fs::symlink(at("nothing"), at("link")).expect("it can be linked");
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket can be made");
        assert!(says("link").ends_with("it is a symbolic link"), "{}", says("link"));
        assert!(says("socket").ends_with("it is not a regular file"), "{}", says("socket"));
        assert!(Disk::open(&at("new"), "x").is_ok());
    }
}
