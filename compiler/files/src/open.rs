//! Opening a file beneath a folder.
//!
//! In: a folder and a relative path. Out: an open regular file. Invariants: the kernel keeps the path beneath
//! the folder while it resolves it (`openat2` with `RESOLVE_BENEATH`, Linux 5.6). On older kernels, every
//! component is opened separately, and links are not followed. Opening a pipe does not block.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::Mode;

use crate::error::Reason;

/// Opens a regular file.
pub(crate) fn regular(folder: BorrowedFd<'_>, path: &str) -> Result<File, Reason> {
    let parts = parts(path)?;
    let how = OpenHow::new()
        .flags(flags())
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    let opened = match openat2(folder, path, how) {
        Err(Errno::ENOSYS | Errno::EPERM | Errno::E2BIG | Errno::EINVAL) => part_by_part(folder, &parts),
        opened => opened,
    };
    let file = File::from(opened.map_err(reason)?);
    let kind = file.metadata()?.file_type();
    match (kind.is_file(), kind.is_dir()) {
        (true, _) => Ok(file),
        (false, true) => Err(Reason::Folder),
        (false, false) => Err(Reason::NotRegular),
    }
}

/// Flags for opening a file: a pipe does not wait for a writer, and a terminal does not become the controlling
/// terminal.
fn flags() -> OFlag {
    OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK | OFlag::O_NOCTTY
}

/// Returns the components of a path; [`Reason::Outside`] if it is absolute or contains `..` or a NUL.
fn parts(path: &str) -> Result<Vec<&Path>, Reason> {
    if path.contains('\0') {
        return Err(Reason::Outside);
    }
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => parts.push(Path::new(name)),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(Reason::Outside),
        }
    }
    if parts.is_empty() { Err(Reason::NotRegular) } else { Ok(parts) }
}

/// Opens a path component by component, without following links.
fn part_by_part(folder: BorrowedFd<'_>, parts: &[&Path]) -> Result<OwnedFd, Errno> {
    use std::os::fd::AsFd as _;
    let (last, folders) = parts.split_last().ok_or(Errno::ENOENT)?;
    let mut at = folder.try_clone_to_owned().map_err(|_| Errno::EMFILE)?;
    for name in folders {
        at = openat(at.as_fd(), *name, flags() | OFlag::O_NOFOLLOW | OFlag::O_DIRECTORY, Mode::empty())?;
    }
    openat(at.as_fd(), *last, flags() | OFlag::O_NOFOLLOW, Mode::empty())
}

fn reason(error: Errno) -> Reason {
    match error {
        // A link that leads out of the folder, a link where links are not followed, or a link of `/proc`.
        Errno::EXDEV | Errno::ELOOP => Reason::Outside,
        // A socket, or the node of a device that does not exist.
        Errno::ENXIO => Reason::NotRegular,
        other => Reason::Io(io::Error::from_raw_os_error(other as i32)),
    }
}
