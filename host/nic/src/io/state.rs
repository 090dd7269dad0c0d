//! Denials on disk, so that they survive a restart of the agent.
//!
//! Invariants: the file is complete at every moment. A denial is saved before its request is answered. The file names
//! the fabric and NIC of its denials, because the numbers of uplinks are the same at every T0. Links are not followed
//! and opening a pipe does not block, because other users may have write access to the folder of a root agent.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::Ipv6Addr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::agent::{Ban, Bans};

/// Schema of the file. Files from older versions do not name fabric and NIC.
const SCHEMA: &str = "closc-nic-state/1";

/// State that survives a restart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// The fabric of the denials, once known.
    pub fabric: Option<String>,
    /// The NIC of the denials.
    pub nic: Option<Ipv6Addr>,
    /// The denials.
    pub bans: Bans,
}

/// The file format.
#[derive(Serialize, Deserialize)]
struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fabric: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nic: Option<Ipv6Addr>,
    next: u64,
    bans: Vec<Ban>,
}

/// The reason why saved denials do not belong to this agent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Stranger {
    /// They belong to another fabric.
    #[error(
        "`{path}` has {n} denials of fabric `{theirs}`, but this is `{local_fabric}`: use the table of that fabric, or move the file away and repeat the denials that are still needed"
    )]
    Fabric {
        /// The file.
        path: String,
        /// Number of denials.
        n: usize,
        /// Their fabric.
        theirs: String,
        /// This one.
        local_fabric: String,
    },
    /// They belong to another NIC.
    #[error(
        "`{path}` has {n} denials of the NIC {theirs}, but this is {local_nic}: use the file of this NIC, or move the file away and repeat the denials that are still needed"
    )]
    Nic {
        /// The file.
        path: String,
        /// Number of denials.
        n: usize,
        /// Their NIC.
        theirs: Ipv6Addr,
        /// This one.
        local_nic: Ipv6Addr,
    },
}

impl State {
    /// Rejects denials of another fabric, if both are known, and of another NIC.
    ///
    /// # Errors
    ///
    /// Returns the fabric or NIC to which they belong.
    pub(crate) fn suits(&self, path: &Path, nic: Ipv6Addr, fabric: Option<&str>) -> Result<(), Stranger> {
        let (path, n) = (path.display().to_string(), self.bans.bans.len());
        match (self.fabric.as_deref(), fabric) {
            (Some(theirs), Some(ours)) if theirs != ours => {
                let [theirs, ours] = [theirs, ours].map(|name| name.escape_default().to_string());
                return Err(Stranger::Fabric { path, n, theirs, local_fabric: ours });
            }
            (Some(_) | None, Some(_) | None) => {}
        }
        match self.nic {
            Some(theirs) if theirs != nic => Err(Stranger::Nic { path, n, theirs, local_nic: nic }),
            Some(_) | None => Ok(()),
        }
    }
}

/// Saves the denials with their fabric and NIC.
pub fn save(path: &Path, state: &State) -> io::Result<()> {
    let State { fabric, nic, bans } = state.clone();
    let document =
        Document { schema: Some(SCHEMA.to_owned()), fabric, nic, next: bans.next, bans: bans.bans };
    replace(path, &serde_json::to_vec_pretty(&document)?, 0o600)
}

/// Replaces a file atomically. Its content is on the disk when this returns.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    // The file was left by an agent that was killed while writing, or another user created it.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = File::options().write(true).create_new(true).mode(mode).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Loads the state; it is empty if the file does not exist.
pub fn load(path: &Path) -> io::Result<State> {
    let bytes = match regular(path, STATE_MAX, libc::O_NOFOLLOW) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::default()),
        Err(error) => return Err(error),
    };
    let Document { schema, fabric, nic, next, bans } = serde_json::from_slice(&bytes)?;
    if let Some(schema) = schema.filter(|schema| schema != SCHEMA) {
        let schema = schema.escape_default();
        return Err(wrong(&format!("its schema is `{schema}`; expected `{SCHEMA}`")));
    }
    let mut seen = BTreeSet::new();
    match bans.iter().filter_map(|ban| ban.id).find(|id| !seen.insert(*id)) {
        None => Ok(State { fabric, nic, bans: Bans { next, bans } }),
        Some(id) => Err(wrong(&format!("two denials have the number {id}"))),
    }
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
///
/// Returns why it cannot be read, or that it is not a regular file or too long.
pub(crate) fn regular(path: &Path, most: u64, flags: libc::c_int) -> io::Result<Vec<u8>> {
    let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            return Err(wrong("it is a symbolic link"));
        }
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return Err(wrong(NOT_REGULAR)),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(wrong(NOT_REGULAR));
    }
    closc_budget::read(file, most).map_err(|error| match closc_budget::exceeded_limit(&error) {
        Some(_) => wrong(&format!("it {error}")),
        None => error,
    })
}

/// Maximum size of the file: many times what the maximum number of denials takes.
const STATE_MAX: u64 = 4 << 20;

const NOT_REGULAR: &str = "it is not a regular file";

fn wrong(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("denials.json");
        assert_eq!(load(&path).unwrap(), State::default());
        let ban =
            Ban { id: Some(3), plane: Some(1), reason: "drain".into(), until: Some(12.5), ..Ban::default() };
        let bans = Bans { next: 4, bans: vec![ban] };
        let (fabric, nic) = (Some("pod".to_owned()), Some("fd00::1".parse().unwrap()));
        let state = State { fabric, nic, bans };
        save(&path, &state).unwrap();
        assert_eq!(load(&path).unwrap(), state);
        let mut twice = state;
        twice.bans.bans.extend(twice.bans.bans.clone());
        save(&path, &twice).unwrap();
        assert_eq!(load(&path).unwrap_err().to_string(), "two denials have the number 3");
        fs::write(&path, "{").unwrap();
        assert!(load(&path).is_err());
        fs::write(&path, r#"{"schema": "closc-nic-state/9", "next": 1, "bans": []}"#).unwrap();
        let said = load(&path).unwrap_err().to_string();
        assert_eq!(said, "its schema is `closc-nic-state/9`; expected `closc-nic-state/1`");
    }

    #[test]
    fn denials_of_another_fabric_or_nic_are_refused_and_files_of_before_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("denials.json");
        fs::write(&path, r#"{"next": 2, "bans": [{"id": 1, "plane": 3, "reason": "drain"}]}"#).unwrap();
        let before = load(&path).unwrap();
        assert_eq!((before.bans.next, before.bans.bans[0].plane), (2, Some(3)));
        let [one, two]: [Ipv6Addr; 2] = ["fd00::1", "fd00::2"].map(|nic| nic.parse().unwrap());
        assert_eq!(before.suits(&path, one, Some("pod")), Ok(()));
        let state = State { fabric: Some("pod".into()), nic: Some(one), ..before };
        assert_eq!(state.suits(&path, one, Some("pod")), Ok(()));
        assert_eq!(state.suits(&path, one, None), Ok(()), "a table without a name is refused by the name");
        let said = |nic, fabric| state.suits(&path, nic, Some(fabric)).unwrap_err().to_string();
        let (other, moved) = (said(one, "yard"), said(two, "pod"));
        assert!(other.contains("has 1 denials of fabric `pod`, but this is `yard`: use"), "{other}");
        assert!(moved.contains("has 1 denials of the NIC fd00::1, but this is fd00::2: use"), "{moved}");
    }

    #[test]
    fn links_are_not_followed_and_pipes_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let says = |name: &str| load(&at(name)).expect_err("it is refused").to_string();
        fs::write(at("other"), r#"{"next":9,"bans":[]}"#).unwrap();
        for name in ["link", "state.new"] {
            std::os::unix::fs::symlink(at("other"), at(name)).unwrap();
        }
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert_eq!(says("link"), "it is a symbolic link");
        assert_eq!([says("pipe"), says("socket"), says("")], [NOT_REGULAR; 3]);
        fs::write(at("large"), vec![b' '; STATE_MAX as usize + 1]).unwrap();
        assert_eq!(says("large"), "it is larger than 4 MiB");
        // A link at this path is replaced, and its target is unchanged.
        fs::rename(at("link"), at("state")).unwrap();
        save(&at("state"), &State::default()).unwrap();
        assert_eq!(fs::read_to_string(at("other")).unwrap(), r#"{"next":9,"bans":[]}"#);
        assert_eq!(load(&at("state")).unwrap(), State::default());
        assert!(fs::symlink_metadata(at("state")).unwrap().is_file() && !at("state.new").exists());
    }
}
