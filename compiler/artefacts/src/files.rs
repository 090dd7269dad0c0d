//! Access to the files of a tree: a trait, implemented by a tree in memory and by closures.
//!
//! In: a path below the tree, with `/`. Out: bytes. Invariants: files are read one at a time, and the caller drops
//! them. This module does not access a disk, so the stages that read trees also compile for targets without a file
//! system.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use closc_budget::OverLimit;

/// Reads files by a path relative to a folder. Closures implement this trait.
pub trait Files: Send + Sync {
    /// Returns the bytes of a file.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// Clears a buffer and reads a file into it.
    fn read_into(&self, path: &Utf8Path, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        into.append(&mut self.read(path.as_str())?);
        Ok(())
    }

    /// Reads a file of at most `max` bytes: the size in the manifest, or the limit of the reader. If the size of the
    /// file is known, a longer file is rejected before it is read.
    fn read_within(&self, path: &Utf8Path, max: u64, into: &mut Vec<u8>) -> io::Result<()> {
        self.read_into(path, into)?;
        if into.len() as u64 > max {
            return Err(OverLimit { limit: max }.into());
        }
        Ok(())
    }

    /// Returns the paths of all files, if the store can list them.
    fn list(&self) -> Option<Vec<Utf8PathBuf>> {
        None
    }

    /// Returns the folders without files, if the store has folders and can list them.
    fn empty_folders(&self) -> Option<Vec<Utf8PathBuf>> {
        None
    }
}

impl<F: Fn(&str) -> io::Result<Vec<u8>> + Send + Sync> Files for F {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self(path)
    }
}

/// Maximum size of a file, whatever its manifest states: ten times the largest file of the largest fabrics.
pub const FILE_MAX: u64 = 256 << 20;

/// A tree in memory.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Contents by path.
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl Files for Memory {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let bytes = self.files.get(Utf8Path::new(path));
        bytes.cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn read_into(&self, path: &Utf8Path, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        let bytes = self.files.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        into.extend_from_slice(bytes);
        Ok(())
    }

    fn list(&self) -> Option<Vec<Utf8PathBuf>> {
        Some(self.files.keys().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_file_than_its_limit_is_refused() {
        let memory = Memory { files: BTreeMap::from([("a".into(), vec![0; 101])]) };
        let mut bytes = Vec::new();
        let error = memory.read_within(Utf8Path::new("a"), 100, &mut bytes).unwrap_err();
        assert_eq!(error.to_string(), "is larger than 100 bytes");
        memory.read_within(Utf8Path::new("a"), 101, &mut bytes).unwrap();
    }

    #[test]
    fn closures_and_memory_read_alike() {
        let memory = Memory { files: BTreeMap::from([("a".into(), b"x".to_vec())]) };
        let closure = |path: &str| memory.read(path);
        let mut bytes = b"old".to_vec();
        closure.read_into(Utf8Path::new("a"), &mut bytes).unwrap();
        assert_eq!(bytes, b"x");
        assert_eq!(closure.read("b").unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
