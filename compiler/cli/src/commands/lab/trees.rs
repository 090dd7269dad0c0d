//! Where labs have their trees if they are brought up from fabric files: in a folder of their own beside their state.
//!
//! In: the options of labs. Out: a folder for each fabric. Invariants: a tree is there as long as a lab is up that was
//! brought up from it, and no longer.

use std::io::ErrorKind;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_lab::{LabError, Options, TreeGuard};

/// The place of a fabric's tree, which no other process uses meanwhile.
pub struct Place<'o> {
    options: &'o Options,
    fabric: &'o str,
    /// Where the tree is.
    pub tree: Utf8PathBuf,
    guard: TreeGuard,
}

fn folder(options: &Options) -> Utf8PathBuf {
    // No fabric has a name that begins with a dot.
    options.runtime.join(".trees")
}

impl<'o> Place<'o> {
    /// Takes the place of a fabric, in a folder that is its owner's alone.
    pub fn take(options: &'o Options, fabric: &'o str) -> anyhow::Result<Place<'o>> {
        let trees = folder(options);
        let guard = TreeGuard::take(&trees, fabric)?;
        let tree = trees.join(fabric);
        if !tree.join(closc_artefacts::paths::MANIFEST).exists() {
            // A process left it that was killed while it compiled.
            remove(std::fs::remove_dir_all(&tree), &tree)?;
        }
        Ok(Place { options, fabric, tree, guard })
    }

    /// Removes the tree, and what is beside it, unless a lab is up that was brought up from it.
    pub fn clear(self) -> anyhow::Result<()> {
        let Place { options, fabric, tree, guard } = self;
        let used = |tree: &Utf8Path| tree.canonicalize_utf8().unwrap_or_else(|_| tree.to_owned());
        let labs = closc_lab::list(options)?;
        if labs.iter().any(|lab| lab.fabric == fabric && used(&lab.tree) == used(&tree)) {
            return Ok(());
        }
        remove(std::fs::remove_dir_all(&tree), &tree)?;
        let beside = tree.with_file_name(format!(".{fabric}.closc"));
        remove(std::fs::remove_file(&beside), &beside)?;
        // Both folders go when they are empty, and were made by a lab.
        drop(guard);
        closc_lab::leave_private(&options.runtime);
        Ok(())
    }
}

/// Removes the tree of a lab that is down, unless another process has taken its place since.
pub fn clear(options: &Options, fabric: &str) -> anyhow::Result<()> {
    match Place::take(options, fabric) {
        Ok(place) => place.clear(),
        Err(error) if matches!(error.downcast_ref(), Some(LabError::Busy { .. })) => Ok(()),
        Err(error) => Err(error),
    }
}

fn remove(removed: std::io::Result<()>, path: &Utf8Path) -> anyhow::Result<()> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove `{path}`"))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
