//! Where artefacts come from: a folder, or memory in tests.
//!
//! In: a path below the tree. Out: bytes. Invariants: files are read one at a time and dropped by the caller; paths
//! are relative and sorted.

use std::collections::BTreeMap;
use std::io::{self, Read as _};

use camino::{Utf8Path, Utf8PathBuf};

/// An artefact tree.
pub trait Tree: Sync {
    /// Reads a file into a buffer, which is emptied first.
    fn read(&self, path: &Utf8Path, into: &mut Vec<u8>) -> io::Result<()>;
}

/// A tree in a folder.
#[derive(Debug, Clone)]
pub struct Folder {
    root: Utf8PathBuf,
}

impl Folder {
    /// Takes a folder.
    pub fn new(root: impl Into<Utf8PathBuf>) -> Self {
        Folder { root: root.into() }
    }
}

impl Tree for Folder {
    fn read(&self, path: &Utf8Path, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        let mut file = std::fs::File::open(self.root.join(path))?;
        let size = file.metadata()?.len();
        into.reserve(usize::try_from(size).unwrap_or(0));
        file.read_to_end(into).map(|_| ())
    }
}

/// A tree in memory.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Bytes by path.
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl Tree for Memory {
    fn read(&self, path: &Utf8Path, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        let bytes = self.files.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        into.extend_from_slice(bytes);
        Ok(())
    }
}
