//! Exclusive use of a NIC, or of the file of its denials, by one process.
//!
//! In: the resource. Out: a [`Hold`], or the error that another process has it. Invariants: the kernel releases the
//! resource when the process ends, even by a crash. A NIC is reserved per network namespace, because each namespace may
//! be a separate node.

use std::fs::{File, TryLockError};
use std::io;
use std::net::Ipv6Addr;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};

/// An exclusive resource of this process, until it is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Hold {
    /// A socket with a reserved name, or a locked file.
    _held: OwnedFd,
}

impl Hold {
    /// Reserves a NIC.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::AddrInUse`] if another agent has it.
    pub(crate) fn nic(address: Ipv6Addr) -> io::Result<Hold> {
        let name = SocketAddr::from_abstract_name(format!("closc-nic/{address}"))?;
        Ok(Hold { _held: UnixDatagram::bind_addr(&name)?.into() })
    }

    /// Reserves a file that is replaced on every write, by locking `FILE.lock` next to it.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::WouldBlock`] if another process has it.
    pub(crate) fn file(path: &Path) -> io::Result<Hold> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".lock");
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
        let file = options.open(PathBuf::from(beside))?;
        match file.try_lock() {
            Ok(()) => Ok(Hold { _held: file.into() }),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_not_held_twice() {
        let address: Ipv6Addr = format!("fd00::{:x}", std::process::id() & 0xffff).parse().unwrap();
        let first = Hold::nic(address).unwrap();
        assert_eq!(Hold::nic(address).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        let other = Hold::nic("fd00:1::1".parse().unwrap()).unwrap();
        drop((first, other));
        drop(Hold::nic(address).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        let first = Hold::file(&path).unwrap();
        assert_eq!(Hold::file(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(first);
        drop(Hold::file(&path).unwrap());
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("other.lock")).unwrap();
        assert!(Hold::file(&folder.path().join("other")).is_err());
    }
}
