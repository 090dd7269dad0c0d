//! Trees of labs that are started from fabric files, in a private folder next to the state of labs.
//!
//! In: the options of labs. Out: a folder for each fabric, and one for each process that does not start a lab.
//! Invariants: a tree is removed as soon as its lab is down, or as soon as the process that owns it has finished.

use std::io::ErrorKind;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_lab::{LabError, Options, TreeGuard};

/// Prefix of folders that belong to single processes, followed by a number.
const OWN: &str = ".own-";

/// The folder of a fabric's tree, locked against other processes.
pub struct Place<'o> {
    options: &'o Options,
    fabric: &'o str,
    /// Folder of the tree.
    pub tree: Utf8PathBuf,
    guard: TreeGuard,
}

/// Purpose for which a fabric file is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The lab of a fabric; there is at most one per machine.
    Lab,
    /// Work on such a lab, which must be up.
    LabThatIsUp,
    /// Work of one process without a lab, as in virtual time. Any number of them can run at once.
    Process,
}

fn folder(options: &Options) -> Utf8PathBuf {
    // Names of fabrics do not begin with a dot.
    options.runtime.join(".trees")
}

impl<'o> Place<'o> {
    /// Locks the place of a fabric, or a free place for this process.
    pub fn take(options: &'o Options, fabric: &'o str, purpose: Purpose) -> anyhow::Result<Place<'o>> {
        let trees = folder(options);
        if purpose != Purpose::Process {
            return Place::lock(options, fabric, &trees);
        }
        // Remove trees that killed processes left.
        for left in process_places(&trees) {
            unless_busy(Place::lock(options, fabric, &left))?.map_or(Ok(()), Place::clear)?;
        }
        for number in 1_u64.. {
            let free = Place::lock(options, fabric, &trees.join(format!("{OWN}{number}")));
            if let Some(place) = unless_busy(free)? {
                return Ok(place);
            }
        }
        anyhow::bail!("there is no number left for a tree of `{fabric}`")
    }

    /// Locks the place of a fabric in a folder that only its owner can access.
    fn lock(options: &'o Options, fabric: &'o str, trees: &Utf8Path) -> anyhow::Result<Place<'o>> {
        let guard = TreeGuard::take(trees, fabric)?;
        let tree = trees.join(fabric);
        if !tree.join(closc_artefacts::paths::MANIFEST).exists() {
            // Remove the leftovers of a process that was killed while compiling.
            remove(std::fs::remove_dir_all(&tree), &tree)?;
        }
        Ok(Place { options, fabric, tree, guard })
    }

    /// Removes the tree and its fingerprints, unless a lab that was started from it is up.
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
        // Remove folders that a lab created, if they are empty.
        drop(guard);
        closc_lab::leave_private(&folder(options));
        closc_lab::leave_private(&options.runtime);
        Ok(())
    }
}

/// Removes the tree of a lab that is down, unless another process has locked its place since.
pub fn clear(options: &Options, fabric: &str) -> anyhow::Result<()> {
    unless_busy(Place::take(options, fabric, Purpose::Lab))?.map_or(Ok(()), Place::clear)
}

/// Returns a place; `None` if another process has locked it.
fn unless_busy(place: anyhow::Result<Place<'_>>) -> anyhow::Result<Option<Place<'_>>> {
    match place {
        Ok(place) => Ok(Some(place)),
        Err(error) if matches!(error.downcast_ref(), Some(LabError::Busy { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Lists the places of single processes, of any fabric.
fn process_places(trees: &Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = trees.read_dir_utf8().into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().starts_with(OWN)).map(camino::Utf8DirEntry::into_path).collect()
}

fn remove(removed: std::io::Result<()>, path: &Utf8Path) -> anyhow::Result<()> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove `{path}`"))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
