//! The files of a tree: each is read only if the manifest lists it, and its contents are checked.
//!
//! In: the folder of a compiled fabric. Out: bytes. Invariants: files outside the folder are never opened, links are
//! not followed, and only regular files are read. Unless digests are ignored, returned bytes have the size and digest
//! of the manifest, so a file cannot change between its check and its use.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::paths::MANIFEST;
use closc_artefacts::{Manifest, Routing};
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;

use crate::error::{LabError, TreeFault};
use crate::name::FabricName;

/// Maximum size of a file that a lab reads. The path table of 131,072 NICs has a few hundred kilobytes.
const BYTES_MAX: u64 = 256 << 20;

/// Use of the digests of the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Digests {
    /// A file that differs from its digest is rejected.
    #[default]
    Compared,
    /// Files may have been changed by hand. The restrictions of labs still apply to them.
    Ignored,
}

/// The files of a tree.
#[derive(Debug)]
pub(crate) struct Contents {
    folder: Utf8PathBuf,
    root: OwnedFd,
    digests: Digests,
    fabric: FabricName,
    manifest: Manifest,
}

impl Contents {
    /// Opens a tree and reads its manifest.
    pub(crate) fn open(folder: &Utf8Path, digests: Digests) -> Result<Contents, LabError> {
        let root = File::open(folder).map_err(LabError::tree(folder))?;
        let root = root.into();
        let at = folder.join(MANIFEST);
        let bytes = bytes(&root, Utf8Path::new(MANIFEST), BYTES_MAX).map_err(LabError::tree(&at))?;
        let manifest = Manifest::parse(&bytes).map_err(LabError::tree(&at))?;
        let name = manifest.fabric.parse::<FabricName>();
        let fabric = name.map_err(|error| LabError::tree(&at)(TreeFault::Name(error.to_string())))?;
        Ok(Contents { folder: folder.to_owned(), root, digests, fabric, manifest })
    }

    /// Returns the folder of the tree.
    pub(crate) fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// Returns the name of the fabric.
    pub(crate) fn fabric(&self) -> &FabricName {
        &self.fabric
    }

    /// Returns the routing mode in the manifest.
    pub(crate) fn routing(&self) -> Routing {
        self.manifest.routing
    }

    /// Returns whether the tree has a file.
    pub(crate) fn has(&self, path: impl AsRef<Utf8Path>) -> bool {
        self.manifest.files.contains_key(path.as_ref())
    }

    /// Lists the files with an extension that are directly in a folder, in order.
    pub(crate) fn list(&self, folder: &str, ending: &str) -> Vec<&Utf8Path> {
        let belongs = |path: &&Utf8PathBuf| {
            path.parent().is_some_and(|parent| parent == folder) && path.extension() == Some(ending)
        };
        self.manifest.files.keys().filter(belongs).map(Utf8PathBuf::as_path).collect()
    }

    /// Lists the sub-folders of a folder that contain a file of this name, in order.
    pub(crate) fn holders(&self, folder: &str, file: &str) -> Vec<&str> {
        self.manifest.files.keys().filter_map(|path| holder(path, folder, file)).collect()
    }

    /// Reads a file.
    pub(crate) fn read(&self, path: impl AsRef<Utf8Path>) -> Result<Vec<u8>, LabError> {
        let path = path.as_ref();
        let fault = LabError::tree(self.folder.join(path));
        let Some(entry) = self.manifest.files.get(path) else { return Err(fault(TreeFault::Unlisted)) };
        let limit = match self.digests {
            Digests::Compared => entry.size.min(BYTES_MAX),
            Digests::Ignored => BYTES_MAX,
        };
        let bytes = match bytes(&self.root, path, limit) {
            Ok(bytes) => bytes,
            Err(error) => return Err(fault(error)),
        };
        if self.digests == Digests::Compared && !entry.fits(&bytes) {
            return Err(fault(TreeFault::Digest));
        }
        Ok(bytes)
    }

    /// Reads a file of text.
    pub(crate) fn text(&self, path: impl AsRef<Utf8Path>) -> Result<String, LabError> {
        let path = path.as_ref();
        let text = String::from_utf8(self.read(path)?);
        text.map_err(|_| LabError::tree(self.folder.join(path))(TreeFault::NoText))
    }
}

/// Reads a regular file below the folder. A file larger than `limit` is an error.
fn bytes(root: &OwnedFd, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, TreeFault> {
    let file = File::from(descend(root, path)?);
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(TreeFault::NoFile);
    }
    closc_budget::read(file, limit).map_err(|error| match closc_budget::exceeded_limit(&error) {
        Some(BYTES_MAX) => TreeFault::TooLong(BYTES_MAX),
        Some(_) => TreeFault::Digest,
        None => error.into(),
    })
}

/// Opens a path folder by folder, so that links cannot lead out of the tree. Opening a pipe does not wait for a
/// writer.
fn descend(root: &OwnedFd, path: &Utf8Path) -> Result<OwnedFd, TreeFault> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(TreeFault::Path(path.to_string()));
    };
    let open = |at: &dyn AsFd, name: &str, flags: OFlag| {
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        openat(at.as_fd(), name, flags, Mode::empty()).map_err(|errno| match errno {
            nix::errno::Errno::ELOOP => TreeFault::NoFile,
            other => TreeFault::Read(io::Error::from(other)),
        })
    };
    let mut folder: Option<OwnedFd> = None;
    for part in parent {
        let at: &dyn AsFd = folder.as_ref().map_or(root as &dyn AsFd, |folder| folder);
        folder = Some(open(at, part, OFlag::O_PATH | OFlag::O_DIRECTORY)?);
    }
    let at: &dyn AsFd = folder.as_ref().map_or(root as &dyn AsFd, |folder| folder);
    open(at, name, OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY)
}

/// Returns the name of the folder between `folder` and `file`.
fn holder<'a>(path: &'a Utf8Path, folder: &str, file: &str) -> Option<&'a str> {
    let (above, rest) = path.as_str().split_once('/')?;
    let (name, last) = rest.split_once('/')?;
    (above == folder && last == file).then_some(name)
}
