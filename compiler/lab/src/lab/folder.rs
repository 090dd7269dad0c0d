//! The runtime folder of labs: accessible to its owner only, and rejected if another user could change it.
//!
//! In: a path. Out: the folder. Invariants: only its owner and root can replace it, or a folder above it, with
//! another folder or a link.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};

use camino::{Utf8Path, Utf8PathBuf};
use nix::unistd::geteuid;

use crate::LabError;

/// Mode bit of folders that all users may write to. It restricts removing and renaming to owners.
const STICKY: u32 = 0o1000;
/// Mode bits that permit other users to write.
const WRITABLE: u32 = 0o022;

/// Creates a folder that only its owner can access; rejects an existing one that others could change. Folders created
/// here get the sticky bit as a mark. It has no other effect on a folder that only its owner can write to.
pub fn make(folder: &Utf8Path) -> Result<(), LabError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700 | STICKY).create(folder);
    made.map_err(LabError::io(format!("create `{folder}`")))?;
    check(folder)
}

/// Removes an empty folder if [`make`] created it; a folder that existed before is kept.
pub fn leave(folder: &Utf8Path) {
    if fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir() && meta.mode() & STICKY != 0) {
        let _ = fs::remove_dir(folder);
    }
}

/// Checks the owners of the folder and of every folder above it.
fn check(folder: &Utf8Path) -> Result<(), LabError> {
    let what = || format!("look at `{folder}`");
    let own = geteuid().as_raw();
    let here = std::path::absolute(folder).map_err(LabError::io(what()))?;
    let here = Utf8PathBuf::try_from(here).map_err(|error| LabError::io(what())(error.into_io_error()))?;
    for (above, place) in here.ancestors().enumerate() {
        let link = fs::symlink_metadata(place).map_err(LabError::io(what()))?;
        let meta = fs::metadata(place).map_err(LabError::io(what()))?;
        let not_ours = |owner| LabError::NotOurs { folder: place.to_owned(), owner };
        if let Some(owner) = [link.uid(), meta.uid()].into_iter().find(|owner| ![own, 0].contains(owner)) {
            return Err(not_ours(owner));
        }
        if above == 0 && (link.is_symlink() || meta.uid() != own) {
            return Err(not_ours(link.uid()));
        }
        let open = meta.mode() & WRITABLE != 0 && (above == 0 || meta.mode() & STICKY == 0);
        if open {
            return Err(LabError::Writable { folder: place.to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    fn place() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        (folder, path)
    }

    #[test]
    fn a_new_folder_is_its_owners_alone() {
        let (_keep, above) = place();
        let folder = above.join("closc/lab");
        make(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        make(&folder).unwrap();
    }

    #[test]
    fn only_what_was_made_here_goes_when_it_is_empty() {
        let (_keep, above) = place();
        let (ours, theirs) = (above.join("ours"), above.join("theirs"));
        fs::create_dir(&theirs).unwrap();
        for folder in [&ours, &theirs] {
            make(folder).unwrap();
            fs::write(folder.join("file"), "x").unwrap();
            leave(folder);
            assert!(folder.is_dir());
            fs::remove_file(folder.join("file")).unwrap();
            leave(folder);
        }
        assert!(!ours.exists() && theirs.exists());
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        let (_keep, above) = place();
        let folder = above.join("lab");
        for (open, mode) in [(&folder, 0o777), (&folder, 0o1777), (&above, 0o770)] {
            make(&folder).unwrap();
            fs::set_permissions(open, fs::Permissions::from_mode(mode)).unwrap();
            let error = make(&folder).unwrap_err();
            assert!(matches!(&error, LabError::Writable { folder } if folder == open), "{error}");
            fs::set_permissions(open, fs::Permissions::from_mode(0o700)).unwrap();
        }
    }

    #[test]
    fn a_link_in_its_place_is_refused() {
        let (_keep, above) = place();
        fs::create_dir(above.join("theirs")).unwrap();
        symlink(above.join("theirs"), above.join("lab")).unwrap();
        let error = make(&above.join("lab")).unwrap_err();
        assert!(matches!(error, LabError::NotOurs { .. }), "{error}");
    }

    /// An example is `/tmp/closc-1000`, created by another user.
    #[test]
    fn a_folder_of_another_owner_is_refused() {
        let (_keep, above) = place();
        let theirs = above.join("closc-1000");
        fs::create_dir(&theirs).unwrap();
        if chown(&theirs, Some(65534), None).is_err() {
            closc_skip::skip("only root can give a folder away");
            return;
        }
        for folder in [theirs.join("lab"), theirs.clone()] {
            let error = make(&folder).unwrap_err();
            assert!(
                matches!(&error, LabError::NotOurs { folder, owner: 65534 } if *folder == theirs),
                "{error}"
            );
        }
    }
}
