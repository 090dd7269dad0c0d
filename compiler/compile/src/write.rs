//! Renders the units of a plan and writes them into a tree.
//!
//! In: a job and a target. Out: a tree with a manifest. Invariants: each unit is dropped once it is rendered
//! and written, so a thread never holds two units. Unchanged files keep their inode and time, because the new
//! tree links to them. Files in the old tree that closc did not write are carried over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Entry, Files as _, Manifest, ManifestError, paths};
use closc_files::disk::SyncMode;
use closc_render::Artefact;
use rayon::prelude::*;

use crate::state::{self, FileState, State, UnitState};
use crate::swap::Staging;
use crate::{CompileError, Folder, Job, Part, Unit, plan_digest};

/// Result of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Report {
    /// Files in the tree, without the manifest.
    pub files: u64,
    /// Total size of these files in bytes.
    pub bytes: u64,
    /// Files written by this run.
    pub written: u64,
    /// Unchanged files, taken over from the old tree.
    pub kept: u64,
    /// Files removed from the old tree.
    pub removed: u64,
}

impl Report {
    /// Counts the files of a tree, and the files that only the old tree has. This run wrote `written` of the
    /// files.
    fn of(files: &BTreeMap<Utf8PathBuf, Entry>, old: &BTreeSet<Utf8PathBuf>, written: u64) -> Report {
        Report {
            files: files.len() as u64,
            bytes: files.values().map(|file| file.size).sum(),
            written,
            kept: files.len() as u64 - written,
            removed: old.iter().filter(|path| !files.contains_key(*path)).count() as u64,
        }
    }
}

/// Destination of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The folder.
    pub place: &'a Utf8Path,
    /// Whether to render everything again, and to replace a tree whose manifest cannot be read.
    pub force: bool,
    /// Whether the new tree is synced to the disk before it replaces the old one.
    pub sync: SyncMode,
}

/// Writes a tree; `done` is called with the number of units just finished.
pub fn write_tree(
    job: &Job<'_>,
    target: Target<'_>,
    done: &(dyn Fn(u64) + std::marker::Sync),
) -> Result<Report, CompileError> {
    let done = |units: u64| {
        done(units);
        ControlFlow::Continue(())
    };
    tree_unless_stopped(job, target, &done)
}

/// Writes a tree; `done` is called with the number of units just finished, and returns whether to continue.
/// If it stops the run, the new tree is removed.
pub fn tree_unless_stopped(
    job: &Job<'_>,
    target: Target<'_>,
    done: &(dyn Fn(u64) -> ControlFlow<()> + std::marker::Sync),
) -> Result<Report, CompileError> {
    let mut staging = Staging::begin(target.place, target.sync == SyncMode::Yes)?;
    let old = old_manifest(target)?;
    if let (true, Some(old)) = (job.is_partial(), &old) {
        refuse_mixture(old, job, target.place)?;
    }
    // A part that is compiled into a complete tree keeps it complete. In a separate folder, it replaces its earlier
    // version.
    let partial = job.is_partial() && old.as_ref().is_none_or(|old| old.selection.is_some());
    let within = job.is_partial() && !partial;
    let remembered = State::parse(&staging.read_cache()?);
    let known = if target.force { &State::default() } else { &remembered };
    let units = if within { job.units_of_whole() } else { job.units.clone() };
    if let (true, Some(old)) = (within, &old) {
        refuse_stale(old, job, &units, &remembered, target.place)?;
    }
    if let Some(report) = unchanged_report(job, target, known)? {
        return if done(job.units()).is_break() { Err(CompileError::Stopped) } else { Ok(report) };
    }
    let new = staging.open()?;
    let run = Run {
        job,
        pieces: &units,
        place: target.place,
        new,
        old: known,
        folders: Mutex::default(),
        written: AtomicU64::new(0),
        on_progress: done,
    };
    let mut states = run.units()?;
    let mut files: BTreeMap<Utf8PathBuf, Entry> = states
        .values()
        .flat_map(|unit| &unit.files)
        .map(|file| (file.path.clone(), Entry { size: file.size, blake3: file.blake3.clone() }))
        .collect();
    if let (true, Some(old)) = (within, &old) {
        run.keep_others(old, &mut files)?;
        for (name, unit) in &remembered.units {
            states.entry(name.clone()).or_insert_with(|| unit.clone());
        }
    }
    let unreadable = old.is_none() && target.place.join(paths::MANIFEST).exists();
    let owned: BTreeSet<Utf8PathBuf> =
        old.map(|manifest| manifest.files.into_keys().collect()).unwrap_or_default();
    if !unreadable {
        carry_foreign(target.place, new, &owned)?;
    }
    let report = Report::of(&files, &owned, run.written.load(Ordering::Relaxed));
    let state = State::of(job, target.sync == SyncMode::Yes, states);
    write_manifest(job, new, &job.manifest(files, partial)?.to_bytes())?;
    staging.commit(&serde_json::to_vec(&state).expect("a state has only string keys"))?;
    Ok(report)
}

/// Returns the report if the tree is already up to date. Such a tree is not touched, which avoids waiting for
/// the disk. A tree that was never synced is written again if this run has to sync it.
fn unchanged_report(
    job: &Job<'_>,
    target: Target<'_>,
    known: &State,
) -> Result<Option<Report>, CompileError> {
    if job.is_partial() || !(known.synced || target.sync == SyncMode::No) {
        return Ok(None);
    }
    let Some(fresh) = known.all_fresh(job, target.place) else { return Ok(None) };
    let files: BTreeMap<Utf8PathBuf, Entry> = fresh
        .iter()
        .map(|file| (file.path.clone(), Entry { size: file.size, blake3: file.blake3.clone() }))
        .collect();
    let (count, bytes) = (files.len() as u64, files.values().map(|file| file.size).sum());
    let manifest = job.manifest(files, false)?.to_bytes();
    let signature = job.signatures(&manifest)?;
    let folder = Folder::new(target.place);
    let is_same = folder.read(paths::MANIFEST).is_ok_and(|there| there == manifest)
        && folder.read(paths::SIGNATURE).ok() == signature.map(Into::into);
    Ok(is_same.then_some(Report { files: count, bytes, written: 0, kept: count, removed: 0 }))
}

/// Writes the manifest, and its signature if there are keys.
fn write_manifest(job: &Job<'_>, folder: &Utf8Path, bytes: &[u8]) -> Result<(), CompileError> {
    let manifest = folder.join(paths::MANIFEST);
    std::fs::write(&manifest, bytes).map_err(CompileError::file("write", &manifest))?;
    if let Some(signatures) = job.signatures(bytes)? {
        let place = folder.join(paths::SIGNATURE);
        std::fs::write(&place, signatures).map_err(CompileError::file("write", &place))?;
    }
    Ok(())
}

/// Reads the manifest of the old tree. An unreadable manifest is an error, unless the tree is replaced with
/// `--force`.
fn old_manifest(target: Target<'_>) -> Result<Option<Manifest>, CompileError> {
    match Manifest::read(&Folder::new(target.place)) {
        Ok(manifest) => Ok(Some(manifest)),
        Err(ManifestError::Missing) => Ok(None),
        // Only a folder is replaced: `Staging::begin` rejects anything else.
        Err(_) if target.force || !target.place.is_dir() => Ok(None),
        Err(error) => {
            Err(CompileError::Unreadable { place: target.place.to_owned(), reason: error.to_string() })
        }
    }
}

/// Rejects a part of another fabric: a tree must not mix devices of two fabrics. So everything except
/// exceptions and single pins must be the same as when the tree was compiled. A tree must not mix two parts
/// either, because its manifest describes only one.
fn refuse_mixture(old: &Manifest, job: &Job<'_>, place: &Utf8Path) -> Result<(), CompileError> {
    match &old.selection {
        Some(part) if *part == job.part.to_string() => return Ok(()),
        Some(part) => {
            return Err(CompileError::OtherPart { place: place.to_owned(), part: part.clone() });
        }
        None => {}
    }
    if old.inputs == job.fingerprints.common().to_string() {
        return Ok(());
    }
    Err(CompileError::Mixture { place: place.to_owned(), fabric: old.fabric.clone() })
}

/// Rejects a part if the complete tree was compiled with other exceptions that affect units outside the part,
/// because their files would be outdated.
fn refuse_stale(
    old: &Manifest,
    job: &Job<'_>,
    units: &[Unit],
    known: &State,
    place: &Utf8Path,
) -> Result<(), CompileError> {
    if old.source == plan_digest(job.plan).to_string() {
        return Ok(());
    }
    let own: BTreeSet<&Unit> = units.iter().collect();
    let all = Unit::all(job.plan, &Part::default());
    let mut left: BTreeSet<&str> = known.units.keys().map(String::as_str).collect();
    let mut stale = None;
    for unit in &all {
        let name = unit.name(job.plan);
        left.remove(name.as_str());
        let state = known.units.get(&name);
        let fresh = || state.is_some_and(|state| state.is_fresh(place, job.fingerprints.of(*unit)));
        if stale.is_none() && !own.contains(unit) && !fresh() {
            stale = Some(name);
        }
    }
    match stale.or_else(|| left.first().map(|name| (*name).to_owned())) {
        Some(unit) => Err(CompileError::Stale { place: place.to_owned(), unit }),
        None => Ok(()),
    }
}

struct Run<'a> {
    job: &'a Job<'a>,
    /// The units to render or keep.
    pieces: &'a [Unit],
    place: &'a Utf8Path,
    new: &'a Utf8Path,
    old: &'a State,
    folders: Mutex<BTreeSet<Utf8PathBuf>>,
    written: AtomicU64,
    on_progress: &'a (dyn Fn(u64) -> ControlFlow<()> + std::marker::Sync),
}

impl Run<'_> {
    /// Renders or keeps every unit of the job.
    fn units(&self) -> Result<BTreeMap<String, UnitState>, CompileError> {
        let names: Vec<String> = self.pieces.iter().map(|unit| unit.name(self.job.plan)).collect();
        let units = self.pieces.par_iter().zip(&names);
        let done: Vec<UnitState> =
            units.map(|(unit, name)| self.process_unit(*unit, name)).collect::<Result<_, CompileError>>()?;
        Ok(names.into_iter().zip(done).collect())
    }

    /// Links into the new tree the old files of devices outside the part, and all other files that this run
    /// did not write.
    fn keep_others(
        &self,
        old: &Manifest,
        files: &mut BTreeMap<Utf8PathBuf, Entry>,
    ) -> Result<(), CompileError> {
        let plan = self.job.plan;
        let folder = |parent: &str, name: &str| Some(Utf8Path::new(parent).join(name));
        let own = self.pieces.iter().filter_map(|unit| match unit {
            Unit::Switch(switch) => folder(paths::SWITCHES, &plan.switch_name(*switch)),
            Unit::Host(node) => folder(paths::HOSTS, &plan.node_name(*node)),
            Unit::Group(..) | Unit::Cables(_) | Unit::ZoneCables(..) | Unit::Pipelines => None,
        });
        let own: BTreeSet<Utf8PathBuf> = own.collect();
        let is_own = |path: &Utf8Path| path.ancestors().skip(1).any(|folder| own.contains(folder));
        for (path, entry) in &old.files {
            if is_own(path) || files.contains_key(path) {
                continue;
            }
            self.create_parent(path)?;
            link(&self.place.join(path), &self.new.join(path))?;
            files.insert(path.clone(), entry.clone());
        }
        Ok(())
    }

    fn process_unit(&self, unit: Unit, name: &str) -> Result<UnitState, CompileError> {
        let fingerprint = self.job.fingerprints.of(unit);
        let state = match self.old.units.get(name) {
            Some(old) if old.is_fresh(self.place, fingerprint) => {
                self.keep(old)?;
                old.clone()
            }
            before => {
                let artefacts = unit.render(self.job.plan, self.job.templates)?;
                let files = artefacts.into_iter().map(|a| self.write_or_link(a, before)).collect::<Result<
                    _,
                    CompileError,
                >>(
                )?;
                UnitState { fingerprint, files }
            }
        };
        if (self.on_progress)(1).is_break() { Err(CompileError::Stopped) } else { Ok(state) }
    }

    /// Links every file of a unit from the old tree.
    fn keep(&self, unit: &UnitState) -> Result<(), CompileError> {
        unit.files.iter().try_for_each(|file| {
            self.create_parent(&file.path)?;
            link(&self.place.join(&file.path), &self.new.join(&file.path))
        })
    }

    /// Writes a file, or links it if the old tree has a file with the same bytes.
    fn write_or_link(
        &self,
        artefact: Artefact,
        before: Option<&UnitState>,
    ) -> Result<FileState, CompileError> {
        let Entry { size, blake3 } = Entry::of(&artefact.bytes);
        self.create_parent(&artefact.path)?;
        let same = before
            .and_then(|unit| unit.files.iter().find(|f| f.path == artefact.path && f.blake3 == blake3))
            .filter(|file| file.is_unchanged(self.place));
        if let Some(file) = same {
            link(&self.place.join(&file.path), &self.new.join(&file.path))?;
            return Ok(file.clone());
        }
        let place = self.new.join(&artefact.path);
        let mut file = File::create_new(&place).map_err(CompileError::file("create", &place))?;
        file.write_all(&artefact.bytes).map_err(CompileError::file("write", &place))?;
        let meta = file.metadata().map_err(CompileError::file("read back", &place))?;
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(FileState { path: artefact.path, size, changed: state::change_time(&meta), blake3 })
    }

    fn create_parent(&self, path: &Utf8Path) -> Result<(), CompileError> {
        let Some(parent) = path.parent().filter(|parent| !parent.as_str().is_empty()) else { return Ok(()) };
        let mut folders = self.folders.lock().expect("no thread panics while it holds the lock");
        if folders.insert(parent.to_owned()) {
            let place = self.new.join(parent);
            std::fs::create_dir_all(&place).map_err(CompileError::file("create", &place))?;
        }
        Ok(())
    }
}

/// Links a file into the new tree, or copies it if the file system does not support hard links.
fn link(from: &Utf8Path, to: &Utf8Path) -> Result<(), CompileError> {
    std::fs::hard_link(from, to)
        .or_else(|_| std::fs::copy(from, to).map(|_| ()))
        .map_err(CompileError::file("carry over", from))
}

/// Carries over the files that closc did not write, unless the new tree has a file with the same name.
fn carry_foreign(old: &Utf8Path, new: &Utf8Path, owned: &BTreeSet<Utf8PathBuf>) -> Result<(), CompileError> {
    let mut open = vec![Utf8PathBuf::new()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = old.join(&folder).read_dir_utf8() else { continue };
        for entry in entries {
            let entry = entry.map_err(CompileError::file("read", old))?;
            let path = folder.join(entry.file_name());
            // A signature is valid only for its own manifest.
            let ours = owned.contains(&path) || path == paths::MANIFEST || path == paths::SIGNATURE;
            if entry.file_type().map_err(CompileError::file("read", entry.path()))?.is_dir() {
                open.push(path);
            } else if !ours && !new.join(&path).exists() {
                let parent = new.join(&folder);
                std::fs::create_dir_all(&parent).map_err(CompileError::file("create", &parent))?;
                link(&old.join(&path), &new.join(&path))?;
            }
        }
    }
    Ok(())
}
