//! Replaces the old tree with a new one, or leaves the old one intact.
//!
//! A tree is built in a folder beside its target. When it is complete and synced to disk, one `renameat2`
//! exchanges the two names, and the old tree is removed. After a crash or power failure at any moment, one of
//! the trees is complete, and the next run removes the leftover folder. Without sync, this holds only for a
//! crash. A lock prevents two simultaneous runs.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::paths;
use closc_files::disk;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};

use crate::CompileError;

/// Maximum size of the cache between runs, in bytes: more than for the largest fabric.
const REMEMBERED_MAX: u64 = 256 << 20;

/// A tree under construction.
pub(crate) struct Staging {
    place: Utf8PathBuf,
    parent: Utf8PathBuf,
    folder: Utf8PathBuf,
    lock: File,
    sync: bool,
    committed: bool,
}

impl Staging {
    /// Begins a tree for a target, which may be absent, empty, or contain an older tree. Anything else is
    /// rejected, because it would be lost. Without `sync`, the run never waits for the disk. A run that has
    /// nothing to do writes nothing, so it does not wait either.
    pub(crate) fn begin(place: &Utf8Path, sync: bool) -> Result<Staging, CompileError> {
        let name = place.file_name().ok_or_else(|| CompileError::Nameless(place.to_owned()))?;
        let parent = disk::folder_of(place).to_owned();
        std::fs::create_dir_all(&parent).map_err(CompileError::file("create", &parent))?;
        refuse_foreign(place)?;
        let lock = lock(&parent.join(format!(".{name}.closc")))?;
        let folder = parent.join(format!(".{name}.closc-new"));
        if folder.exists() {
            let operation = "remove what a run that was killed left at";
            std::fs::remove_dir_all(&folder).map_err(CompileError::file(operation, &folder))?;
        }
        Ok(Staging { place: place.to_owned(), parent, folder, lock, sync, committed: false })
    }

    /// Creates the folder to write into, and returns it.
    pub(crate) fn open(&self) -> Result<&Utf8Path, CompileError> {
        std::fs::create_dir(&self.folder).map_err(CompileError::file("create", &self.folder))?;
        Ok(&self.folder)
    }

    /// Reads the cache of the last run.
    pub(crate) fn read_cache(&mut self) -> Result<Vec<u8>, CompileError> {
        let file = (&self.lock).take(REMEMBERED_MAX);
        let read = (&self.lock).rewind().and_then(|()| closc_budget::read(file, REMEMBERED_MAX));
        read.map_err(CompileError::file("read the cache beside", &self.place))
    }

    /// Moves the tree to its target, and writes the cache for the next run.
    pub(crate) fn commit(mut self, remember: &[u8]) -> Result<(), CompileError> {
        if self.sync {
            // If the rename came first, a power failure could leave file names whose bytes were never
            // written.
            disk::sync_all(&self.folder).map_err(CompileError::file("sync", &self.folder))?;
        }
        if self.place.exists() {
            exchange(&self.folder, &self.place)?;
        } else {
            std::fs::rename(&self.folder, &self.place)
                .map_err(CompileError::file("put the new tree at", &self.place))?;
        }
        self.committed = true;
        if self.sync {
            disk::sync_folder(&self.parent).map_err(CompileError::file("sync", &self.parent))?;
        }
        // An incomplete cache cannot be parsed, so everything is rendered again.
        let write = |lock: &mut File| {
            lock.set_len(0)?;
            lock.rewind()?;
            lock.write_all(remember)
        };
        write(&mut self.lock).map_err(CompileError::file("write the cache beside", &self.place))
    }
}

impl Drop for Staging {
    /// Removes the folder beside the target. It contains the unfinished tree or, after an exchange, the old
    /// one.
    fn drop(&mut self) {
        if self.folder.exists()
            && let Err(error) = std::fs::remove_dir_all(&self.folder)
        {
            tracing::warn!("cannot remove `{}`: {error}", self.folder);
        }
        if !self.committed {
            tracing::debug!("`{}` is left as it was", self.place);
        }
    }
}

fn exchange(new: &Utf8Path, old: &Utf8Path) -> Result<(), CompileError> {
    let flags = RenameFlags::RENAME_EXCHANGE;
    match renameat2(AT_FDCWD, new.as_std_path(), AT_FDCWD, old.as_std_path(), flags) {
        Ok(()) => Ok(()),
        // Some network file systems cannot exchange names. Two renames leave a moment without a tree, but the
        // old one is still complete under its temporary name.
        Err(nix::errno::Errno::EINVAL | nix::errno::Errno::ENOSYS) => {
            let aside = old.with_file_name(format!(".{}.closc-old", old.file_name().unwrap_or("tree")));
            std::fs::rename(old, &aside).map_err(CompileError::file("move aside", old))?;
            std::fs::rename(new, old).map_err(CompileError::file("put the new tree at", old))?;
            std::fs::rename(&aside, new).map_err(CompileError::file("move away", &aside))
        }
        Err(error) => Err(CompileError::file("put the new tree at", old)(error.into())),
    }
}

/// Takes the lock of a target, without following links.
fn lock(path: &Utf8Path) -> Result<File, CompileError> {
    let mut options = OpenOptions::new();
    let file = closc_files::open_own_file(path, options.read(true).write(true).create(true).truncate(false))
        .map_err(CompileError::file("write", path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(CompileError::Locked(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(CompileError::file("lock", path)(error)),
    }
}

fn refuse_foreign(place: &Utf8Path) -> Result<(), CompileError> {
    let Ok(meta) = std::fs::symlink_metadata(place) else { return Ok(()) };
    if !meta.is_dir() {
        return Err(CompileError::NotAFolder(place.to_owned()));
    }
    let mut entries = place.read_dir_utf8().map_err(CompileError::file("read", place))?;
    if entries.next().is_some() && !place.join(paths::MANIFEST).exists() {
        return Err(CompileError::Foreign(place.to_owned()));
    }
    Ok(())
}
