//! Runs every case of `tests/cases`: compiles a fabric file and compares every artefact byte for byte.
//!
//! `CLOSC_BLESS=1` replaces the expected files with the actual ones; review them before you commit. A case that is
//! too large to store has a `hashes.txt` with one line per file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Place, root};

/// Reads the files below a folder, by path.
fn read(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten() {
            let path = entry.expect("a folder of the test can be read").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it lies below").display().to_string();
                files.insert(name, fs::read(&path).expect("a file of the test can be read"));
            }
        }
    }
    files
}

fn hashes(files: &BTreeMap<String, Vec<u8>>) -> String {
    files.iter().fold(String::new(), |mut text, (name, bytes)| {
        let _ = writeln!(text, "{} {:>8} {name}", blake3::hash(bytes).to_hex(), bytes.len());
        text
    })
}

fn compile(case: &Path) -> BTreeMap<String, Vec<u8>> {
    let place = Place::new();
    let tree = place.text("tree");
    let mut command = place.command(&["compile", "--quiet", "topology.yaml", "--out", &tree]);
    let run = command.current_dir(case).output().expect("closc runs");
    assert!(run.status.success(), "{}: {}", case.display(), String::from_utf8_lossy(&run.stderr));
    read(Path::new(&tree))
}

fn check(case: &Path) {
    let came_out = compile(case);
    let (expected, list) = (case.join("expected"), case.join("hashes.txt"));
    let bless = std::env::var_os("CLOSC_BLESS").is_some();
    if list.exists() {
        if bless {
            fs::write(&list, hashes(&came_out)).expect("the case can be written");
        }
        let kept = fs::read_to_string(&list).expect("the case can be read");
        assert_eq!(hashes(&came_out), kept, "{}: a file differs", case.display());
        return;
    }
    if bless {
        let _ = fs::remove_dir_all(&expected);
        for (name, bytes) in &came_out {
            let place = expected.join(name);
            fs::create_dir_all(place.parent().expect("it has a folder")).expect("the case can be written");
            fs::write(place, bytes).expect("the case can be written");
        }
    }
    let kept = read(&expected);
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&came_out), names(&kept), "{}: other files came out", case.display());
    for (name, bytes) in &came_out {
        let same = bytes == &kept[name];
        assert!(same, "{}/expected/{name} differs; CLOSC_BLESS=1 writes it anew", case.display());
    }
}

#[test]
fn every_case_gives_what_is_expected() {
    let mut cases: Vec<PathBuf> = fs::read_dir(root().join("tests/cases"))
        .expect("the cases are in the tree")
        .map(|entry| entry.expect("the cases can be read").path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    assert!(cases.len() >= 5, "only {} cases", cases.len());
    for case in cases {
        assert!(case.join("README.md").is_file(), "{} has no README.md", case.display());
        check(&case);
    }
}
