//! A side of a comparison: read, checked, with its digest.
//!
//! In: a source from the command line, except `live`. Out: a plan or the manifest of a tree. Invariants: both sides
//! are read in parallel, and the errors of both are shown. Warnings are shown only if just one side has them.
//! `--deny` does not apply to the old side.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Manifest, paths};
use closc_compile::front::{self, Options, Source};
use closc_deploy::Tree;
use closc_diagnostics::{Diagnostic, Diagnostics, Sources};
use closc_diff::Place;
use closc_diff::tree::Files;
use closc_entries::{Pipeline, entries_file, pipeline_files};
use closc_plan::Plan;

use crate::args::Args;
use crate::input;

/// A side of a comparison.
pub(crate) enum Side {
    /// A fabric file.
    Plan(Box<PlannedFabric>),
    /// A compiled tree.
    Tree(Box<CompiledTree>),
}

/// A fabric that was read and found valid.
pub(crate) struct PlannedFabric {
    /// Its plan.
    pub plan: Plan,
    /// Its source, fabric name and digest.
    pub side: closc_diff::Side,
}

/// A tree whose manifest was read.
pub(crate) struct CompiledTree {
    place: Utf8PathBuf,
    files: Arc<dyn closc_artefacts::Files>,
    manifest: Manifest,
    /// Its source, fabric name and digest.
    pub side: closc_diff::Side,
}

impl Side {
    /// Returns its source, fabric name and digest.
    pub fn side(&self) -> &closc_diff::Side {
        match self {
            Side::Plan(planned) => &planned.side,
            Side::Tree(compiled) => &compiled.side,
        }
    }
}

impl Side {
    /// Returns the entries of its P4 switches: from the tree, or as compiled from the fabric file.
    pub fn entries(&self) -> anyhow::Result<Tree> {
        match self {
            Side::Tree(compiled) => {
                Tree::open(Arc::clone(&compiled.files)).with_context(|| format!("`{}`", compiled.place))
            }
            Side::Plan(planned) => Ok(plan_tree(planned.plan.clone())),
        }
    }
}

/// Returns the entries of a plan. The entries of a switch are rendered on demand.
fn plan_tree(plan: Plan) -> Tree {
    let (mut devices, mut without_files) = (BTreeMap::new(), BTreeMap::new());
    let mut planes = BTreeMap::new();
    for switch in plan.switches() {
        let name = plan.topology().naming.switch(switch).to_string();
        planes.insert(name.clone(), switch.plane.0);
        match Pipeline::of(&plan, switch) {
            Some(pipeline) => devices.insert(name, pipeline.name()),
            None => without_files.insert(name, plan.os(switch).keyword()),
        };
    }
    let fabric = plan.topology().name.to_string();
    let pipelines = Pipeline::all_of(&plan);
    let missing = |path: &str| io::Error::new(io::ErrorKind::NotFound, format!("`{path}` is not compiled"));
    let files = move |path: &str| -> io::Result<Vec<u8>> {
        let mut shared = pipelines.iter().flat_map(|pipeline| pipeline_files(pipeline));
        if let Some(file) = shared.find(|file| file.path == path) {
            return Ok(file.text.into_bytes());
        }
        let name = Utf8Path::new(path).strip_prefix(paths::SWITCHES).ok().and_then(|rest| rest.iter().next());
        let switch = name.and_then(|name| plan.topology().naming.parse_switch(name));
        let switch = switch.ok_or_else(|| missing(path))?;
        let pipeline = Pipeline::of(&plan, switch).ok_or_else(|| missing(path))?;
        let file = entries_file(pipeline, &plan.device(switch)).map_err(io::Error::other)?;
        if file.path == path { Ok(file.text.into_bytes()) } else { Err(missing(path)) }
    };
    Tree::in_memory(fabric, devices, without_files, planes, Arc::new(files))
}

impl CompiledTree {
    /// Returns the digests by path.
    pub fn files(&self) -> Files<'_> {
        self.manifest.files.iter().map(|(path, entry)| (path.as_str(), entry.blake3.as_str())).collect()
    }

    /// Reads a file of the tree.
    pub fn read(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        self.files.read(path).with_context(|| format!("cannot read `{}`", self.place.join(path)))
    }
}

/// Reads both sides; `None` if one has errors, which were shown.
pub(crate) fn read_both_sides(args: &Args, old: &str, new: &str) -> anyhow::Result<Option<(Side, Side)>> {
    let (old, new) = rayon::join(|| read(&old_options(args), old), || read(&input::options(args), new));
    Ok(Reading::show_both(args, old?, new?))
}

/// Returns the options for reading the old side of a comparison.
fn old_options(args: &Args) -> Options {
    let Options { platforms, levels } = input::options(args);
    Options { platforms, levels: levels.remove_denials() }
}

/// Reads one side; `None` if it has errors, which were shown.
pub(crate) fn read_side(args: &Args, source: &str) -> anyhow::Result<Option<Side>> {
    Ok(read(&input::options(args), source)?.show(args))
}

/// Reads a side of a saved difference; fails if it has changed since.
pub(crate) fn read_unchanged_side(args: &Args, then: &closc_diff::Side) -> anyhow::Result<Side> {
    // A saved difference may name any file of this machine, which error messages could quote. Reading a pipe could
    // block.
    let is_object = then.source.starts_with("git:");
    if !is_object && !std::fs::metadata(&then.source).is_ok_and(|found| found.is_file() || found.is_dir()) {
        bail!("`{}` of the saved difference is not a file or tree", then.source.escape_debug());
    }
    let reading = read(&input::options(args), &then.source)?;
    let Some(side) = reading.side.filter(|_| !reading.diagnostics.has_errors()) else {
        bail!(
            "`{}` of the saved difference is no longer valid: run `closc check` for the reason",
            then.source
        )
    };
    let now = side.side();
    if then.digest != now.digest {
        let short = |digest: &str| digest[..digest.len().min(12)].to_owned();
        bail!(
            "the saved difference is stale: the digest of `{}` changed from {} to {}\nhelp: compare again",
            then.source,
            short(&then.digest),
            short(&now.digest)
        );
    }
    Ok(side)
}

/// Returns a fabric file's side with more switches and cables drained.
pub(crate) fn with_drained(side: &Side, names: &[String]) -> anyhow::Result<Side> {
    let Side::Plan(planned) = side else { bail!("a tree has no waves: compare fabric files") };
    let topology = planned.plan.topology();
    let place = |name: &String| {
        let switch = topology.naming.parse_switch(name).map(Place::Switch);
        switch.or_else(|| topology.parse_link(name).map(Place::Link))
    };
    let named =
        |name| place(name).with_context(|| format!("`{}` is not a switch or cable", name.escape_debug()));
    let places = names.iter().map(named).collect::<anyhow::Result<BTreeSet<Place>>>()?;
    let plan = Plan::new(closc_diff::rollout::drain_places(planned.plan.fabric(), &places));
    Ok(Side::Plan(Box::new(PlannedFabric { plan, side: planned.side.clone() })))
}

/// Reads two fabric files; `None` if one has errors, which were shown.
pub(crate) fn plans(
    args: &Args,
    old: &str,
    new: &str,
) -> anyhow::Result<Option<(PlannedFabric, PlannedFabric)>> {
    match read_both_sides(args, old, new)? {
        Some((Side::Plan(old), Side::Plan(new))) => Ok(Some((*old, *new))),
        Some(_) => bail!("name two fabric files, not trees"),
        None => Ok(None),
    }
}

/// Result of reading a side.
pub(crate) struct Reading {
    side: Option<Side>,
    diagnostics: Diagnostics,
    sources: Sources,
}

impl Reading {
    /// Reads the text of a fabric file as the side before a change.
    pub(crate) fn parse_before(args: &Args, source: &str, text: &str) -> anyhow::Result<Reading> {
        Self::of_text(&old_options(args), source, text)
    }

    /// Reads the text of a fabric file that is not on disk yet, as the side after a change.
    pub(crate) fn parse_after(args: &Args, source: &str, text: &str) -> anyhow::Result<Reading> {
        Self::of_text(&input::options(args), source, text)
    }

    fn of_text(options: &Options, source: &str, text: &str) -> anyhow::Result<Reading> {
        let source = Source::parse(source)?;
        Ok(plan(&source, front::read_text(&source, text.as_bytes(), options)?))
    }

    /// Returns the plan, if the side is a fabric file without errors.
    pub(crate) fn planned_fabric(&self) -> Option<&PlannedFabric> {
        match &self.side {
            Some(Side::Plan(planned)) => Some(planned),
            Some(Side::Tree(_)) | None => None,
        }
    }

    /// Shows all findings; returns the side, if there are no errors.
    pub(crate) fn show(self, args: &Args) -> Option<Side> {
        input::show(args, &self.diagnostics, &self.sources);
        self.side.filter(|_| !self.diagnostics.has_errors())
    }

    /// Shows all findings of both sides if one has errors; otherwise only the warnings that differ.
    pub(crate) fn show_both(args: &Args, old: Reading, new: Reading) -> Option<(Side, Side)> {
        if old.diagnostics.has_errors() || new.diagnostics.has_errors() {
            let (old, new) = (old.show(args), new.show(args));
            return old.zip(new);
        }
        let gone =
            missing_findings(&old.diagnostics, &new.diagnostics, "gone: the new side does not have it");
        let come = missing_findings(&new.diagnostics, &old.diagnostics, "new: the old side does not have it");
        input::show_gone(args, &gone, &old.sources);
        input::show(args, &come, &new.sources);
        old.side.zip(new.side)
    }
}

/// Returns the findings that `others` lack, each with a note. Places in the text are not compared.
fn missing_findings(these: &Diagnostics, others: &Diagnostics, note: &str) -> Diagnostics {
    let key = |finding: &Diagnostic| (finding.rule.code, finding.message.clone(), finding.notes.clone());
    let mut left = BTreeMap::new();
    for other in others {
        *left.entry(key(other)).or_insert(0_usize) += 1;
    }
    let mut found = Diagnostics::new();
    for finding in these {
        match left.get_mut(&key(finding)) {
            Some(count) if *count > 0 => *count -= 1,
            Some(_) | None => found.push(finding.clone().note(note)),
        }
    }
    found
}

fn read(options: &Options, source: &str) -> anyhow::Result<Reading> {
    let place = Utf8Path::new(source);
    if place.join(paths::MANIFEST).is_file() || crate::tree::is_archive(place) {
        let side = Some(Side::Tree(Box::new(tree(place)?)));
        return Ok(Reading { side, diagnostics: Diagnostics::new(), sources: Sources::new() });
    }
    let source = Source::parse(source)?;
    Ok(plan(&source, front::read(&source, options)?))
}

fn tree(place: &Utf8Path) -> anyhow::Result<CompiledTree> {
    let files: Arc<dyn closc_artefacts::Files> =
        crate::tree::open(place, crate::tree::Keys { public: &[], needed: None })?.into();
    let path = place.join(paths::MANIFEST);
    let bytes = files.read(paths::MANIFEST).with_context(|| format!("cannot read `{path}`"))?;
    let manifest = Manifest::parse(&bytes).with_context(|| format!("`{place}`"))?;
    let side = closc_diff::Side {
        source: place.to_string(),
        fabric: manifest.fabric.clone(),
        digest: blake3::hash(&bytes).to_string(),
    };
    Ok(CompiledTree { place: place.to_owned(), files, manifest, side })
}

/// Converts the result of reading a fabric file to a side.
fn plan(source: &Source, reading: front::Reading) -> Reading {
    let front::Reading { plan, diagnostics, sources } = reading;
    let side = plan.map(|plan| {
        let side = closc_diff::Side {
            source: source.to_string(),
            fabric: plan.topology().name.to_string(),
            digest: closc_compile::plan_digest(&plan).to_string(),
        };
        Side::Plan(Box::new(PlannedFabric { plan, side }))
    });
    Reading { side, diagnostics, sources }
}
