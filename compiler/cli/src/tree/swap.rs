//! Puts a whole new tree in place of the old one, or leaves the old one whole.
//!
//! A tree is built in a folder beside its place. When it is complete, one `renameat2` exchanges the two names,
//! and what is now the old tree is removed. Killed at any moment, a run leaves either tree whole; a folder that
//! a killed run left behind is removed by the next one, which a lock keeps from running at the same time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::paths;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};

/// A tree under construction.
pub struct Staging {
    place: Utf8PathBuf,
    folder: Utf8PathBuf,
    lock: File,
    committed: bool,
}

impl Staging {
    /// Starts a tree for a place. The place may be absent, empty, or hold an older tree; anything else is
    /// refused, because replacing it would lose it.
    pub fn begin(place: &Utf8Path) -> anyhow::Result<Staging> {
        let name = place.file_name().with_context(|| format!("`{place}` names no folder"))?;
        let parent = match place.parent() {
            Some(parent) if !parent.as_str().is_empty() => parent.to_owned(),
            Some(_) | None => Utf8PathBuf::from("."),
        };
        std::fs::create_dir_all(&parent).with_context(|| format!("cannot create `{parent}`"))?;
        refuse_foreign(place)?;
        let lock = lock(&parent.join(format!(".{name}.closc")))?;
        let folder = parent.join(format!(".{name}.closc-new"));
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot remove `{folder}`, left by a run that was killed"))?;
        }
        std::fs::create_dir(&folder).with_context(|| format!("cannot create `{folder}`"))?;
        Ok(Staging { place: place.to_owned(), folder, lock, committed: false })
    }

    /// Returns the folder to write into.
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// Reads what the last run remembered.
    pub fn remembered(&mut self) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.lock.rewind()?;
        self.lock.read_to_end(&mut bytes).context("cannot read the cache beside the tree")?;
        Ok(bytes)
    }

    /// Puts the tree in its place, and remembers something for the next run.
    pub fn commit(mut self, remember: &[u8]) -> anyhow::Result<()> {
        if self.place.exists() {
            exchange(&self.folder, &self.place)?;
        } else {
            std::fs::rename(&self.folder, &self.place)
                .with_context(|| format!("cannot rename `{}` to `{}`", self.folder, self.place))?;
        }
        self.committed = true;
        self.lock.set_len(0)?;
        self.lock.rewind()?;
        self.lock.write_all(remember).context("cannot write the cache beside the tree")
    }
}

impl Drop for Staging {
    /// Removes what is not in its place: the unfinished tree, or the old one after an exchange.
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

fn exchange(new: &Utf8Path, old: &Utf8Path) -> anyhow::Result<()> {
    let flags = RenameFlags::RENAME_EXCHANGE;
    match renameat2(AT_FDCWD, new.as_std_path(), AT_FDCWD, old.as_std_path(), flags) {
        Ok(()) => Ok(()),
        // Some network file systems cannot exchange. Two renames leave a moment without a tree, in which the
        // old one still is whole under its other name.
        Err(nix::errno::Errno::EINVAL | nix::errno::Errno::ENOSYS) => {
            let aside = old.with_file_name(format!(".{}.closc-old", old.file_name().unwrap_or("tree")));
            std::fs::rename(old, &aside).with_context(|| format!("cannot move `{old}` aside"))?;
            std::fs::rename(new, old).with_context(|| format!("cannot rename `{new}` to `{old}`"))?;
            std::fs::rename(&aside, new).with_context(|| format!("cannot move `{aside}` away"))
        }
        Err(error) => Err(error).with_context(|| format!("cannot exchange `{new}` and `{old}`")),
    }
}

fn lock(path: &Utf8Path) -> anyhow::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .with_context(|| format!("cannot create `{path}`"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("another closc is writing there: `{path}` is locked"),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock `{path}`")),
    }
}

fn refuse_foreign(place: &Utf8Path) -> anyhow::Result<()> {
    let Ok(meta) = std::fs::symlink_metadata(place) else { return Ok(()) };
    if !meta.is_dir() {
        bail!("`{place}` is no folder; name another with --out");
    }
    let empty = place.read_dir_utf8().with_context(|| format!("cannot read `{place}`"))?.next().is_none();
    if !empty && !place.join(paths::MANIFEST).exists() {
        bail!(
            "`{place}` holds files and no `{}`: it is no tree of closc; name another with --out",
            paths::MANIFEST
        );
    }
    Ok(())
}
