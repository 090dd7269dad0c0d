//! A side of a comparison: read, checked, with its digest.
//!
//! In: what was written on the command line, save `live`. Out: a plan or the manifest of a tree. Invariants: both sides are read side by
//! side, and the faults of both are shown.

use std::io;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Manifest, paths};
use closc_compile::front::{self, Source};
use closc_deploy::Tree;
use closc_diagnostics::{Diagnostics, Sources};
use closc_diff::tree::Files;
use closc_entries::{Pipeline, entries_file, pipeline_files};
use closc_plan::Plan;
use closc_topology::Switch;

use crate::args::Args;
use crate::input;

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
    place: Utf8PathBuf,
    files: Arc<dyn closc_artefacts::Files>,
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
            Side::Tree(compiled) => {
                Tree::open(Arc::clone(&compiled.files)).with_context(|| format!("`{}`", compiled.place))
            }
            Side::Plan(planned) => Ok(made(planned.plan.clone())),
        }
    }
}

/// The entries of a plan, each switch rendered when it is asked for.
fn made(plan: Plan) -> Tree {
    let is_p4 = |switch: &Switch| plan.topology().hardware(*switch).1.is_programmed();
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
        self.files.read(path).with_context(|| format!("cannot read `{}`", self.place.join(path)))
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
    // What a saved file names may be any file of this machine: its faults would quote it, and a pipe would never end.
    let is_object = then.source.starts_with("git:");
    if !is_object && !std::fs::metadata(&then.source).is_ok_and(|found| found.is_file() || found.is_dir()) {
        bail!("`{}` of the saved difference is no file or tree", then.source.escape_debug());
    }
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
        input::show(args, &self.diagnostics, &self.sources);
        self.side.filter(|_| !self.diagnostics.has_errors())
    }
}

fn read(args: &Args, source: &str) -> anyhow::Result<Reading> {
    let place = Utf8Path::new(source);
    if place.join(paths::MANIFEST).is_file() || crate::tree::is_archive(place) {
        let side = Some(Side::Tree(Box::new(tree(place)?)));
        return Ok(Reading { side, diagnostics: Diagnostics::new(), sources: Sources::new() });
    }
    let source = Source::parse(source)?;
    Ok(plan(&source, front::read(&source, &args.platforms)?))
}

fn tree(place: &Utf8Path) -> anyhow::Result<Compiled> {
    let files: Arc<dyn closc_artefacts::Files> = crate::tree::open(place, None)?.into();
    let path = place.join(paths::MANIFEST);
    let bytes = files.read(paths::MANIFEST).with_context(|| format!("cannot read `{path}`"))?;
    let manifest = Manifest::parse(&bytes).with_context(|| format!("`{place}`"))?;
    let side = closc_diff::Side {
        source: place.to_string(),
        fabric: manifest.fabric.clone(),
        digest: blake3::hash(&bytes).to_string(),
    };
    Ok(Compiled { place: place.to_owned(), files, manifest, side })
}

/// Plans the text of a fabric file.
fn plan(source: &Source, reading: front::Reading) -> Reading {
    let front::Reading { plan, diagnostics, sources } = reading;
    let side = plan.map(|plan| {
        let side = closc_diff::Side {
            source: source.to_string(),
            fabric: plan.topology().name.to_string(),
            digest: closc_compile::meaning(&plan).to_string(),
        };
        Side::Plan(Box::new(Planned { plan, side }))
    });
    Reading { side, diagnostics, sources }
}

/// Plans the text of a fabric file that is not written yet; nothing if it has faults, which were shown.
pub fn planned(args: &Args, source: &str, text: &str) -> anyhow::Result<Option<Planned>> {
    let source = Source::parse(source)?;
    let reading = front::read_text(&source, text.as_bytes(), &args.platforms)?;
    match plan(&source, reading).shown(args) {
        Some(Side::Plan(planned)) => Ok(Some(*planned)),
        Some(Side::Tree(_)) | None => Ok(None),
    }
}
