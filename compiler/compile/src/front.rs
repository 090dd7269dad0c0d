//! From the text of a fabric file to a plan, with every check: what `check` refuses no command accepts.
//!
//! In: a [`Source`] and the platforms of a site. Out: a [`Reading`]: a plan where nothing is wrong, and every finding,
//! all of them at once.

mod fix;
mod levels;
mod source;

use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use closc_diagnostics::{Diagnostics, Levels, Rule, Sources};
use closc_fabric::Fabric;
use closc_files::TEXT_MAX;
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_topology::{Companion, Document, Lowered};

pub use fix::{Fixed, Made, fix};
pub use levels::{NoWarning, warning};
pub use source::{Source, SourceError};

/// Result of reading a fabric.
pub struct Reading {
    /// Its plan, where it has no errors.
    pub plan: Option<Plan>,
    /// Everything that was found.
    pub diagnostics: Diagnostics,
    /// The texts that findings point into.
    pub sources: Sources,
}

/// Why there is nothing to read.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    /// The fabric file.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file of platforms.
    #[error(transparent)]
    Platform(#[from] closc_files::FileError),
    /// A folder of platforms.
    #[error("cannot read `{path}`: {error}")]
    Platforms {
        /// The folder.
        path: Utf8PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

/// Reading of fabrics.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Files, or folders of files, with the platforms of a site.
    pub platforms: Vec<Utf8PathBuf>,
    /// Levels of warnings, which come before those of the file.
    pub levels: Levels,
}

/// Reads a fabric.
pub fn read(source: &Source, options: &Options) -> Result<Reading, FrontError> {
    let bytes = source.read()?;
    read_text(source, &bytes, options)
}

/// Reads the text of a fabric that is not written yet, as if it were at `source`. Here findings leave the compiler, with the
/// levels that they were given.
pub fn read_text(source: &Source, text: &[u8], options: &Options) -> Result<Reading, FrontError> {
    let (mut sources, mut diagnostics) = (Sources::new(), Diagnostics::new());
    let catalogue = catalogue(&options.platforms, &mut sources, &mut diagnostics)?;
    let (mut plan, mut levels) = (None, options.levels.clone());
    match closc_topology::load(&mut sources, &source.to_string(), text) {
        Ok(document) => {
            levels = levels.or(levels::stated(&document, &mut diagnostics));
            plan = self::plan(source, document, &catalogue, &mut sources, &mut diagnostics);
        }
        Err(faults) => diagnostics.extend(faults),
    }
    diagnostics.sort();
    let diagnostics = levels.apply(diagnostics.shortened());
    let plan = plan.filter(|_| !diagnostics.has_errors());
    Ok(Reading { plan, diagnostics, sources })
}

/// Expands what the counts of a file describe, whatever else is wrong with it: only names of devices and cables mean anything.
pub fn outline(text: &[u8]) -> Option<Fabric> {
    let topology = closc_topology::outline(text, &Catalogue::builtin())?;
    Some(Fabric::new(Arc::new(topology)))
}

/// Returns the rules of all that reads fabrics and platforms, by code.
pub fn rules() -> Vec<&'static Rule> {
    let mut rules = closc_topology::checks::rules();
    rules.extend(closc_platform::RULES);
    rules.extend(closc_fabric::checks::RULES);
    rules.extend(closc_plan::checks::RULES);
    rules.extend(closc_entries::checks::RULES);
    rules.push(&levels::RULE);
    rules.sort_by_key(|rule| rule.code);
    rules
}

fn plan(
    source: &Source,
    mut document: Document,
    catalogue: &Catalogue,
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> Option<Plan> {
    for which in Companion::ALL {
        let Some(file) = document.companion(which) else { continue };
        let (name, text) = (source.beside(file).to_string(), source.text_beside(file));
        document.companions.insert(which, text.map(|text| sources.add(name, text)));
    }
    let (lowered, findings) = closc_topology::lower_or_outline(&document, catalogue, sources);
    diagnostics.extend(findings);
    let topology = match lowered {
        Lowered::Whole(topology) => topology,
        Lowered::Outline(topology) => {
            closc_fabric::checks::check(&Fabric::new(Arc::new(topology)), diagnostics);
            return None;
        }
        Lowered::Nothing => return None,
    };
    let fabric = Fabric::new(Arc::new(topology));
    closc_fabric::checks::check(&fabric, diagnostics);
    let plan = Plan::new(fabric);
    closc_plan::checks::check(&plan, diagnostics);
    closc_entries::checks::check(&plan, diagnostics);
    Some(plan)
}

/// Returns the built-in catalogue with the platforms of a site.
pub fn catalogue(
    platforms: &[Utf8PathBuf],
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> Result<Catalogue, FrontError> {
    let mut catalogue = Catalogue::builtin();
    for path in platforms {
        for (name, text) in yaml_files(path)? {
            if let Err(faults) = catalogue.add_yaml(sources, name.as_str(), &text) {
                diagnostics.extend(faults);
            }
        }
    }
    Ok(catalogue)
}

/// Reads a file of platforms, or those of a folder: what is in a folder is a regular file in it, and no link out of it.
fn yaml_files(path: &Utf8Path) -> Result<Vec<(Utf8PathBuf, String)>, FrontError> {
    if !path.is_dir() {
        return Ok(vec![(path.to_owned(), closc_files::given_text(path, TEXT_MAX)?)]);
    }
    let mut names = Vec::new();
    for entry in path.read_dir_utf8().map_err(unreadable(path))? {
        let name = entry.map_err(unreadable(path))?.file_name().to_owned();
        if Utf8Path::new(&name).extension() == Some("yaml") {
            names.push(name);
        }
    }
    names.sort();
    let folder = closc_files::Folder::open(path)?;
    let read = |name: String| Ok((path.join(&name), folder.text(&name, TEXT_MAX)?));
    names.into_iter().map(read).collect()
}

fn unreadable(path: &Utf8Path) -> impl FnOnce(io::Error) -> FrontError {
    let path = path.to_owned();
    move |error| FrontError::Platforms { path, error }
}
