//! A tree in a folder.
//!
//! In: a path below the tree, with `/`. Out: bytes. Invariants: only regular files beneath the folder are
//! read, each up to a size limit.

use std::io;
use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{FILE_MAX, Files};

/// A tree in a folder. After the first read it refers to the same folder, even if another tree replaces it on
/// the disk.
#[derive(Debug, Clone)]
pub struct Folder {
    root: Utf8PathBuf,
    handle: Arc<OnceLock<closc_files::Folder>>,
}

impl Folder {
    /// Creates a tree that reads from a folder.
    pub fn new(root: impl Into<Utf8PathBuf>) -> Self {
        Folder { root: root.into(), handle: Arc::default() }
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    fn open(&self) -> io::Result<&closc_files::Folder> {
        if let Some(folder) = self.handle.get() {
            return Ok(folder);
        }
        let folder = closc_files::Folder::open(&self.root)?;
        Ok(self.handle.get_or_init(|| folder))
    }

    /// Returns the files, and the empty folders.
    fn list_entries(&self) -> Option<[Vec<Utf8PathBuf>; 2]> {
        let (mut files, mut empty) = (Vec::new(), Vec::new());
        let mut open = vec![Utf8PathBuf::new()];
        while let Some(folder) = open.pop() {
            let mut entries = self.root.join(&folder).read_dir_utf8().ok()?.peekable();
            if entries.peek().is_none() {
                empty.push(folder.clone());
            }
            for entry in entries {
                let entry = entry.ok()?;
                let path = folder.join(entry.file_name());
                if entry.file_type().ok()?.is_dir() {
                    open.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        files.sort_unstable();
        empty.sort_unstable();
        Some([files, empty])
    }
}

impl Files for Folder {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        Ok(self.open()?.read(path, FILE_MAX)?)
    }

    fn read_into(&self, path: &Utf8Path, into: &mut Vec<u8>) -> io::Result<()> {
        Ok(self.open()?.read_into(path.as_str(), FILE_MAX, into)?)
    }

    fn read_within(&self, path: &Utf8Path, max: u64, into: &mut Vec<u8>) -> io::Result<()> {
        Ok(self.open()?.read_into(path.as_str(), max.min(FILE_MAX), into)?)
    }

    fn list(&self) -> Option<Vec<Utf8PathBuf>> {
        self.list_entries().map(|[files, _]| files)
    }

    fn empty_folders(&self) -> Option<Vec<Utf8PathBuf>> {
        self.list_entries().map(|[_, folders]| folders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(place.path()).unwrap().join("tree");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a"), "inside").unwrap();
        std::fs::write(root.with_file_name("b"), "outside").unwrap();
        (place, Folder::new(root))
    }

    #[test]
    fn a_folder_reads_what_is_inside_it_and_stays_the_same() {
        let (_place, folder) = folder();
        assert_eq!(folder.read("a").unwrap(), b"inside");
        assert!(folder.read("../b").is_err() && folder.read("/etc/hostname").is_err());
        assert_eq!(folder.read("c").unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::rename(folder.root(), folder.root().with_file_name("other")).unwrap();
        assert_eq!(folder.read("a").unwrap(), b"inside");
    }

    /// A sparse file takes no disk space, but reading one used to fill the memory.
    #[test]
    fn a_file_that_is_longer_than_it_may_be_is_not_read() {
        let (_place, folder) = folder();
        let sparse = std::fs::File::create(folder.root().join("sparse")).unwrap();
        sparse.set_len(3 << 30).unwrap();
        let mut bytes = Vec::new();
        let error = folder.read_within(Utf8Path::new("sparse"), 100, &mut bytes).unwrap_err();
        assert_eq!((error.kind(), bytes.capacity()), (io::ErrorKind::FileTooLarge, 0));
        let error = folder.read("sparse").unwrap_err();
        assert_eq!(error.to_string(), "`sparse` is larger than 256 MiB");
    }
}
