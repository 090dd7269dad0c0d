//! Renders the units of a plan and writes them into a tree.
//!
//! In: a plan and a place. Out: a tree with a manifest. Invariants: a unit is rendered, written and dropped; nothing
//! holds two; files that did not change keep their inode and time, because the new tree links to them; files
//! in the old tree that closc did not write are carried over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Entry, Manifest, paths};
use closc_plan::Plan;
use closc_render::{Artefact, Templates};
use indicatif::ProgressBar;
use rayon::prelude::*;

use crate::tree::state::{self, FileState, State, UnitState};
use crate::tree::swap::Staging;
use crate::tree::unit::{Fingerprints, Unit};

/// What one run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Files in the tree, without the manifest.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Files written by this run.
    pub written: u64,
    /// Files that were already there.
    pub kept: u64,
    /// Files of the old tree that are gone.
    pub removed: u64,
}

/// What to write, and where.
pub struct Job<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The templates.
    pub templates: &'a Templates,
    /// The pieces.
    pub units: &'a [Unit],
    /// When a piece has to be rendered again.
    pub fingerprints: &'a Fingerprints,
    /// Whether other pieces of the old tree stay.
    pub partial: bool,
    /// Whether everything is rendered again.
    pub force: bool,
    /// Where.
    pub place: &'a Utf8Path,
    /// Shows how far it is.
    pub bar: &'a ProgressBar,
}

/// Writes a tree; `head` makes its manifest from the list of files.
pub fn write(
    job: &Job<'_>,
    head: impl FnOnce(BTreeMap<Utf8PathBuf, Entry>) -> Manifest,
) -> anyhow::Result<Report> {
    let mut staging = Staging::begin(job.place)?;
    let remembered = State::parse(&staging.remembered()?);
    let old = if job.force { State::default() } else { remembered };
    let run =
        Run { job, new: staging.folder(), old: &old, folders: Mutex::default(), written: AtomicU64::new(0) };
    let names: Vec<String> = job.units.iter().map(|unit| unit.name(job.plan)).collect();
    let done: Vec<UnitState> = job
        .units
        .par_iter()
        .zip(&names)
        .map(|(unit, name)| run.unit(*unit, name))
        .collect::<anyhow::Result<_>>()?;
    let mut units: BTreeMap<String, UnitState> = names.into_iter().zip(done).collect();
    let owned = owned_files(job.place);
    if job.partial {
        for (name, unit) in &old.units {
            if !units.contains_key(name) {
                run.keep(unit)?;
                units.insert(name.clone(), unit.clone());
            }
        }
    }
    let files: BTreeMap<Utf8PathBuf, Entry> = units
        .values()
        .flat_map(|unit| &unit.files)
        .map(|file| (file.path.clone(), Entry { size: file.size, blake3: file.blake3.clone() }))
        .collect();
    carry_foreign(job.place, staging.folder(), &owned)?;
    let written = run.written.load(Ordering::Relaxed);
    let report = Report {
        files: files.len() as u64,
        bytes: files.values().map(|f| f.size).sum(),
        written,
        kept: files.len() as u64 - written,
        removed: owned.iter().filter(|path| !files.contains_key(*path)).count() as u64,
    };
    let state = State {
        closc: env!("CARGO_PKG_VERSION").to_owned(),
        common: job.fingerprints.common().to_string(),
        units,
    };
    let place = staging.folder().join(paths::MANIFEST);
    std::fs::write(&place, head(files).to_bytes()).with_context(|| format!("cannot write `{place}`"))?;
    staging.commit(&serde_json::to_vec(&state)?)?;
    Ok(report)
}

struct Run<'a> {
    job: &'a Job<'a>,
    new: &'a Utf8Path,
    old: &'a State,
    folders: Mutex<BTreeSet<Utf8PathBuf>>,
    written: AtomicU64,
}

impl Run<'_> {
    fn unit(&self, unit: Unit, name: &str) -> anyhow::Result<UnitState> {
        let fingerprint = self.job.fingerprints.of(unit);
        let state = match self.old.units.get(name) {
            Some(old) if old.is_fresh(self.job.place, fingerprint) => {
                self.keep(old)?;
                old.clone()
            }
            before => {
                let artefacts = unit.render(self.job.plan, self.job.templates)?;
                let files =
                    artefacts.into_iter().map(|a| self.file(a, before)).collect::<anyhow::Result<_>>()?;
                UnitState { fingerprint, files }
            }
        };
        self.job.bar.inc(1);
        Ok(state)
    }

    /// Links every file of a unit from the old tree.
    fn keep(&self, unit: &UnitState) -> anyhow::Result<()> {
        unit.files.iter().try_for_each(|file| {
            self.folder_of(&file.path)?;
            link(&self.job.place.join(&file.path), &self.new.join(&file.path))
        })
    }

    /// Writes a file, or links it where the old tree has the same bytes.
    fn file(&self, artefact: Artefact, before: Option<&UnitState>) -> anyhow::Result<FileState> {
        let digest = blake3::hash(&artefact.bytes).to_string();
        self.folder_of(&artefact.path)?;
        let same = before
            .and_then(|unit| unit.files.iter().find(|f| f.path == artefact.path && f.blake3 == digest))
            .filter(|file| file.is_unchanged(self.job.place));
        if let Some(file) = same {
            link(&self.job.place.join(&file.path), &self.new.join(&file.path))?;
            return Ok(file.clone());
        }
        let place = self.new.join(&artefact.path);
        let mut file = File::create_new(&place).with_context(|| format!("cannot create `{place}`"))?;
        file.write_all(&artefact.bytes).with_context(|| format!("cannot write `{place}`"))?;
        let meta = file.metadata().with_context(|| format!("cannot read `{place}` back"))?;
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(FileState {
            path: artefact.path,
            size: artefact.bytes.len() as u64,
            changed: state::changed(&meta),
            blake3: digest,
        })
    }

    fn folder_of(&self, path: &Utf8Path) -> anyhow::Result<()> {
        let Some(parent) = path.parent().filter(|parent| !parent.as_str().is_empty()) else { return Ok(()) };
        let mut folders = self.folders.lock().expect("no thread panics while it holds the lock");
        if folders.insert(parent.to_owned()) {
            let place = self.new.join(parent);
            std::fs::create_dir_all(&place).with_context(|| format!("cannot create `{place}`"))?;
        }
        Ok(())
    }
}

/// Links a file into the new tree, or copies it where the file system has no links.
fn link(from: &Utf8Path, to: &Utf8Path) -> anyhow::Result<()> {
    std::fs::hard_link(from, to)
        .or_else(|_| std::fs::copy(from, to).map(|_| ()))
        .with_context(|| format!("cannot carry `{from}` over to `{to}`"))
}

/// The files that the old manifest lists.
fn owned_files(place: &Utf8Path) -> BTreeSet<Utf8PathBuf> {
    std::fs::read(place.join(paths::MANIFEST))
        .ok()
        .and_then(|bytes| Manifest::parse(&bytes).ok())
        .map(|manifest| manifest.files.into_keys().collect())
        .unwrap_or_default()
}

/// Carries over what somebody else put into the tree, where the new tree has nothing of that name.
fn carry_foreign(old: &Utf8Path, new: &Utf8Path, owned: &BTreeSet<Utf8PathBuf>) -> anyhow::Result<()> {
    let mut open = vec![Utf8PathBuf::new()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = old.join(&folder).read_dir_utf8() else { continue };
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read `{old}`"))?;
            let path = folder.join(entry.file_name());
            let ours = owned.contains(&path) || path == paths::MANIFEST;
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if !ours && !new.join(&path).exists() {
                std::fs::create_dir_all(new.join(&folder))?;
                link(&old.join(&path), &new.join(&path))?;
            }
        }
    }
    Ok(())
}
