//! `closc compile`: a fabric file becomes a tree of artefacts.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Folder, Manifest, ManifestError, manifest};
use closc_diff::number;
use closc_render::Templates;
use closc_topology::Routing;

use crate::args::{Args, CompileArgs};
use crate::input::{self, Input};
use crate::output::{self, Outcome};
use crate::progress;
use crate::select::Selection;
use crate::tree::archive;
use crate::tree::unit::{self, Fingerprints, Unit};
use crate::tree::write::{self, Job, Report};

/// Compiles a fabric file.
pub fn run(args: &Args, command: &CompileArgs) -> anyhow::Result<Outcome> {
    start_threads(command.jobs)?;
    let overlay = overlay(command.templates.as_deref())?;
    Templates::check_overlay(&overlay)?;
    let templates = Templates::with_overlay(&overlay)?;
    let Some(input) = input::read(args, &command.file)? else { return Ok(Outcome::Failed) };
    let compiler = Compiler {
        fingerprints: Fingerprints::new(&input.plan, digest(&overlay)),
        input: &input,
        templates: &templates,
        selection: &command.select,
        quiet: args.quiet,
    };
    if let Some(place) = &command.archive {
        compiler.archive(place)?;
    }
    if let Some(place) = &command.out {
        let report = compiler.tree(place, command.force)?;
        output::result(args.format, "closc-compile/1", &report, |report| human(&input, place, report))?;
    }
    Ok(Outcome::Fine)
}

/// Starts as many threads as were asked for.
pub fn start_threads(jobs: Option<usize>) -> anyhow::Result<()> {
    match jobs {
        Some(jobs) => {
            rayon::ThreadPoolBuilder::new().num_threads(jobs).build_global().context("cannot start threads")
        }
        None => Ok(()),
    }
}

/// Compiles a whole fabric with the shipped templates into a folder, for commands that need a tree.
pub fn whole(args: &Args, input: &Input, place: &Utf8Path) -> anyhow::Result<Report> {
    let compiler = Compiler {
        fingerprints: Fingerprints::new(&input.plan, digest(&BTreeMap::new())),
        input,
        templates: &Templates::shipped(),
        selection: &Selection::default(),
        quiet: args.quiet,
    };
    compiler.tree(place, false)
}

/// What is compiled, without where to.
struct Compiler<'a> {
    input: &'a Input,
    templates: &'a Templates,
    fingerprints: Fingerprints,
    selection: &'a Selection,
    quiet: bool,
}

impl Compiler<'_> {
    fn units(&self) -> anyhow::Result<Vec<Unit>> {
        let units = unit::units(&self.input.plan, self.selection);
        if units.is_empty() {
            bail!("`--select` selects no device of this fabric");
        }
        Ok(units)
    }

    fn archive(&self, place: &Utf8Path) -> anyhow::Result<()> {
        let units = self.units()?;
        let bar = progress::bar(self.quiet, units.len() as u64, "archiving");
        let partial = !self.selection.is_everything();
        let head = |files| Manifest { files, ..self.head(partial) };
        archive::write(&self.input.plan, self.templates, &units, place, &bar, head)?;
        bar.finish_and_clear();
        Ok(())
    }

    fn tree(&self, place: &Utf8Path, force: bool) -> anyhow::Result<Report> {
        let units = self.units()?;
        let partial = !self.selection.is_everything();
        let old = read_manifest(place)?;
        if partial && let Some(old) = &old {
            refuse_mixture(old, &self.fingerprints, place)?;
        }
        let stays_whole = partial && old.is_some_and(|old| old.selection.is_none());
        let bar = progress::bar(self.quiet, units.len() as u64, "compiling");
        let job = Job {
            plan: &self.input.plan,
            templates: self.templates,
            units: &units,
            fingerprints: &self.fingerprints,
            partial,
            force,
            place,
            bar: &bar,
        };
        let head = |files| Manifest { files, ..self.head(partial && !stays_whole) };
        let report = write::write(&job, head)?;
        bar.finish_and_clear();
        Ok(report)
    }

    fn head(&self, partial: bool) -> Manifest {
        let topology = self.input.plan.topology();
        Manifest {
            format: manifest::FORMAT.to_owned(),
            closc: env!("CARGO_PKG_VERSION").to_owned(),
            fabric: topology.name.to_string(),
            routing: routing(topology.routing),
            source: unit::meaning(&self.input.plan).to_string(),
            inputs: self.fingerprints.common().to_string(),
            selection: partial.then(|| self.selection.to_string()),
            counts: self.input.plan.fabric().counts(),
            // A profile that does not fit its hardware fails where the first switch is rendered.
            profile: self.input.plan.stated().ok(),
            files: BTreeMap::new(),
        }
    }
}

fn human(input: &Input, place: &Utf8Path, report: &Report) -> String {
    format!(
        "{}: {} files in `{place}`, {} bytes; {} written, {} kept, {} removed\n",
        input.plan.topology().name,
        number(report.files),
        number(report.bytes),
        number(report.written),
        number(report.kept),
        number(report.removed),
    )
}

/// The word of a routing in a manifest.
fn routing(routing: Routing) -> manifest::Routing {
    match routing {
        Routing::Srv6Static => manifest::Routing::Srv6Static,
        Routing::EcmpStatic => manifest::Routing::EcmpStatic,
        Routing::BgpUnnumbered => manifest::Routing::BgpUnnumbered,
    }
}

/// Reads the manifest of a tree; nothing where there is none.
pub fn read_manifest(place: &Utf8Path) -> anyhow::Result<Option<Manifest>> {
    match Manifest::read(&Folder::new(place)) {
        Ok(manifest) => Ok(Some(manifest)),
        Err(ManifestError::Missing) => Ok(None),
        // What is no folder is refused where it would be replaced.
        Err(_) if !place.is_dir() => Ok(None),
        Err(error) => Err(error).with_context(|| format!("`{place}`")),
    }
}

/// Returns the name of the fabric that a tree was compiled from.
pub fn fabric(tree: &Utf8Path) -> anyhow::Result<String> {
    Ok(Manifest::read(&Folder::new(tree)).with_context(|| format!("`{tree}`"))?.fabric)
}

/// A tree must not mix devices of two fabrics: a part can be compiled into a tree only if everything but
/// exceptions is the same as when the tree was made.
fn refuse_mixture(old: &Manifest, new: &Fingerprints, place: &Utf8Path) -> anyhow::Result<()> {
    if old.inputs != new.common().to_string() {
        bail!(
            "`{place}` was compiled from another description of `{}`: compile it whole, or name another folder",
            old.fabric
        );
    }
    Ok(())
}

/// Reads the overlay folder: every file in it by its path below.
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
    Ok(texts)
}

fn digest(overlay: &BTreeMap<String, String>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (name, text) in overlay {
        hasher.update(name.as_bytes()).update(&[0]).update(text.as_bytes()).update(&[0]);
    }
    hasher.finalize()
}
