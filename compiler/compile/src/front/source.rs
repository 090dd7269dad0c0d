//! Sources of fabric text: a file, standard input, or a file in a Git revision.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::process::{Command, Stdio};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use closc_diagnostics::printable;
use closc_files::{Reason, TEXT_MAX};

use super::Origin;

/// Maximum size of Git's error output, in bytes.
const SAID_MAX: u64 = 16 << 10;

/// A source of fabric text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `-`, standard input.
    Stdin,
    /// A file.
    File(Utf8PathBuf),
    /// `git:REVISION:PATH`, a file in a Git revision.
    Revision {
        /// The revision.
        revision: String,
        /// The path in it, as `git show` accepts it.
        path: Utf8PathBuf,
    },
}

/// Reason why a source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file cannot be read.
    #[error("`{path}` cannot be read: {error}{}", revision(path))]
    File {
        /// Its path.
        path: Utf8PathBuf,
        /// The error returned by the system.
        error: io::Error,
    },
    /// The path of the fabric file is a folder.
    #[error("`{path}` is a folder: name a fabric file{}", match is_tree {
        true => format!(", or check the compiled tree with `closc verify {path}`"),
        false => format!("; it has no `{}`, so it is not a compiled tree", closc_artefacts::paths::MANIFEST),
    })]
    Folder {
        /// Its path.
        path: Utf8PathBuf,
        /// Whether it has a manifest.
        is_tree: bool,
    },
    /// Standard input cannot be read.
    #[error("cannot read standard input: {0}")]
    Stdin(io::Error),
    /// A file in a revision has an absolute path.
    #[error("`{0}` is an absolute path: after `git:REV:`, write the path from the top of the repository")]
    Absolute(String),
    /// The source does not name a file in a revision.
    #[error("`{0}` names no file of a revision: write `git:REV:PATH`")]
    Object(String),
    /// Git cannot be run.
    #[error("cannot run `git`, which reads revisions: {0}")]
    NoGit(io::Error),
    /// Git cannot find the file or revision.
    #[error("`{name}`: {reason}")]
    Git {
        /// The source.
        name: String,
        /// The error message of Git.
        reason: String,
    },
}

impl fmt::Display for Source {
    /// Formats the source as on a command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("-"),
            Source::File(path) => write!(f, "{path}"),
            Source::Revision { revision, path } => write!(f, "git:{revision}:{path}"),
        }
    }
}

impl Origin for Source {
    fn name(&self) -> String {
        self.to_string()
    }

    fn companion(&self, file: &str) -> (String, Result<String, String>) {
        (self.sibling(file).to_string(), self.text_beside(file))
    }
}

/// Returns advice for a name in Git's own notation, such as `HEAD:fabric.yaml`.
fn revision(path: &Utf8Path) -> String {
    match path.as_str().split_once(':') {
        Some((revision, file)) if !revision.is_empty() && !file.is_empty() => {
            format!("; for a file of a revision, write `git:{path}`")
        }
        _ => String::new(),
    }
}

impl Source {
    /// Parses a source from a command line.
    pub fn parse(text: &str) -> Result<Source, SourceError> {
        if text == "-" {
            return Ok(Source::Stdin);
        }
        let Some(object) = text.strip_prefix("git:") else { return Ok(Source::File(text.into())) };
        match object.split_once(':') {
            Some((_, path)) if path.starts_with('/') => Err(SourceError::Absolute(path.to_owned())),
            Some((revision, path)) if !revision.is_empty() && !path.is_empty() => {
                Ok(Source::Revision { revision: revision.to_owned(), path: path.into() })
            }
            Some(_) | None => Err(SourceError::Object(text.to_owned())),
        }
    }

    /// Reads the source. The limit here is far above the loader's limit on the size of a fabric file.
    pub fn read(&self) -> Result<Vec<u8>, SourceError> {
        match self {
            Source::Stdin => {
                closc_budget::read(io::stdin().take(TEXT_MAX), TEXT_MAX).map_err(SourceError::Stdin)
            }
            Source::File(path) if path.is_dir() => {
                let is_tree = path.join(closc_artefacts::paths::MANIFEST).is_file();
                Err(SourceError::Folder { path: path.clone(), is_tree })
            }
            Source::File(path) => {
                let read = File::open(path);
                read.and_then(|file| closc_budget::read(file.take(TEXT_MAX), TEXT_MAX))
                    .map_err(|error| SourceError::File { path: path.clone(), error })
            }
            Source::Revision { revision, path } => show(&self.to_string(), revision, path),
        }
    }

    /// Returns the source of a file that this one refers to by a path relative to its own folder.
    fn sibling(&self, file: &str) -> Source {
        match self {
            Source::Stdin => Source::File(file.into()),
            Source::File(path) => Source::File(path.with_file_name(file)),
            Source::Revision { revision, path } => {
                Source::Revision { revision: revision.clone(), path: path.with_file_name(file) }
            }
        }
    }

    /// Reads a file that this one refers to, in the same revision; or returns why it cannot be read.
    fn text_beside(&self, file: &str) -> Result<String, String> {
        let path = match self {
            Source::Stdin => Utf8Path::new("-"),
            Source::File(path) => path,
            Source::Revision { .. } => return self.sibling(file).read_relative(file),
        };
        closc_files::text_beside(path, file, TEXT_MAX).map_err(|error| error.reason.to_string())
    }

    /// Reads this source, which another file refers to as `file`. It must be beneath the folder of that file.
    fn read_relative(&self, file: &str) -> Result<String, String> {
        let stays =
            |part: Utf8Component<'_>| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
        if !Utf8Path::new(file).components().all(stays) {
            return Err(Reason::Outside.to_string());
        }
        let bytes = self.read().map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|_| Reason::NotText.to_string())
    }
}

/// Reads a file in a revision. Git is asked only for a blob, and is killed once its output exceeds the limit.
fn show(name: &str, revision: &str, path: &Utf8Path) -> Result<Vec<u8>, SourceError> {
    let fail = |reason: String| SourceError::Git { name: printable::line(name), reason };
    if printable::fault(name).is_some() {
        return Err(fail("a revision or path is one line of text".to_owned()));
    }
    let mut git = Command::new("git")
        .args(["cat-file", "blob", "--end-of-options", &format!("{revision}:{path}")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(SourceError::NoGit)?;
    let (out, err) = (git.stdout.take(), git.stderr.take());
    let read = out.map_or(Ok(Vec::new()), |out| closc_budget::read(out, TEXT_MAX));
    let too_large = read.as_ref().is_err_and(|error| closc_budget::exceeded_limit(error).is_some());
    if too_large {
        // Git may still be running.
        let _ = git.kill();
    }
    let said = err.and_then(|err| closc_budget::read(err.take(SAID_MAX), SAID_MAX).ok()).unwrap_or_default();
    let status = git.wait().map_err(SourceError::NoGit)?;
    match read {
        _ if too_large => Err(fail(Reason::TooLarge { max: TEXT_MAX }.to_string())),
        Err(error) => Err(fail(error.to_string())),
        Ok(bytes) if status.success() => Ok(bytes),
        Ok(_) => Err(fail(printable::lines(String::from_utf8_lossy(&said).trim()))),
    }
}
