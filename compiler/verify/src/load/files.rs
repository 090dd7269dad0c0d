//! Access to the files of a tree. Every file that is read is counted and compared with the manifest.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use camino::Utf8Path;
use closc_artefacts::json_keys::{RepeatedKey, repeated_keys};
use closc_artefacts::paths::{HOSTS, MANIFEST};
use closc_artefacts::{Entry, FILE_MAX, Files as Source, Manifest};

use crate::error::VerifyError;
use crate::finding::{Findings, Violation};
use crate::model::place::{Fact, Place};
use crate::read::error::ReadError;
use crate::read::language_reader::FILES_MAX;
use crate::rules::files::{DIGEST, KEYS, KNOWN, PARSES};

/// Maximum number of repeated keys that are reported per file.
const REPEATED_MAX: usize = 4;

/// The files of a tree.
pub(crate) struct Files<'a> {
    pub(crate) tree: &'a dyn Source,
    pub(crate) manifest: &'a Manifest,
    pub(crate) digests: bool,
    /// Hashes of the paths that were read.
    pub(crate) read_paths: Mutex<HashSet<u64>>,
    pub(crate) count: AtomicU64,
    pub(crate) bytes: AtomicU64,
}

impl<'a> Files<'a> {
    /// Wraps a tree, without reading any file.
    pub(crate) fn new(tree: &'a dyn Source, manifest: &'a Manifest, digests: bool) -> Self {
        let (count, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { tree, manifest, digests, read_paths: Mutex::default(), count, bytes }
    }
}

impl Files<'_> {
    /// Returns whether any node has a file. Usually no node of a large fabric has one, and then single nodes need not
    /// be searched.
    pub(crate) fn has_nodes(&self) -> bool {
        self.manifest.files_below(Utf8Path::new(HOSTS)).next().is_some()
    }

    /// Returns whether a reader has read a file.
    pub(crate) fn was_read(&self, path: &Utf8Path) -> bool {
        self.read_paths.lock().unwrap_or_else(PoisonError::into_inner).contains(&number(path))
    }

    /// Reads a file into a buffer. Returns false if the manifest does not list the file. If a listed file is missing or
    /// too long, reports it and returns false.
    pub(crate) fn read(
        &self,
        path: &Utf8Path,
        into: &mut Vec<u8>,
        findings: &mut Findings,
    ) -> Result<bool, VerifyError> {
        let Some(entry) = self.manifest.files.get(path) else { return Ok(false) };
        self.read_paths.lock().unwrap_or_else(PoisonError::into_inner).insert(number(path));
        // A file longer than the listed size cannot be the listed one. Without digest checks, it may have been edited.
        let limit = if self.digests { entry.size } else { FILE_MAX };
        if let Err(source) = self.tree.read_within(path, limit, into) {
            if source.kind() == std::io::ErrorKind::FileTooLarge {
                findings.count_facts(&DIGEST, 1);
                let message = format!("`{path}` {}", over(&source, limit));
                findings.report(Violation::new(&DIGEST, Place::file(path), message));
                return Ok(false);
            }
            if source.kind() != std::io::ErrorKind::NotFound {
                return Err(VerifyError::Read { path: path.to_owned(), source });
            }
            findings.count_facts(&DIGEST, 1);
            let message = format!("`{path}` is listed, but missing");
            findings.report(Violation::new(&DIGEST, Place::file(path), message));
            return Ok(false);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(into.len() as u64, Ordering::Relaxed);
        if self.digests {
            digest(path, into, entry, findings);
        }
        if path.extension() == Some("json") {
            check_keys(path, into, findings);
        }
        Ok(true)
    }
}

/// Returns the message for a file that exceeds the limit: the listed size, or the maximum for all files.
fn over(source: &std::io::Error, listed: u64) -> String {
    if listed >= FILE_MAX {
        source.to_string()
    } else {
        format!("has more than the {listed} bytes that are listed")
    }
}

/// Checks the bytes of a file against the manifest.
fn digest(path: &Utf8Path, bytes: &[u8], entry: &Entry, findings: &mut Findings) {
    let fits = entry.size == bytes.len() as u64 && blake3::hash(bytes).to_hex().as_str() == entry.blake3;
    findings.expect(fits, &DIGEST, || {
        let message = format!("`{path}` is not the file that `{MANIFEST}` states");
        let listed = Place::text(MANIFEST, vec![format!("\"{path}\":")]);
        Violation::new(&DIGEST, Place::file(path), message).and(listed)
    });
}

/// Checks that keys occur once in each object of a JSON file. Readers keep only one of the values, usually the last.
fn check_keys(path: &Utf8Path, bytes: &[u8], findings: &mut Findings) {
    findings.count_facts(&KEYS, 1);
    for RepeatedKey { path: mut keys, previous_line, line } in repeated_keys(bytes, REPEATED_MAX) {
        let key = keys.pop().unwrap_or_default();
        let object = if keys.is_empty() { String::new() } else { format!(" of `{}`", keys.join("/")) };
        let message = format!("key `{key}`{object} occurs twice in one object");
        let violation = Violation::new(&KEYS, Place::line(path, line), message);
        findings.report(violation.and(Place::line(path, previous_line)));
    }
}

/// Hashes a path. Hashes save memory, because there are hundreds of thousands of paths.
fn number(path: &Utf8Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.as_str().hash(&mut hasher);
    hasher.finish()
}

/// Reports a file that does not parse.
pub(crate) fn unreadable(path: &Utf8Path, error: &ReadError, findings: &mut Findings) {
    let rule = if error.unknown { &KNOWN } else { &PARSES };
    findings.count_facts(rule, 1);
    let path = &error.file.map_or_else(|| path.to_owned(), |file| path.with_file_name(file));
    let place = match error.line {
        Some(line) => Place::line(path, line),
        None if error.path.is_empty() => Place::file(path),
        None => Place::of(path, Fact::Path(error.path.clone())),
    };
    findings.report(Violation::new(rule, place, format!("`{path}`: {}", error.message)));
}

thread_local! {
    /// Buffers of a thread, reused for all files.
    pub(crate) static BUFFERS: RefCell<[Vec<u8>; FILES_MAX]> = const { RefCell::new([const { Vec::new() }; FILES_MAX]) };
}
