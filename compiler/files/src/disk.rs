//! Atomic file writes that also survive a power failure.
//!
//! In: bytes and a path. Out: a file that is complete before it gets its name and, with [`SyncMode::Yes`], also
//! synced to disk. Invariants: the partial file is in the same folder, has a unique name and is never a link.
//! Only regular files and links to regular or missing files are replaced. A link itself is replaced, not its
//! target, so a write never follows a link or reaches a device.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use camino::Utf8Path;
use nix::unistd::{AccessFlags, access};

/// Whether a write waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncMode {
    /// It waits.
    #[default]
    Yes,
    /// It does not wait, for file systems that lose all data in a power failure anyway.
    No,
}

/// Returns the folder that contains a path.
pub fn folder_of(path: &Utf8Path) -> &Utf8Path {
    match path.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        Some(_) | None => Utf8Path::new("."),
    }
}

/// Replaces a file.
pub fn replace(place: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(place, SyncMode::Yes, |file| file.write_all(bytes))
}

/// Replaces a file that only its owner can read.
pub fn replace_private(place: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    write_atomically(place, SyncMode::Yes, 0o600, |file| file.write_all(bytes))
}

/// Replaces a file; `write` writes the new contents.
pub fn replace_with(
    place: &Utf8Path,
    sync: SyncMode,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    write_atomically(place, sync, 0o666, write)
}

/// Returns whether a link points to a pipe, a device, a folder, or an open file of a process.
fn leads_elsewhere(link: &Utf8Path) -> bool {
    fs::read_link(link).is_ok_and(|target| target.starts_with("/proc"))
        || fs::metadata(link).is_ok_and(|meta| !meta.is_file())
}

/// Replaces a file. A new file gets `mode`, and an existing file keeps its mode. The umask applies to both.
fn write_atomically(
    place: &Utf8Path,
    sync: SyncMode,
    mode: u32,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let name = place
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"))?;
    let folder = folder_of(place);
    let mode = match fs::symlink_metadata(place) {
        Ok(meta) if meta.is_file() => meta.permissions().mode(),
        // Links such as `/dev/stdout` are used by other processes, so they are not replaced.
        Ok(meta) if meta.is_symlink() && leads_elsewhere(place) => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is a link to an open file of a process, or to something that is not a regular file",
            ));
        }
        // The link is replaced, not its target.
        Ok(meta) if meta.is_symlink() => mode,
        Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => mode,
        Err(error) => return Err(error),
    };
    remove_abandoned(folder, name);
    let mut partial = tempfile::Builder::new()
        .prefix(&format!(".{name}."))
        .suffix(PARTIAL)
        .permissions(Permissions::from_mode(mode & 0o777))
        .tempfile_in(folder)
        .map_err(|error| creation_error(folder, &error))?;
    // The file is locked while it is written, so that other processes do not remove it. On file systems
    // without locks, its age protects it.
    let _ = partial.as_file().try_lock();
    write(partial.as_file_mut())?;
    if sync == SyncMode::Yes {
        partial.as_file().sync_all()?;
    }
    partial.persist(place).map_err(|error| error.error)?;
    if sync == SyncMode::Yes {
        sync_folder(folder)?;
    }
    Ok(())
}

/// Returns why no file can be created in a folder. The name of the partial file is omitted, because the user
/// does not know it.
fn creation_error(folder: &Utf8Path, error: &io::Error) -> io::Error {
    let of_system = access(folder.as_std_path(), AccessFlags::W_OK | AccessFlags::X_OK).err();
    of_system.map_or_else(|| io::Error::from(error.kind()), io::Error::from)
}

/// Suffix of partial files.
const PARTIAL: &str = ".closc-new";

/// Partial files older than this and without a lock were left by a killed process.
const LEFT_AFTER: Duration = Duration::from_hours(1);

/// Removes the partial files that killed processes left for `name`.
fn remove_abandoned(folder: &Utf8Path, name: &str) {
    let start = format!(".{name}.");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let own = entry.file_name();
        let is_partial = own.to_str().is_some_and(|own| own.starts_with(&start) && own.ends_with(PARTIAL));
        if !is_partial || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else { continue };
        let age = file.metadata().and_then(|meta| meta.modified()).map(|time| time.elapsed());
        if matches!(age, Ok(Ok(age)) if age >= LEFT_AFTER) && file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Waits until the entries of a folder are on the disk.
pub fn sync_folder(folder: &Utf8Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Waits until all data on the file system of a folder is on the disk. This is one wait, regardless of the
/// number of files.
pub fn sync_all(folder: &Utf8Path) -> io::Result<()> {
    nix::unistd::syncfs(File::open(folder)?).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// The message names the file that the user gave, not the partial file beside it.
    #[test]
    fn errors_do_not_name_the_partial_file() {
        let folder = folder();
        let place = folder.path().join("absent").join("a");
        let error = replace(Utf8Path::from_path(&place).unwrap(), b"text").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains(PARTIAL), "{error}");
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    /// Regression: partial files of killed processes were never removed.
    #[test]
    fn files_of_killed_processes_are_removed_and_no_others() {
        let folder = folder();
        let place = Utf8Path::from_path(folder.path()).unwrap().join("tree.tar.zst");
        let old = std::time::SystemTime::now() - 2 * LEFT_AFTER;
        let left = |name: &str| {
            let file = File::create(place.with_file_name(name)).unwrap();
            file.set_modified(old).unwrap();
            file
        };
        let names = [
            ".tree.tar.zst.a1.closc-new",
            ".tree.tar.zst.b2.closc-new",
            ".other.c3.closc-new",
            ".tree.tar.zst.d4",
        ];
        let files = names.map(left);
        files[1].lock().unwrap();
        let new = File::create(place.with_file_name(".tree.tar.zst.e5.closc-new")).unwrap();
        replace(&place, b"one").unwrap();
        assert!(!place.with_file_name(names[0]).exists(), "it was left by a killed process");
        for name in &names[1..] {
            assert!(
                place.with_file_name(name).exists(),
                "{name} is locked, belongs to another file, or is not a partial file"
            );
        }
        drop(new);
        assert!(place.with_file_name(".tree.tar.zst.e5.closc-new").exists(), "it is new");
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = folder();
        let place = Utf8Path::from_path(folder.path()).unwrap().join("state.json");
        replace(&place, b"one").unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o600)).unwrap();
        replace(&place, b"two").unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"two");
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o600);
        let secret = place.with_file_name("secret");
        replace_private(&secret, b"x").unwrap();
        assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(secret).unwrap();
        let failed = replace_with(&place, SyncMode::Yes, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("the pen broke"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "the pen broke");
        assert_eq!(fs::read(&place).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let folder = folder();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        fs::write(root.join("theirs"), "theirs").unwrap();
        symlink(root.join("theirs"), root.join("ours")).unwrap();
        replace(&root.join("ours"), b"ours").unwrap();
        assert_eq!(fs::read(root.join("ours")).unwrap(), b"ours");
        assert!(fs::symlink_metadata(root.join("ours")).unwrap().is_file());
        assert_eq!(fs::read(root.join("theirs")).unwrap(), b"theirs");
        fs::create_dir(root.join("folder")).unwrap();
        assert_eq!(replace(&root.join("folder"), b"x").unwrap_err().to_string(), "it is not a regular file");
        // Links to an open file of this process, to a device and to a folder.
        for (name, target) in [("stdout", "/proc/self/fd/1"), ("null", "/dev/null"), ("in", "folder")] {
            symlink(target, root.join(name)).unwrap();
            let why = replace(&root.join(name), b"x").unwrap_err().to_string();
            assert_eq!(
                why, "it is a link to an open file of a process, or to something that is not a regular file",
                "{name}"
            );
            assert!(fs::symlink_metadata(root.join(name)).unwrap().is_symlink());
        }
        symlink("nowhere", root.join("dangling")).unwrap();
        replace(&root.join("dangling"), b"ours").unwrap();
    }

    #[test]
    fn concurrent_writes_leave_one_complete_file() {
        let folder = folder();
        let place = Utf8Path::from_path(folder.path()).unwrap().join("a");
        std::thread::scope(|scope| {
            for number in 0..16u8 {
                let place = &place;
                scope.spawn(move || {
                    replace_with(place, SyncMode::No, |file| file.write_all(&[number; 4096])).unwrap();
                });
            }
        });
        let bytes = fs::read(&place).unwrap();
        assert!(bytes.len() == 4096 && bytes.iter().all(|byte| *byte == bytes[0]));
    }
}
