//! A folder whose files are read by relative paths.

use std::os::fd::{AsFd as _, OwnedFd};

use camino::Utf8Path;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;

use crate::error::{FileError, Reason};
use crate::secret::read_secret;
use crate::{open, read, read_into, text_of};

/// An open folder. It stays the same folder when its path is renamed or becomes a link.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
}

impl Folder {
    /// Opens a folder that the user named.
    pub fn open(path: &Utf8Path) -> Result<Self, FileError> {
        let fail = |reason: Reason| FileError::new(path.as_str(), reason);
        // Without this check, opening a pipe would block.
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        match nix::fcntl::open(path.as_std_path(), flags, Mode::empty()) {
            Ok(handle) => Ok(Folder { handle }),
            Err(Errno::ENOTDIR) => Err(fail(Reason::File)),
            Err(error) => Err(fail(std::io::Error::from(error).into())),
        }
    }

    /// Reads a regular file in the folder.
    pub fn read(&self, path: &str, max: u64) -> Result<Vec<u8>, FileError> {
        open::regular(self.handle.as_fd(), path)
            .and_then(|file| read(file, max))
            .map_err(|reason| FileError::new(path, reason))
    }

    /// Reads a regular file in the folder into a buffer. The buffer is cleared first and keeps its capacity.
    pub fn read_into(&self, path: &str, max: u64, into: &mut Vec<u8>) -> Result<(), FileError> {
        into.clear();
        open::regular(self.handle.as_fd(), path)
            .and_then(|file| read_into(file, max, into))
            .map_err(|reason| FileError::new(path, reason))
    }

    /// Reads a private key in the folder. Fails if users other than its owner can read or write it.
    pub fn secret(&self, path: &str, max: u64) -> Result<Vec<u8>, FileError> {
        open::regular(self.handle.as_fd(), path)
            .and_then(|file| read_secret(file, max))
            .map_err(|reason| FileError::new(path, reason))
    }

    /// Reads a text file in the folder.
    pub fn text(&self, path: &str, max: u64) -> Result<String, FileError> {
        let bytes = self.read(path, max)?;
        text_of(bytes).map_err(|reason| FileError::new(path, reason))
    }
}
