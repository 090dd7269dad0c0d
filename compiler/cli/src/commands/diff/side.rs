//! A side of a comparison: read, checked, with its digest.
//!
//! In: what was written on the command line, save `live`. Out: a plan or the manifest of a tree. Invariants: both sides are read side by
//! side, and the faults of both are shown.

use std::io;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use camino::{Utf8Component, Utf8Path};
use closc_artefacts::{Files as _, Folder, Manifest, paths};
use closc_deploy::Tree;
use closc_diagnostics::{Diagnostics, Sources};
use closc_diff::tree::Files;
use closc_entries::{Pipeline, entries_file, pipeline_files};
use closc_fabric::{Fabric, FabricGraph};
use closc_plan::Plan;
use closc_platform::Os;
use closc_topology::Switch;

use crate::args::Args;
use crate::input;
use crate::tree::unit;

/// A side of a comparison.
pub enum Side {
    /// A fabric file.
    Plan(Box<Planned>),
    /// A compiled tree.
    Tree(Box<Compiled>),
}

/// A fabric that was read and found valid.
pub struct Planned {
    /// Its plan.
    pub plan: Plan,
    /// Where it is from.
    pub side: closc_diff::Side,
}

/// A tree whose manifest was read.
pub struct Compiled {
    folder: Folder,
    manifest: Manifest,
    /// Where it is from.
    pub side: closc_diff::Side,
}

impl Side {
    /// Returns where it is from.
    pub fn side(&self) -> &closc_diff::Side {
        match self {
            Side::Plan(planned) => &planned.side,
            Side::Tree(compiled) => &compiled.side,
        }
    }
}

impl Side {
    /// Returns what its P4 switches are to hold: the files of a tree, or those that a fabric file would be compiled to.
    pub fn entries(&self) -> anyhow::Result<Tree> {
        match self {
            Side::Tree(compiled) => Tree::open(Arc::new(compiled.folder.clone()))
                .with_context(|| format!("`{}`", compiled.folder.root())),
            Side::Plan(planned) => Ok(made(planned.plan.clone())),
        }
    }
}

/// The entries of a plan, each switch rendered when it is asked for.
fn made(plan: Plan) -> Tree {
    let is_p4 = |switch: &Switch| plan.topology().hardware(*switch).1 == Os::P4;
    let devices =
        plan.switches().filter(is_p4).map(|s| plan.topology().naming.switch(s).to_string()).collect();
    let fabric = plan.topology().name.to_string();
    let missing = |path: &str| io::Error::new(io::ErrorKind::NotFound, format!("`{path}` is not compiled"));
    let files = move |path: &str| -> io::Result<Vec<u8>> {
        if let Some(file) = pipeline_files(Pipeline::fabric()).into_iter().find(|file| file.path == path) {
            return Ok(file.text.into_bytes());
        }
        let name = Utf8Path::new(path).strip_prefix(paths::SWITCHES).ok().and_then(|rest| rest.iter().next());
        let switch = name.and_then(|name| plan.topology().naming.parse_switch(name));
        let intent = plan.device(switch.ok_or_else(|| missing(path))?);
        let file = entries_file(Pipeline::fabric(), &intent).map_err(io::Error::other)?;
        if file.path == path { Ok(file.text.into_bytes()) } else { Err(missing(path)) }
    };
    Tree::made(fabric, devices, Arc::new(files))
}

impl Compiled {
    /// Returns the digests by path.
    pub fn files(&self) -> Files<'_> {
        self.manifest.files.iter().map(|(path, entry)| (path.as_str(), entry.blake3.as_str())).collect()
    }

    /// Reads a file of the tree.
    pub fn read(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        self.folder.read(path).with_context(|| format!("cannot read `{}`", self.folder.root().join(path)))
    }
}

/// Reads both sides; nothing if one has faults, which were shown.
pub fn both(args: &Args, old: &str, new: &str) -> anyhow::Result<Option<(Side, Side)>> {
    let (old, new) = rayon::join(|| read(args, old), || read(args, new));
    // All faults first, so that those of the second side are seen too.
    let (old, new) = (old?.shown(args), new?.shown(args));
    Ok(old.zip(new))
}

/// Reads one side; nothing if it has faults, which were shown.
pub fn one(args: &Args, source: &str) -> anyhow::Result<Option<Side>> {
    Ok(read(args, source)?.shown(args))
}

/// Reads a side of a saved difference, and refuses one that is no longer what it was.
pub fn unchanged(args: &Args, then: &closc_diff::Side) -> anyhow::Result<Side> {
    // What a saved file names may be any file of this machine: its faults would quote it.
    let reading = read(args, &then.source)?;
    let Some(side) = reading.side.filter(|_| !reading.diagnostics.has_errors()) else {
        bail!("`{}` of the saved difference is no longer valid: `closc check` says why", then.source)
    };
    let now = side.side();
    if then.digest != now.digest {
        let short = |digest: &str| digest[..digest.len().min(12)].to_owned();
        bail!(
            "the saved difference is stale: `{}` was {} and is {}; compare again",
            then.source,
            short(&then.digest),
            short(&now.digest)
        );
    }
    Ok(side)
}

/// Reads two fabric files; nothing if one has faults, which were shown.
pub fn plans(args: &Args, old: &str, new: &str) -> anyhow::Result<Option<(Planned, Planned)>> {
    match both(args, old, new)? {
        Some((Side::Plan(old), Side::Plan(new))) => Ok(Some((*old, *new))),
        Some(_) => bail!("name two fabric files, not trees"),
        None => Ok(None),
    }
}

/// What reading a side came to.
struct Reading {
    side: Option<Side>,
    diagnostics: Diagnostics,
    sources: Sources,
}

impl Reading {
    fn shown(self, args: &Args) -> Option<Side> {
        input::show(args.format, &self.diagnostics, &self.sources);
        self.side.filter(|_| !self.diagnostics.has_errors())
    }
}

fn read(args: &Args, source: &str) -> anyhow::Result<Reading> {
    let place = Utf8Path::new(source);
    if place.join(paths::MANIFEST).is_file() {
        let side = Some(Side::Tree(Box::new(tree(place)?)));
        return Ok(Reading { side, diagnostics: Diagnostics::new(), sources: Sources::new() });
    }
    let bytes = bytes(source)?;
    plan(args, source, &bytes)
}

fn tree(place: &Utf8Path) -> anyhow::Result<Compiled> {
    let folder = Folder::new(place);
    let path = place.join(paths::MANIFEST);
    let bytes = folder.read(paths::MANIFEST).with_context(|| format!("cannot read `{path}`"))?;
    let manifest = Manifest::parse(&bytes).with_context(|| format!("`{place}`"))?;
    let side = closc_diff::Side {
        source: place.to_string(),
        fabric: manifest.fabric.clone(),
        digest: blake3::hash(&bytes).to_string(),
    };
    Ok(Compiled { folder, manifest, side })
}

fn bytes(source: &str) -> anyhow::Result<Vec<u8>> {
    let Some(object) = source.strip_prefix("git:") else {
        return Ok(closc_files::given(Utf8Path::new(source), closc_files::TEXT_MAX)?);
    };
    if object.split_once(':').is_none_or(|(revision, path)| revision.is_empty() || path.is_empty()) {
        bail!("`{source}` names no file of a revision: write `git:REV:PATH`");
    }
    let output = Command::new("git")
        .args(["show", "--end-of-options", object])
        .output()
        .context("cannot run `git`, which reads revisions")?;
    if !output.status.success() {
        bail!("`{source}`: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

/// Reads the pins that a fabric file names, of a revision if the fabric file is of one.
fn pins_beside(source: &str, pins: &str) -> Result<String, String> {
    if !source.starts_with("git:") {
        let text = closc_files::text_beside(Utf8Path::new(source), pins, closc_files::TEXT_MAX);
        return text.map_err(|error| error.reason.to_string());
    }
    let stays = |part: Utf8Component<'_>| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
    if !Utf8Path::new(pins).components().all(stays) {
        return Err(closc_files::Reason::Outside.to_string());
    }
    let bytes = bytes(&beside(source, pins)).map_err(|error| format!("{error:#}"))?;
    String::from_utf8(bytes).map_err(|_| closc_files::Reason::NotText.to_string())
}

/// Returns the name of a file in the folder of another, also of one in a revision.
fn beside(source: &str, file: &str) -> String {
    let (revision, path) = match source.strip_prefix("git:").and_then(|object| object.split_once(':')) {
        Some((revision, path)) => (format!("git:{revision}:"), path),
        None => (String::new(), source),
    };
    format!("{revision}{}", Utf8Path::new(path).with_file_name(file))
}

/// Plans the text of a fabric file.
fn plan(args: &Args, source: &str, bytes: &[u8]) -> anyhow::Result<Reading> {
    let mut sources = Sources::new();
    let mut diagnostics = Diagnostics::new();
    let catalogue = input::catalogue(args, &mut sources, &mut diagnostics)?;
    let mut document = match closc_topology::load(&mut sources, source, bytes) {
        Ok(document) => document,
        Err(faults) => {
            diagnostics.extend(faults);
            return Ok(Reading { side: None, diagnostics, sources });
        }
    };
    input::add_pins(&mut document, &mut sources, |pins| (beside(source, pins), pins_beside(source, pins)));
    let (topology, findings) = closc_topology::lower(&document, &catalogue, &sources);
    diagnostics.extend(findings);
    let side = topology.map(|topology| {
        let fabric = Fabric::new(Arc::new(topology));
        let exceptions = &fabric.topology().exceptions;
        // Only an absence can leave a NIC alone or islands; the graph of a large fabric is not built for nothing.
        if !exceptions.absent_switches.is_empty() || !exceptions.absent_links.is_empty() {
            let graph = FabricGraph::of(&fabric);
            closc_fabric::checks::check(&fabric, &graph, &mut diagnostics);
        }
        let plan = Plan::new(fabric);
        let side = closc_diff::Side {
            source: source.to_owned(),
            fabric: plan.topology().name.to_string(),
            digest: unit::meaning(&plan).to_string(),
        };
        Side::Plan(Box::new(Planned { plan, side }))
    });
    diagnostics.sort();
    Ok(Reading { side, diagnostics, sources })
}

/// Plans the text of a fabric file that is not written yet; nothing if it has faults, which were shown.
pub fn planned(args: &Args, source: &str, text: &str) -> anyhow::Result<Option<Planned>> {
    match plan(args, source, text.as_bytes())?.shown(args) {
        Some(Side::Plan(planned)) => Ok(Some(*planned)),
        Some(Side::Tree(_)) | None => Ok(None),
    }
}
