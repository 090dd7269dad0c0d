//! Fabric files and platforms on a disk, at standard input or in a Git revision.
//!
//! In: a [`Source`], and the paths of platform files. Out: their texts, read by [`super::read_from`].

use camino::{Utf8Path, Utf8PathBuf};
use closc_diagnostics::{Diagnostics, Levels, Sources};
use closc_files::TEXT_MAX;
use closc_platform::Catalogue;

use super::source::{Source, SourceError};
use super::{Reading, catalogue_of, read_from};

/// Reason why a fabric cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    /// The fabric file cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A platform file cannot be read.
    #[error(transparent)]
    Platform(#[from] closc_files::FileError),
}

/// Options for reading fabrics.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Platform files of a site, or folders that contain them.
    pub platforms: Vec<Utf8PathBuf>,
    /// Levels of warnings, which take precedence over those of the file.
    pub levels: Levels,
}

/// Reads a fabric.
pub fn read(source: &Source, options: &Options) -> Result<Reading, FrontError> {
    let bytes = source.read()?;
    read_text(source, &bytes, options)
}

/// Reads a given text as a fabric, as if it were the content of `source`.
pub fn read_text(source: &Source, text: &[u8], options: &Options) -> Result<Reading, FrontError> {
    let platforms = texts(&options.platforms)?;
    Ok(read_from(source, text, &platforms, &options.levels))
}

/// Returns the built-in catalogue extended by the site's platforms.
pub fn catalogue(
    platforms: &[Utf8PathBuf],
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> Result<Catalogue, FrontError> {
    Ok(catalogue_of(&texts(platforms)?, sources, diagnostics))
}

/// Reads the platform files; returns their names and texts.
fn texts(platforms: &[Utf8PathBuf]) -> Result<Vec<(String, String)>, FrontError> {
    let files = platforms.iter().map(|path| yaml_files(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(files.into_iter().flatten().map(|(name, text)| (name.into_string(), text)).collect())
}

/// Reads a platform file, or all platform files of a folder. Each of the latter must be a regular file in the
/// folder, not a link to a file outside.
fn yaml_files(path: &Utf8Path) -> Result<Vec<(Utf8PathBuf, String)>, FrontError> {
    if !path.is_dir() {
        return Ok(vec![(path.to_owned(), closc_files::read_user_text(path, TEXT_MAX)?)]);
    }
    let names = closc_files::names_with(path, &["yaml", "yml"])?;
    let folder = closc_files::Folder::open(path)?;
    let read = |name: String| Ok((path.join(&name), folder.text(&name, TEXT_MAX)?));
    names.into_iter().map(read).collect()
}
