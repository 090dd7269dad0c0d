//! Finds files that an earlier export left in a folder.
//!
//! In: a folder, and the files that were just written. Out: other files. Invariants: files are never removed, because
//! they may not be from an export. All files in the subfolders that the export wrote to are reported; in the folder
//! itself, only files with names like the written ones.

use std::collections::BTreeSet;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::output;

/// Maximum number of directory entries that are examined: more than any export writes.
const ENTRIES_MAX: usize = 1_000_000;

/// Maximum number of names in the message.
const SHOWN: usize = 3;

/// Finds the files next to those that were written.
pub(super) fn find(out: &Utf8Path, written: &[String]) -> io::Result<Vec<String>> {
    let written: BTreeSet<&Utf8Path> = written.iter().map(Utf8Path::new).collect();
    let mut folders = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for file in &written {
        let Ok(below) = file.strip_prefix(out) else { continue };
        match (below.components().next(), below.components().count()) {
            (Some(first), 2..) => _ = folders.insert(out.join(first)),
            _ => kinds.extend(file.file_name().map(kind)),
        }
    }
    let mut found = Vec::new();
    let mut looked_at = 0;
    if !kinds.is_empty() {
        for entry in out.read_dir_utf8()?.take(ENTRIES_MAX) {
            let entry = entry?;
            let is_other = entry.file_type()?.is_file() && !written.contains(entry.path());
            if is_other && kinds.contains(&kind(entry.file_name())) {
                found.push(entry.path().to_string());
            }
        }
    }
    let mut waiting: Vec<Utf8PathBuf> = folders.into_iter().collect();
    while let Some(folder) = waiting.pop() {
        for entry in folder.read_dir_utf8()? {
            let entry = entry?;
            looked_at += 1;
            if looked_at > ENTRIES_MAX {
                return Ok(found);
            }
            match entry.file_type()? {
                kind if kind.is_dir() => waiting.push(entry.into_path()),
                _ if !written.contains(entry.path()) => found.push(entry.into_path().into_string()),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the kind of a file name, with `#` for each number. `a-1.csv` and `a-12.csv` have the same kind;
/// `links.csv` and `links-3.csv` have different ones. For a name with two extensions, such as `pod.clab.yml`,
/// the kind consists of the extensions.
fn kind(name: &str) -> String {
    if let Some((_, endings)) = name.split_once('.')
        && endings.contains('.')
    {
        return format!("*.{endings}");
    }
    let mut kind = String::new();
    for letter in name.chars() {
        match letter.is_ascii_digit() {
            true if kind.ends_with('#') => {}
            true => kind.push('#'),
            false => kind.push(letter),
        }
    }
    kind
}

/// Prints a note about the leftovers.
pub(super) fn say(others: &[String]) {
    if others.is_empty() {
        return;
    }
    let shown: Vec<String> = others.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if others.len() > SHOWN { ", ..." } else { "" };
    output::say(format_args!(
        "note: {} from earlier exports or other programs: {}{more}; remove obsolete ones, because readers of the folder also read them",
        if others.len() == 1 { "a file is".to_owned() } else { format!("{} files are", others.len()) },
        shown.join(", ")
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_smaller_fabric_does_not_write_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let out = Utf8Path::from_path(folder.path()).unwrap();
        for file in [
            "cables/a-0.csv",
            "cables/a-1.csv",
            "ns3/plane-1/x",
            "links.csv",
            "notes.txt",
            "links-2.csv",
            "links-3.csv",
        ] {
            let place = out.join(file);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, "").unwrap();
        }
        let written =
            |files: &[&str]| files.iter().map(|file| out.join(file).to_string()).collect::<Vec<_>>();
        let found = |files: &[&str]| find(out, &written(files)).unwrap();
        assert_eq!(found(&["cables/a-0.csv"]), written(&["cables/a-1.csv"]));
        assert_eq!(found(&["cables/a-0.csv", "cables/a-1.csv"]), [""; 0]);
        assert_eq!(found(&["links.csv"]), [""; 0], "foreign files beside it stay");
        assert_eq!(found(&["links-2.csv"]), written(&["links-3.csv"]));
        assert_eq!(kind("pod.clab.yml"), kind("tri.clab.yml"));
    }
}
