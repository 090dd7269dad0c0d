//! Placement of violations: whether one of their places is a damaged line, and otherwise the distance.
//!
//! In: a file before and after damage, and the places of a report. Invariants: lines are compared with the file as it
//! would be rewritten without damage, so that only the damage differs. For a removed line, the neighbouring lines and
//! the first line of its block count, or the file itself if it was outside of blocks. For a repeated line, both copies
//! count.

use std::collections::BTreeSet;
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Memory, paths};
use closc_verify::Report;
use serde_json::{Map, Value};
use similar::{DiffOp, TextDiff};

use crate::generated::case::{canonical, write_json};

/// Placement of the violations of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// One of the places is a damaged line.
    Exact,
    /// The nearest place is this many lines away.
    Off(usize),
    /// None of the places is a line of a damaged file.
    Nowhere,
}

/// The damaged lines of a file, from 1; line 0 is the file itself.
type DamagedLines = (Utf8PathBuf, BTreeSet<usize>);

/// Compares the places of a report with the damaged lines of a tree.
pub(crate) fn placement(own: &Memory, tree: &Memory, report: &Report) -> Placement {
    let damaged: Vec<DamagedLines> = own.files.iter().filter_map(|file| damaged_lines(file, tree)).collect();
    let mut nearest = Placement::Nowhere;
    for violation in &report.violations {
        let traced = violation.trace.iter().filter_map(|step| step.place.as_ref());
        for place in std::iter::once(&violation.place).chain(&violation.others).chain(traced) {
            let Some((_, lines)) = damaged.iter().find(|(path, _)| *path == place.file) else { continue };
            let line = place.line.unwrap_or(0);
            let distances = lines.iter().filter(|near| (**near == 0) == (line == 0));
            let Some(off) = distances.map(|near| near.abs_diff(line)).min() else { continue };
            nearest = match (nearest, off) {
                (_, 0) => return Placement::Exact,
                (Placement::Off(known), off) => Placement::Off(known.min(off)),
                (Placement::Nowhere | Placement::Exact, off) => Placement::Off(off),
            };
        }
    }
    nearest
}

/// Returns the damaged lines of a file; `None` if the file is not damaged, or is removed.
fn damaged_lines((path, before): (&Utf8PathBuf, &Vec<u8>), tree: &Memory) -> Option<DamagedLines> {
    let after = tree.files.get(path).filter(|after| *after != before)?;
    let mut before = canonical(path, before);
    if path == paths::MANIFEST {
        before = copy_digests(&before, after);
    }
    // The comma of a JSON row depends on the next row.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(",\n", "\n");
    let (before, after) = (text(&before), text(after));
    let diff = TextDiff::from_lines(&*before, &*after);
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut lines = BTreeSet::new();
    for op in diff.ops() {
        match *op {
            DiffOp::Equal { .. } => {}
            DiffOp::Delete { old_index, new_index, .. } => {
                lines.extend(nearest_lines(old.get(old_index)?, &new, new_index));
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                lines.extend(copies(&new, new_index..new_index + new_len).map(|at| at + 1));
            }
            DiffOp::Replace { new_index, new_len, .. } => {
                lines.extend(new_index + 1..=new_index + new_len);
            }
        }
    }
    (!lines.is_empty()).then(|| (path.clone(), lines))
}

/// Returns the manifest with the digests of another one, because digests follow damage in other files.
fn copy_digests(manifest: &[u8], other: &[u8]) -> Vec<u8> {
    let [mut own, other] = [manifest, other]
        .map(|bytes| serde_json::from_slice::<Map<String, Value>>(bytes).expect("the manifest is JSON"));
    own.extend(other.into_iter().filter(|(name, _)| name == "files"));
    write_json(Utf8Path::new(paths::MANIFEST), &Value::Object(own))
}

/// Returns the lines that count for a removed line: the nearest statements, and the first line of its block.
fn nearest_lines(removed: &str, new: &[&str], at: usize) -> Vec<usize> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let states = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with(['#', '!']);
    let own = depth(removed);
    let after = (at..new.len()).find(|at| states(&new[*at]));
    let before = (0..at).rev().find(|at| states(&new[*at]));
    let block = (0..at).rev().find(|at| states(&new[*at]) && depth(new[*at]) < own);
    let lines = [after, before, block].into_iter().flatten().map(|at| at + 1);
    lines.chain((own == 0).then_some(0)).collect()
}

/// Returns the added lines, and equal lines directly before or after them.
fn copies(new: &[&str], added: Range<usize>) -> Range<usize> {
    let count = added.len();
    let own = &new[added.clone()];
    let before = added.start.checked_sub(count).filter(|start| new[*start..added.start] == *own);
    let after = new.get(added.end..added.end + count).filter(|lines| *lines == own);
    before.unwrap_or(added.start)..if after.is_some() { added.end + count } else { added.end }
}

/// Returns the kind of file of a section: its first word, without the table.
pub(crate) fn file_kind(section: &str) -> &str {
    match section.split_once(' ') {
        Some((file, rest)) if file.contains('.') && !rest.ends_with("of nodes") => file,
        Some(("manifest.json", _)) => "manifest.json",
        _ => section,
    }
}

/// Returns whether a file has lines that people read.
pub(crate) fn has_lines(section: &str) -> bool {
    section != "path tables (binary)"
}

#[test]
fn lines_are_named_by_what_is_damaged() {
    let path = Utf8Path::new("switches/a/frr.conf");
    let lines = |before: &str, after: &str| {
        let tree = Memory { files: [(path.to_owned(), after.as_bytes().to_vec())].into() };
        let found = damaged_lines((&path.to_owned(), &before.as_bytes().to_vec()), &tree);
        found.map(|(_, lines)| lines.into_iter().collect::<Vec<_>>()).unwrap_or_default()
    };
    let text = "a\n b\n c\nd\n e\n";
    assert_eq!(lines(text, "a\n b\n x\nd\n e\n"), [3], "a changed line");
    assert_eq!(lines(text, "a\n c\nd\n e\n"), [1, 2], "its neighbours and its block");
    assert_eq!(lines(text, "a\n b\n c\nd\n"), [4], "the last line of a block");
    assert_eq!(lines(text, "a\n b\n c\n e\n"), [0, 3, 4], "a line of no block is one of the file");
    assert_eq!(lines(text, "a\n b\n b\n c\nd\n e\n"), [2, 3], "a line and its copy");
    assert_eq!(lines(text, "a\n b\n c\nd\n e\nf\n"), [6], "an added line");
}
