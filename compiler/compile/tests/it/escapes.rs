//! No name in a manifest leads out of its tree, and only regular files in the tree are read.
//!
//! In: names that are passed to every reader of files. Out: none of the files is read, whether or not a
//! manifest may list the name.

use std::collections::BTreeMap;

use camino::Utf8Path;
use closc_artefacts::{Entry, Files as _, Manifest, ManifestError, Routing};
use closc_compile::Folder;

use crate::support::{Place, SECRET, escapes};

/// Reads a manifest that lists one file.
fn manifest(name: &str) -> Result<Manifest, ManifestError> {
    let files = BTreeMap::from([(name.into(), Entry::of(SECRET.as_bytes()))]);
    Manifest::parse(&Manifest { files, ..Manifest::new("f", Routing::Srv6Static) }.to_bytes())
}

#[test]
fn no_name_in_a_manifest_leaves_its_tree() {
    let place = Place::new();
    let names = escapes(&place);
    assert!(names.len() >= 500, "{}", names.len());
    let tree = Folder::new(place.root.join("fabric"));
    manifest("pins.csv").expect("an honest name");
    let mut listed = 0;
    for name in &names {
        listed += usize::from(manifest(name).is_ok());
        assert!(tree.read(name).is_err(), "`{name}` was read");
        let mut bytes = Vec::new();
        assert!(tree.read_into(Utf8Path::new(name), &mut bytes).is_err(), "`{name}` was read");
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "`{name}`");
    }
    // Links and pipes have plain names. Their targets are rejected when they are read.
    assert!(listed < names.len(), "{listed} of {}", names.len());
    println!("{} names: {listed} may be listed, 0 are read", names.len());
}
