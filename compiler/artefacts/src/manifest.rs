//! `manifest.json`: the files of the tree with their digests.
//!
//! Invariants: files are sorted by path, without times, host names or absolute paths, so the same source gives the same
//! bytes. A parsed manifest lists only paths inside the tree.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::files::Files;
use crate::json_keys::{RepeatedKey, repeated_keys};
use crate::paths::{MANIFEST, is_inside};
use crate::profile::StatedValues;
use crate::release::Release;
use crate::routing::Routing;

/// Version of the format.
pub const FORMAT: &str = "closc-manifest/1";

/// Maximum size of a manifest in bytes: twice that of the largest fabric.
pub const MANIFEST_MAX: u64 = 128 << 20;

/// The manifest. Fields that readers do not need are optional.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format.
    pub format: String,
    /// Version of closc.
    #[serde(default)]
    pub closc: String,
    /// Name of the fabric.
    pub fabric: String,
    /// Routing mode.
    pub routing: Routing,
    /// BLAKE3 of the parsed fabric file, which does not depend on comments and the order of keys.
    #[serde(default)]
    pub source: String,
    /// BLAKE3 of the inputs of rendering, without exceptions and single pins.
    #[serde(default)]
    pub inputs: String,
    /// The part of the fabric that was compiled: `shard=3/8`, or terms of `--select`; absent for the complete fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// Contents of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<StatedPart>,
    /// Counts of the fabric.
    #[serde(default)]
    pub counts: Counts,
    /// Planes that are not built yet. They have no switches, cables or cable lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_planes: Vec<u8>,
    /// Values that readers of the tree need to check its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<StatedValues>,
    /// Names and planes of switches without any cable, which are not in the cable lists.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub uncabled: BTreeMap<String, u8>,
    /// The release: order and expiry of the tree, if its signer set them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
    /// All other files of the tree, except the signature.
    pub files: BTreeMap<Utf8PathBuf, Entry>,
}

/// Contents of a part of a fabric.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedPart {
    /// Complete planes, with every switch and cable.
    pub planes: Vec<u8>,
    /// Number of T0 switches.
    pub t0: u64,
    /// Number of T1 switches.
    pub t1: u64,
    /// Number of T2 switches.
    pub t2: u64,
    /// T0 groups whose path tables and nodes are in the part.
    pub groups: Vec<GroupRun>,
    /// Number of NICs in these groups.
    pub nics: u64,
}

/// A range of consecutive T0 groups in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupRun {
    /// The zone, from 0.
    pub zone: u16,
    /// The first group, from 1.
    pub first: u16,
    /// The last group.
    pub last: u16,
}

/// A file of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Size in bytes.
    pub size: u64,
    /// BLAKE3 of the bytes.
    pub blake3: String,
}

impl Entry {
    /// Creates the entry for the contents of a file.
    pub fn of(bytes: &[u8]) -> Entry {
        Entry { size: bytes.len() as u64, blake3: blake3::hash(bytes).to_string() }
    }

    /// Returns whether bytes match the entry.
    pub fn fits(&self, bytes: &[u8]) -> bool {
        self.size == bytes.len() as u64 && *self.blake3 == *blake3::hash(bytes).to_hex()
    }
}

/// Counts of a fabric, after exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Number of planes.
    pub planes: u64,
    /// Number of zones.
    pub zones: u64,
    /// Number of NICs.
    pub nics: u64,
    /// Number of nodes with at least one NIC.
    pub nodes: u64,
    /// Number of T0 switches.
    pub t0: u64,
    /// Number of T1 switches.
    pub t1: u64,
    /// Number of T2 switches.
    pub t2: u64,
    /// Number of cables between NICs and T0s.
    pub host_links: u64,
    /// Number of cables between switches.
    pub fabric_links: u64,
    /// Number of paths between two NICs of the same T0 group. The numbers of paths are those of planes that exist, if
    /// nothing in them is absent.
    pub paths_local: u64,
    /// Number of paths between two NICs of different groups of one zone. With `srv6-static`, these are the paths that
    /// hosts can choose. Otherwise, these are all shortest paths: each way up combined with each way down.
    pub paths_zone: u64,
    /// Number of paths between two NICs of different zones; 0 with one zone.
    pub paths_far: u64,
}

impl Counts {
    /// Returns the number of switches of all tiers.
    pub fn switches(&self) -> u64 {
        self.t0 + self.t1 + self.t2
    }
}

/// Reason why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The manifest is missing, so this is not a tree.
    #[error("`{MANIFEST}` is missing: this is not an artefact tree")]
    Missing,
    /// The manifest cannot be read.
    #[error("cannot read `{MANIFEST}`: {0}")]
    Read(io::Error),
    /// The contents are invalid.
    #[error("`{MANIFEST}` does not parse: {0}")]
    Parse(serde_json::Error),
    /// A key occurs twice in one object, so the text has no single meaning.
    #[error("`{MANIFEST}` has the key `{key}` twice in one object, in lines {previous_line} and {line}")]
    Repeated {
        /// The key.
        key: String,
        /// Line of the first occurrence.
        previous_line: usize,
        /// Line of the second occurrence.
        line: usize,
    },
    /// The version of the format is unknown.
    #[error("unknown format `{0}` of a manifest")]
    Format(String),
    /// The manifest lists a path that cannot be a file of the tree.
    #[error("`{MANIFEST}` lists `{0}`, which is not a path inside the tree")]
    Outside(Utf8PathBuf),
}

impl Manifest {
    /// Creates a manifest without files, with the version of this program.
    pub fn new(fabric: impl Into<String>, routing: Routing) -> Manifest {
        Manifest {
            format: FORMAT.to_owned(),
            closc: env!("CARGO_PKG_VERSION").to_owned(),
            fabric: fabric.into(),
            routing,
            source: String::new(),
            inputs: String::new(),
            selection: None,
            part: None,
            counts: Counts::default(),
            profile: None,
            absent_planes: Vec::new(),
            uncabled: BTreeMap::new(),
            release: None,
            files: BTreeMap::new(),
        }
    }

    /// Reads the manifest of a tree.
    pub fn read(files: &dyn Files) -> Result<Manifest, ManifestError> {
        let mut bytes = Vec::new();
        files.read_within(Utf8Path::new(MANIFEST), MANIFEST_MAX, &mut bytes).map_err(|error| match error
            .kind()
        {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ManifestError::Missing,
            _ => ManifestError::Read(error),
        })?;
        Manifest::parse(&bytes)
    }

    /// Parses a manifest.
    pub fn parse(bytes: &[u8]) -> Result<Manifest, ManifestError> {
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(|error| {
            // A later format may have other fields, so report the unknown format instead of an unknown field.
            match serde_json::from_slice::<Form>(bytes) {
                Ok(form) if form.format != FORMAT => ManifestError::Format(form.format),
                Ok(_) | Err(_) => ManifestError::Parse(error),
            }
        })?;
        if manifest.format != FORMAT {
            return Err(ManifestError::Format(manifest.format));
        }
        if let Some(RepeatedKey { mut path, previous_line, line }) = repeated_keys(bytes, 1).pop() {
            let key = path.pop().unwrap_or_default();
            return Err(ManifestError::Repeated { key, previous_line, line });
        }
        match manifest.files.keys().find(|path| !is_inside(path)) {
            Some(path) => Err(ManifestError::Outside(path.clone())),
            None => Ok(manifest),
        }
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a manifest has only string keys");
        bytes.push(b'\n');
        bytes
    }

    /// Returns the files of a folder, grouped by sub-folder.
    pub fn folders(&self, parent: &str) -> BTreeMap<&str, Vec<&Utf8Path>> {
        let mut folders: BTreeMap<&str, Vec<&Utf8Path>> = BTreeMap::new();
        for path in self.files.keys() {
            let mut parts = path.iter();
            if let (Some(first), Some(folder), Some(_)) = (parts.next(), parts.next(), parts.next())
                && first == parent
            {
                folders.entry(folder).or_default().push(path);
            }
        }
        folders
    }

    /// Returns the files below a folder.
    pub fn files_below<'a>(&'a self, folder: &'a Utf8Path) -> impl Iterator<Item = &'a Utf8Path> {
        let from = self.files.range::<Utf8Path, _>((Bound::Included(folder), Bound::Unbounded));
        from.map(|(path, _)| path.as_path()).take_while(move |path| path.starts_with(folder))
    }

    /// Returns the files directly in a folder whose names end in `.ending`.
    pub fn files_in<'a>(&'a self, parent: &'a str, ending: &'a str) -> impl Iterator<Item = &'a Utf8Path> {
        self.files.keys().map(Utf8PathBuf::as_path).filter(move |path| {
            path.parent() == Some(Utf8Path::new(parent)) && path.extension() == Some(ending)
        })
    }
}

/// Fields that all versions of the format have.
#[derive(Deserialize)]
struct Form {
    format: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(path: &str) -> Manifest {
        let files = BTreeMap::from([(path.into(), Entry::of(b"x"))]);
        Manifest { files, ..Manifest::new("f", Routing::Srv6Static) }
    }

    #[test]
    fn what_is_written_is_read() {
        let manifest = manifest("switches/a/ip.batch");
        assert_eq!(Manifest::parse(&manifest.to_bytes()).unwrap(), manifest);
        assert!(manifest.files[Utf8Path::new("switches/a/ip.batch")].fits(b"x"));
    }

    #[test]
    fn paths_outside_the_tree_are_refused() {
        let error = Manifest::parse(&manifest("../../etc/shadow").to_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`manifest.json` lists `../../etc/shadow`, which is not a path inside the tree"
        );
    }

    #[test]
    fn a_later_form_is_named() {
        let error = Manifest::parse(br#"{"format": "closc-manifest/9", "files": []}"#).unwrap_err();
        assert_eq!(error.to_string(), "unknown format `closc-manifest/9` of a manifest");
    }
}
