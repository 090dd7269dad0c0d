//! `closc compile`: compiles a fabric file into a tree of artefacts.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Release;
use closc_artefacts::paths::MANIFEST;
use closc_compile::{Job, Part, Report, Signer, Target};
use closc_diagnostics::figures::{format_count, number};
use closc_files::disk::SyncMode;
use closc_render::Templates;

use crate::args::{Args, CompileArgs};
use crate::input::{self, Input};
use crate::output::{self, Document, Outcome};
use crate::{limits, objects, progress, tree};

/// Written parts of a tree.
pub(crate) const COMPILE: Document<Report> = Document::new("closc-compile/1");

/// Compiles a fabric file.
pub fn run(args: &Args, command: &CompileArgs) -> anyhow::Result<Outcome> {
    start_threads(command.jobs)?;
    check_outputs(command)?;
    let signers = command.sign.iter().map(|key| Signer::read(key)).collect::<Result<Vec<_>, _>>()?;
    let release = command.sequence.map(|sequence| Release { sequence, expires: command.expires });
    let overlay = overlay(command.templates.as_deref())?;
    Templates::check_overlay(&overlay)?;
    if !overlay.is_empty() {
        limits::limit_memory().context("cannot limit the memory of templates")?;
    }
    let templates = Templates::with_overlay(&overlay)?;
    let Some(input) = input::read(args, &command.file)? else { return Ok(Outcome::Failed) };
    let job = Job::new(&input.plan, &templates, digest(&overlay), command.part.part())?;
    let job = job.with_signers(&signers, release);
    let sync = if command.no_sync { SyncMode::No } else { SyncMode::Yes };
    let out = command.out.as_ref();
    // Unwritable outputs are rejected before compilation.
    for place in command.archive.as_ref().into_iter().chain(out).filter(|place| objects::is_object(place)) {
        objects::require_archive(place)?;
    }
    let archives = command.archive.as_ref().into_iter().chain(out.filter(|place| tree::is_archive(place)));
    for place in archives {
        let bar = progress::bar(args.quiet, job.units(), "archiving");
        if objects::is_object(place) {
            objects::archive(&job, place, &|units| bar.inc(units))?;
        } else {
            closc_compile::archive(&job, place, sync, &|units| bar.inc(units))?;
        }
        bar.finish_and_clear();
    }
    if let Some(place) = out.filter(|place| !tree::is_archive(place)) {
        let fabric = &input.plan.topology().name;
        let other = place.join(MANIFEST).exists().then(|| tree::fabric(place).ok()).flatten();
        if let Some(other) = other.filter(|other| other != fabric.as_str()) {
            tracing::warn!("`{place}` was the tree of `{other}`, and is replaced by that of `{fabric}`");
        }
        let report = write_tree(args, &job, Target { place, force: command.force, sync }, &|| false)?;
        output::print_outcome(args, Outcome::Fine, &COMPILE, &report, |report| human(&input, place, report))?;
    }
    Ok(Outcome::Fine)
}

/// Extensions of archives that closc does not write.
const OTHER_ARCHIVES: [&str; 8] = [".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".zip", ".zst", ".7z"];

/// Rejects output names with the extension of another format, and an expiry date in the past.
fn check_outputs(command: &CompileArgs) -> anyhow::Result<()> {
    let archives = command.archive.iter().filter(|place| !tree::has_archive_name(place));
    let is_other = |place: &&Utf8PathBuf| {
        !tree::has_archive_name(place) && OTHER_ARCHIVES.iter().any(|end| place.as_str().ends_with(end))
    };
    if let Some(place) = archives.chain(command.out.iter().filter(is_other)).find(|place| !place.is_dir()) {
        let stem = OTHER_ARCHIVES
            .iter()
            .filter_map(|end| place.as_str().strip_suffix(end))
            .min_by_key(|stem| stem.len());
        let stem = stem.unwrap_or(place.as_str());
        bail!("`{place}`: archives are tar files compressed with Zstandard: write `{stem}.tar.zst`");
    }
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if let Some(day) = command.expires.filter(|day| day.is_before(now_s)) {
        bail!("`--expires {day}` is in the past, so the tree would never be accepted: write a later day");
    }
    Ok(())
}

/// Starts the requested number of threads; 0 for one per processor.
pub fn start_threads(jobs: Option<u16>) -> anyhow::Result<()> {
    match jobs {
        Some(jobs) => rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.into())
            .build_global()
            .context("cannot start threads"),
        None => Ok(()),
    }
}

/// Compiles a complete fabric with the built-in templates into a cache folder, for commands that need a tree. Returns
/// [`closc_compile::CompileError::Stopped`] if `is_stopped` returns true.
pub fn compile_to_cache(
    args: &Args,
    input: &Input,
    place: &Utf8Path,
    is_stopped: &(dyn Fn() -> bool + std::marker::Sync),
) -> anyhow::Result<Report> {
    let templates = Templates::builtin();
    let job = Job::new(&input.plan, &templates, digest(&BTreeMap::new()), Part::default())?;
    // Replace a tree without a readable manifest, for example after a power failure.
    let force = tree::manifest(place).is_err();
    write_tree(args, &job, Target { place, force, sync: SyncMode::No }, is_stopped)
}

fn write_tree(
    args: &Args,
    job: &Job<'_>,
    target: Target<'_>,
    is_stopped: &(dyn Fn() -> bool + std::marker::Sync),
) -> anyhow::Result<Report> {
    let bar = progress::bar(args.quiet, job.units(), "compiling");
    let report = closc_compile::tree_unless_stopped(job, target, &|units| {
        bar.inc(units);
        if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    bar.finish_and_clear();
    Ok(report)
}

fn human(input: &Input, place: &Utf8Path, report: &Report) -> String {
    format!(
        "{}: {} in `{place}`, {}; {} written, {} kept, {} removed\n",
        input.plan.topology().name,
        format_count(report.files, "file"),
        format_count(report.bytes, "byte"),
        number(report.written),
        number(report.kept),
        number(report.removed),
    )
}

/// Reads every file of the overlay folder, by its path below the folder.
fn overlay(folder: Option<&Utf8Path>) -> anyhow::Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    let Some(root) = folder else { return Ok(texts) };
    let inside = closc_files::Folder::open(root)?;
    let mut open = vec![Utf8PathBuf::new()];
    while let Some(folder) = open.pop() {
        let entries = root.join(&folder).read_dir_utf8().with_context(|| format!("cannot read `{root}`"))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read `{root}`"))?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else {
                let text = inside.text(path.as_str(), closc_files::TEXT_MAX)?;
                texts.insert(path.into_string(), text);
            }
        }
    }
    if texts.is_empty() {
        return Err(closc_files::no_readable_file(root, &["j2"], None)).context("`--templates`");
    }
    Ok(texts)
}

fn digest(overlay: &BTreeMap<String, String>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (name, text) in overlay {
        hasher.update(name.as_bytes()).update(&[0]).update(text.as_bytes()).update(&[0]);
    }
    hasher.finalize()
}
