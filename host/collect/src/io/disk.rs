//! Denials on a disk.
//!
//! Invariants: the file is whole at every moment; one collector uses it at a time; what cannot be read is an error and
//! never an empty list.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use closc_files::disk;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Denials;

/// Kind of the file.
const SCHEMA: &str = "closc-collect-state/1";
/// It has at most 256 denials and what is remembered of as many.
const STATE_MAX: u64 = 16 << 20;

/// Why the state cannot be used.
#[derive(Debug, Error)]
pub enum StateFault {
    /// It cannot be read or written.
    #[error("cannot use the state `{0}`: {1}")]
    Io(Utf8PathBuf, io::Error),
    /// It is not a state.
    #[error("`{0}` is not a state of a collector: {1}")]
    Unreadable(Utf8PathBuf, String),
    /// It is of another fabric.
    #[error("`{path}` is the state of fabric `{theirs}`, and this is `{ours}`")]
    Fabric {
        /// The file.
        path: Utf8PathBuf,
        /// Its fabric.
        theirs: String,
        /// This one.
        ours: String,
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

/// The state file, held by this process.
#[derive(Debug)]
pub(super) struct Disk {
    path: Utf8PathBuf,
    fabric: String,
    /// Lets go of the lock when it is dropped, also by a kill.
    _lock: File,
}

impl Disk {
    /// Opens a state and reads it; a file that is not there is an empty state.
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

    /// Writes the denials; when this returns they are on the disk.
    pub(super) fn save(&self, denials: &Denials) -> io::Result<()> {
        let state =
            State { schema: SCHEMA.to_owned(), fabric: self.fabric.clone(), denials: denials.clone() };
        let mut text = serde_json::to_vec_pretty(&state)?;
        text.push(b'\n');
        disk::replace_private(&self.path, &text)
    }
}

/// Opens the file that is locked: the state itself is replaced, so it cannot be that.
fn lock(path: &Utf8Path) -> io::Result<File> {
    let name = path.file_name().unwrap_or_default();
    let place = disk::folder_of(path).join(format!(".{name}.lock"));
    let mut options = File::options();
    closc_files::own(place, options.create(true).truncate(false).write(true).mode(0o600))
}

/// Removes what a collector left that was killed while it wrote.
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
    let file = match closc_files::own(path, File::options().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Denials::default()),
        opened => opened.map_err(io)?,
    };
    // One byte more than a state may have: `parse` reports that.
    let mut text = Vec::new();
    match closc_budget::read_into(file, STATE_MAX + 1, &mut text) {
        Err(error) if closc_budget::over_limit(&error).is_none() => return Err(io(error)),
        Ok(_) | Err(_) => {}
    }
    parse(path, &text, fabric)
}

/// Reads a state of a fabric from what is in its file.
pub fn read_state(text: &[u8], fabric: &str) -> Result<Denials, StateFault> {
    parse(Utf8Path::new("state"), text, fabric)
}

/// Reads a state; the path is for what is said of it.
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
        return Err(StateFault::Fabric { path, theirs: state.fabric, ours });
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
