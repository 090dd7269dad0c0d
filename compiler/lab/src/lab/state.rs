//! Records of running labs: a small file per fabric, with a lock next to it.
//!
//! Invariants: the file is written before other objects are created, and removed after all of them.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use closc_files::disk;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::holder;
use crate::LabError;
use crate::backend::linux::Namespace;
use crate::model::Model;
use crate::name::FabricName;
use crate::target::Target;
use crate::tree::{DeviceKind, Tree};

/// Maximum number of attempts to create a folder that another process may remove.
const TRIES: u32 = 100;

/// Maximum number and interval of checks whether a killed process has released its locks.
const WAITS: u32 = 1200;
const PAUSE: Duration = Duration::from_millis(25);

/// Maximum size of the file. It contains the names of all devices and cables of the largest lab.
const BYTES_MAX: u64 = 256 << 20;

/// Version of the file.
const VERSION: u32 = 2;

/// Record of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    version: u32,
    /// The fabric.
    pub(super) fabric: FabricName,
    /// Target of the lab.
    pub(super) target: Target,
    pub(super) tree: Utf8PathBuf,
    /// Names of the devices, in the order of the model.
    devices: Vec<String>,
    /// Names of the switches.
    pub(super) switches: Vec<String>,
    /// Both ends of each cable, as `device:port`.
    cables: Vec<(String, String)>,
    /// Whether the lab is complete.
    pub(super) complete: bool,
    /// Changes to cables.
    pub(super) changes: Vec<Change>,
}

/// A change to cables, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Change {
    /// The upper ends of two cables were exchanged.
    Swapped(String, String),
    /// A cable was cut.
    Cut(String),
    /// A fault was injected while packets flowed.
    Struck(Fault),
}

impl State {
    /// Creates the record for a tree.
    pub(super) fn new(tree: &Tree, model: &Model, target: Target) -> State {
        let switches = model.devices.iter().filter(|device| device.kind == DeviceKind::Switch);
        State {
            version: VERSION,
            fabric: tree.fabric.clone(),
            target,
            tree: absolute(&tree.folder),
            devices: model.devices.iter().map(|device| device.name.clone()).collect(),
            switches: switches.map(|device| device.name.clone()).collect(),
            cables: (0..model.cables.len())
                .map(crate::model::CableId)
                .map(|cable| (model.port_name(cable.lower()), model.port_name(cable.upper())))
                .collect(),
            complete: false,
            changes: Vec::new(),
        }
    }

    /// Returns whether fabric, target, devices and cables are equal.
    pub(super) fn is_same(&self, other: &State) -> bool {
        (&self.fabric, self.target, &self.devices, &self.cables)
            == (&other.fabric, other.target, &other.devices, &other.cables)
    }

    /// Returns the namespaces of the devices.
    pub(super) fn namespaces(&self, model: &Model) -> Vec<Namespace> {
        let name = |device: &str| format!("closc-{}-{device}", self.fabric);
        model
            .devices
            .iter()
            .map(|device| Namespace { name: name(&device.name), device: device.name.clone() })
            .collect()
    }

    /// Returns the names of the namespaces of the devices.
    pub(super) fn names(&self) -> Vec<String> {
        self.devices.iter().map(|device| format!("closc-{}-{device}", self.fabric)).collect()
    }

    /// Describes the changes to cables.
    pub(super) fn changes_in_words(&self) -> Vec<String> {
        let say = |change: &Change| match change {
            Change::Swapped(a, b) => format!("{a} and {b} are swapped"),
            Change::Cut(cable) => format!("{cable} is cut"),
            Change::Struck(fault) => fault.to_string(),
        };
        self.changes.iter().map(say).collect()
    }

    /// Writes the record.
    pub(super) fn save(&self, runtime: &Utf8Path) -> Result<(), LabError> {
        let path = file(runtime, &self.fabric);
        let bytes = serde_json::to_vec_pretty(self).expect("a state has only string keys");
        disk::replace_private(&path, &bytes).map_err(LabError::io(format!("write `{path}`")))
    }

    /// Reads the record of a fabric, if there is one.
    pub(super) fn load(runtime: &Utf8Path, fabric: &FabricName) -> Result<Option<State>, LabError> {
        read(&file(runtime, fabric))
    }

    /// Reads all records.
    pub(super) fn load_all(runtime: &Utf8Path) -> Result<Vec<State>, LabError> {
        let entries = match runtime.read_dir_utf8() {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(LabError::io(format!("read `{runtime}`"))(error)),
        };
        let mut paths: Vec<Utf8PathBuf> = entries
            .filter_map(|entry| entry.ok().map(camino::Utf8DirEntry::into_path))
            .filter(|path| path.extension() == Some("json"))
            .collect();
        paths.sort();
        paths.iter().filter_map(|path| read(path).transpose()).collect()
    }

    /// Removes the record.
    pub(super) fn forget(runtime: &Utf8Path, fabric: &FabricName) -> Result<(), LabError> {
        let path = file(runtime, fabric);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(LabError::io(format!("remove `{path}`"))(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Opens a file, or creates it; links are not followed.
fn create(path: &Utf8Path) -> Result<File, LabError> {
    let mut options = File::options();
    closc_files::open_own_file(path, options.read(true).write(true).create(true).truncate(false).mode(0o600))
        .map_err(LabError::io(format!("open `{path}`")))
}

fn read(path: &Utf8Path) -> Result<Option<State>, LabError> {
    let bytes = match regular(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LabError::io(format!("read `{path}`"))(error)),
    };
    let state: State = serde_json::from_slice(&bytes).map_err(LabError::tree(path))?;
    Ok(Some(state))
}

/// Reads a regular file. Pipes are rejected without waiting, and links are not followed.
fn regular(path: &Utf8Path) -> std::io::Result<Vec<u8>> {
    let file = closc_files::open_own_file(path, File::options().read(true))?;
    closc_budget::read(file, BYTES_MAX)
}

/// Returns the absolute path, because later commands may run in another folder.
fn absolute(folder: &Utf8Path) -> Utf8PathBuf {
    folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned())
}

fn file(runtime: &Utf8Path, fabric: &FabricName) -> Utf8PathBuf {
    runtime.join(format!("{fabric}.json"))
}

/// Lock of a lab; the kernel releases it when the process ends.
#[derive(Debug)]
pub(super) struct Guard {
    lock: Flock<File>,
    path: Utf8PathBuf,
}

impl Guard {
    /// Locks a fabric.
    pub(super) fn take(runtime: &Utf8Path, fabric: &FabricName) -> Result<Guard, LabError> {
        let path = runtime.join(format!("{fabric}.lock"));
        let (mut tries, mut waits) = (0, 0);
        loop {
            let file = match super::folder::make(runtime).and_then(|()| create(&path)) {
                // The previous holder of the lock may have just removed the empty folder. If that happens between two
                // checks of `mkdir -p`, the error is that a file with that name exists.
                Err(LabError::Io { source, .. })
                    if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists)
                        && tries < TRIES =>
                {
                    tries += 1;
                    continue;
                }
                opened => opened?,
            };
            let lock = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => lock,
                Err((file, Errno::EWOULDBLOCK)) => {
                    // After a SIGKILL, the kernel may need some time to end the process.
                    if holder::is_ending(&file) && waits < WAITS {
                        waits += 1;
                        std::thread::sleep(PAUSE);
                        continue;
                    }
                    return Err(LabError::Busy { fabric: fabric.to_string() });
                }
                Err((_, other)) => return Err(LabError::os(format!("lock `{path}`"))(other)),
            };
            let guard = Guard { lock, path: path.clone() };
            // The last holder may have removed the file between opening and locking. The lock is then invalid.
            if guard.is_current() {
                holder::write(&guard.lock);
                return Ok(guard);
            }
        }
    }

    fn is_current(&self) -> bool {
        let place = |data: fs::Metadata| (data.dev(), data.ino());
        let (held, named) = (self.lock.metadata().map(place), fs::metadata(&self.path).map(place));
        held.is_ok_and(|held| named.is_ok_and(|named| held == named))
    }

    /// Removes the file, because the lab is gone. Also removes the folder if it is empty.
    pub(super) fn clear(&self) {
        if fs::remove_file(&self.path).is_ok()
            && let Some(folder) = self.path.parent()
        {
            super::folder::leave(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last unlock may remove the folder while other processes are about to create locks in it.
    #[test]
    fn locks_come_and_go_at_the_same_time() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = Utf8Path::from_path(folder.path()).unwrap().join("run/lab");
        std::thread::scope(|scope| {
            for fabric in ["a", "b", "c", "d"] {
                let runtime = &runtime;
                scope.spawn(move || {
                    for _ in 0..200 {
                        Guard::take(runtime, &fabric.parse().unwrap()).unwrap().clear();
                    }
                });
            }
        });
        assert!(!runtime.exists());
    }

    #[test]
    fn a_lock_that_cannot_be_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = Utf8Path::from_path(folder.path()).unwrap();
        fs::create_dir(runtime.join("a.lock")).unwrap();
        let error = Guard::take(runtime, &"a".parse().unwrap()).unwrap_err();
        assert!(matches!(error, LabError::Io { .. }), "{error}");
    }

    #[test]
    fn links_in_the_way_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = Utf8Path::from_path(folder.path()).unwrap();
        let victim = runtime.join("victim");
        fs::write(&victim, "theirs").unwrap();
        std::os::unix::fs::symlink(&victim, runtime.join("a.lock")).unwrap();
        let error = Guard::take(runtime, &"a".parse().unwrap()).unwrap_err();
        assert!(matches!(error, LabError::Io { .. }), "{error}");
        assert_eq!(fs::read(&victim).unwrap(), b"theirs");
    }
}
