//! Finds lines in YAML that consists of block mappings, with one key per line.
//!
//! In: a text and a path of keys. Out: the lines of these keys. Invariants: values are not interpreted, so lines are
//! also found in a text with errors.

use std::ops::Range;

use crate::model::place::Step;

/// A line with a key.
struct Entry<'t> {
    offset: usize,
    indent: usize,
    key: &'t str,
    value: &'t str,
}

/// Returns the offset of the key at a path. If the key is missing, returns the offset of the innermost enclosing key
/// that exists.
pub(crate) fn find(text: &str, path: &[Step]) -> Option<usize> {
    let entries = entries(text);
    descend(&entries, path).0.map(|at| entries[at].offset)
}

/// Returns the value at a path, if it is on the line of its key.
pub(crate) fn get<'t>(text: &'t str, path: &[Step]) -> Option<&'t str> {
    let entries = entries(text);
    let (at, _, missing) = descend(&entries, path);
    at.filter(|_| !missing).map(|at| entries[at].value)
}

/// Returns the keys at any depth below a path that have a value on their line.
pub(crate) fn leaves(text: &str, path: &[Step]) -> Vec<String> {
    let entries = entries(text);
    let (_, below, missing) = descend(&entries, path);
    let own = |at: &usize| !missing && !entries[*at].value.is_empty();
    below.filter(own).map(|at| entries[at].key.to_owned()).collect()
}

/// Returns the keys directly below a path.
pub(crate) fn keys(text: &str, path: &[Step]) -> Vec<String> {
    let entries = entries(text);
    let (_, below, missing) = descend(&entries, path);
    let indent = entries.get(below.start).filter(|_| !missing).map(|first| first.indent);
    below.filter(|at| Some(entries[*at].indent) == indent).map(|at| entries[at].key.to_owned()).collect()
}

/// Replaces each `*` in a path with the existing keys, and returns the resulting paths.
pub(crate) fn paths(text: &str, path: &[Step]) -> Vec<Vec<Step>> {
    let mut found: Vec<Vec<Step>> = vec![Vec::new()];
    for step in path {
        found = found
            .into_iter()
            .flat_map(|head| {
                let steps = match step {
                    Step::Key(key) if key == "*" => keys(text, &head).into_iter().map(Step::Key).collect(),
                    step => vec![step.clone()],
                };
                steps.into_iter().map(move |step| [head.as_slice(), &[step]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    found
}

/// Returns the innermost existing entry on a path, the entries below it, and whether a part of the path is missing.
fn descend(entries: &[Entry<'_>], path: &[Step]) -> (Option<usize>, Range<usize>, bool) {
    let (mut at, mut below) = (None, 0..entries.len());
    for step in path {
        let Some(indent) = entries.get(below.start).filter(|_| !below.is_empty()).map(|first| first.indent)
        else {
            return (at, below, true);
        };
        let Some(found) =
            below.clone().find(|at| entries[*at].indent == indent && step.fits(entries[*at].key))
        else {
            return (at, below, true);
        };
        let end = (found + 1..below.end).find(|at| entries[*at].indent <= indent).unwrap_or(below.end);
        at = Some(found);
        below = found + 1..end;
    }
    (at, below, false)
}

/// Returns the lines with a key. The dash of a list item counts as white space.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut offset = 0;
    let mut all = Vec::new();
    for line in text.split_inclusive('\n') {
        let body = line.trim_start_matches([' ', '-']);
        let split = match body.strip_prefix('\'') {
            Some(quoted) => {
                quoted.split_once('\'').and_then(|(key, rest)| Some((key, rest.strip_prefix(':')?)))
            }
            None => body.split_once(':'),
        };
        if let Some((key, value)) = split.filter(|_| !body.starts_with('#')) {
            let indent = line.len() - body.len();
            all.push(Entry { offset, indent, key, value: value.trim().trim_matches(['\'', '"']) });
        }
        offset += line.len();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# a: comment\n- set:\n    a:\n      'x:1':\n        low: 1\n        high: 2\n    b:\n      x: 'y'\n";

    fn line(path: &[&str]) -> Option<usize> {
        let path: Vec<Step> = path.iter().map(|key| Step::from(*key)).collect();
        find(TEXT, &path).map(|at| TEXT[..at].lines().count() + 1)
    }

    #[test]
    fn keys_are_found_by_their_path() {
        assert_eq!(line(&["set", "a", "x:1", "high"]), Some(6));
        assert_eq!(line(&["set", "b", "x"]), Some(8));
        assert_eq!(line(&["set", "b", "low"]), Some(7), "a missing key is missing from its mapping");
        assert_eq!(line(&["set", "c"]), Some(2));
        assert_eq!(line(&["unset"]), None);
    }

    #[test]
    fn values_and_leaves_are_those_of_a_path() {
        let path = |path: &[&str]| path.iter().map(|key| Step::from(*key)).collect::<Vec<_>>();
        assert_eq!(get(TEXT, &path(&["set", "b", "x"])), Some("y"));
        assert_eq!(get(TEXT, &path(&["set", "b", "y"])), None);
        assert_eq!(leaves(TEXT, &path(&["set", "a", "x:1"])), ["low", "high"]);
        assert!(leaves(TEXT, &path(&["set", "c"])).is_empty());
        assert_eq!(keys(TEXT, &path(&["set"])), ["a", "b"]);
        assert_eq!(
            paths(TEXT, &path(&["set", "*", "x"])),
            [path(&["set", "a", "x"]), path(&["set", "b", "x"])]
        );
        assert!(keys(TEXT, &path(&["set", "b", "x"])).is_empty());
        assert!(keys(TEXT, &path(&["set", "c"])).is_empty());
    }
}
