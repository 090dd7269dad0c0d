//! A folder whose files are read by relative paths.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};

use camino::Utf8Path;

use crate::error::{FileError, Reason};
use crate::{open, read};

/// An open folder. It stays the same one when its path is renamed or becomes a link.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
}

impl Folder {
    /// Opens a folder that a person named.
    pub fn open(path: &Utf8Path) -> Result<Self, FileError> {
        let fail = |reason: Reason| FileError::new(path.as_str(), reason);
        let file = File::open(path).map_err(|error| fail(error.into()))?;
        let is_folder = file.metadata().map_err(|error| fail(error.into()))?.is_dir();
        if is_folder { Ok(Folder { handle: file.into() }) } else { Err(fail(Reason::NotRegular)) }
    }

    /// Reads a regular file in the folder.
    pub fn read(&self, path: &str, max: u64) -> Result<Vec<u8>, FileError> {
        open::regular(self.handle.as_fd(), path)
            .and_then(|file| read(file, max))
            .map_err(|reason| FileError::new(path, reason))
    }

    /// Reads a text in the folder.
    pub fn text(&self, path: &str, max: u64) -> Result<String, FileError> {
        let bytes = self.read(path, max)?;
        String::from_utf8(bytes).map_err(|_| FileError::new(path, Reason::NotText))
    }
}
