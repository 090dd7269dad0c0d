//! Reads a fabric file: from text to plan, with every diagnostic shown.
//!
//! In: a path or `-`. Out: a [`closc_plan::Plan`], or nothing after the faults were shown. Invariants: faults go to
//! stderr for people and to stdout for tools, all of them at once.

use std::io::Read as _;
use std::sync::Arc;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_diagnostics::show::{github, json, text};
use closc_diagnostics::{Diagnostics, Sources};
use closc_fabric::{Fabric, FabricGraph};
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_topology::Document;

use crate::args::{Args, Format};
use crate::output;

/// Far above what the loader accepts, so that it is the loader that says how much is too much.
const READ_MAX: u64 = 64 << 20;

/// A fabric that was read and found valid.
pub struct Input {
    /// Its plan.
    pub plan: Plan,
    /// Warnings that were shown.
    pub warnings: usize,
}

/// Reads a fabric file. Returns nothing if it has faults, which were shown.
pub fn read(args: &Args, file: &Utf8Path) -> anyhow::Result<Option<Input>> {
    let bytes = bytes(file)?;
    let mut sources = Sources::new();
    let mut diagnostics = Diagnostics::new();
    let plan = plan(args, file, &bytes, &mut sources, &mut diagnostics)?;
    diagnostics.sort();
    show(args.format, &diagnostics, &sources);
    if diagnostics.has_errors() {
        return Ok(None);
    }
    Ok(plan.map(|plan| Input { plan, warnings: diagnostics.warnings() }))
}

fn plan(
    args: &Args,
    file: &Utf8Path,
    bytes: &[u8],
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> anyhow::Result<Option<Plan>> {
    let catalogue = catalogue(args, sources, diagnostics)?;
    let mut document = match closc_topology::load(sources, file.as_str(), bytes) {
        Ok(document) => document,
        Err(faults) => {
            diagnostics.extend(faults);
            return Ok(None);
        }
    };
    add_pins(&mut document, sources, |pins| {
        let text = closc_files::text_beside(file, pins, closc_files::TEXT_MAX);
        (file.with_file_name(pins).into_string(), text.map_err(|error| error.reason.to_string()))
    });
    let (topology, findings) = closc_topology::lower(&document, &catalogue, sources);
    diagnostics.extend(findings);
    let Some(topology) = topology else { return Ok(None) };
    let fabric = Fabric::new(Arc::new(topology));
    let graph = FabricGraph::of(&fabric);
    closc_fabric::checks::check(&fabric, &graph, diagnostics);
    let plan = Plan::new(fabric);
    closc_plan::checks::check(&plan, diagnostics);
    Ok(Some(plan))
}

/// Adds the file of `ecmp.pins` to a document that names one; `read` returns its name and text, or why there is none.
pub fn add_pins(
    document: &mut Document,
    sources: &mut Sources,
    read: impl FnOnce(&str) -> (String, Result<String, String>),
) {
    if let Some(file) = document.pins_file() {
        let (name, text) = read(file);
        document.pins = Some(text.map(|text| sources.add(name, text)));
    }
}

/// Returns the built-in catalogue with the platforms of a site.
pub fn catalogue(
    args: &Args,
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> anyhow::Result<Catalogue> {
    let mut catalogue = Catalogue::builtin();
    for path in &args.platforms {
        for file in yaml_files(path)? {
            let text = closc_files::given_text(&file, closc_files::TEXT_MAX)?;
            if let Err(faults) = catalogue.add_yaml(sources, file.as_str(), &text) {
                diagnostics.extend(faults);
            }
        }
    }
    Ok(catalogue)
}

fn yaml_files(path: &Utf8Path) -> anyhow::Result<Vec<Utf8PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in path.read_dir_utf8().with_context(|| format!("cannot read `{path}`"))? {
        let entry = entry.with_context(|| format!("cannot read `{path}`"))?;
        if entry.path().extension() == Some("yaml") {
            files.push(entry.path().to_owned());
        }
    }
    files.sort();
    Ok(files)
}

fn bytes(file: &Utf8Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file == "-" {
        std::io::stdin().take(READ_MAX).read_to_end(&mut bytes).context("cannot read standard input")?;
    } else {
        let open = std::fs::File::open(file).with_context(|| format!("cannot read `{file}`"))?;
        open.take(READ_MAX).read_to_end(&mut bytes).with_context(|| format!("cannot read `{file}`"))?;
    }
    Ok(bytes)
}

/// Shows diagnostics in the form that was asked for.
pub fn show(format: Format, diagnostics: &Diagnostics, sources: &Sources) {
    match format {
        Format::Human | Format::Markdown | Format::Html => {
            let shown = text::all(diagnostics, sources, text::Colour::Terminal);
            anstream::eprint!("{shown}");
            if diagnostics.has_errors() {
                eprintln!("{}", summary(diagnostics));
            }
        }
        Format::Json if diagnostics.has_errors() => {
            let value = serde_json::json!({ "diagnostics": json::all(diagnostics, sources) });
            if let Ok(text) = output::document("closc-diagnostics/1", &value) {
                print!("{text}");
            }
        }
        Format::Json => {
            for diagnostic in json::all(diagnostics, sources) {
                eprintln!("{}", serde_json::json!(diagnostic));
            }
        }
        Format::Github => print!("{}", github::all(diagnostics, sources)),
    }
}

fn summary(diagnostics: &Diagnostics) -> String {
    let plural = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        more => format!("{more} {word}s"),
    };
    let errors = plural(diagnostics.errors(), "error");
    match diagnostics.warnings() {
        0 => format!("{errors}; nothing was written"),
        warnings => format!("{errors} and {}; nothing was written", plural(warnings, "warning")),
    }
}
