//! Compares two compiled trees by their manifests, and shows what differs inside files.
//!
//! In: lists of files with digests, and a way to read a file. Out: lines of a report. Invariants: files with
//! equal digests are not read. The same difference on many devices is one line. If there are many files of a
//! kind, only the first ones are compared in detail, unless `--list` is given.

mod config;
mod csv;
mod entries;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use closc_diagnostics::figures::number;

use crate::report::{FORMAT, Impact, Line, Options, Report, Side, Sign};
use crate::touched_artefacts::Artefacts;
use crate::words::{names, plural};

/// Number of files of a kind that are compared in detail if `--list` is not given.
const LOOKED_INTO: usize = 32;

/// The digests of a tree's files by path.
pub type Files<'a> = BTreeMap<&'a str, &'a str>;

/// One of the two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeSide {
    /// The tree before.
    Old,
    /// The tree after.
    New,
}

/// Reads a file of a tree.
pub type FileReader<'a, E> = dyn Fn(TreeSide, &str) -> Result<Vec<u8>, E> + 'a;

/// Two trees to compare, and how to read them.
pub struct Trees<'a, E> {
    /// Files of the tree before.
    pub old: Files<'a>,
    /// Files of the tree after.
    pub new: Files<'a>,
    /// Reads a file of a tree.
    pub read: &'a FileReader<'a, E>,
}

/// Compares two trees.
pub fn compare<E>(
    trees: &Trees<'_, E>,
    old: Side,
    new: Side,
    options: Options,
    texts: bool,
) -> Result<Report, E> {
    let mut by_kind: BTreeMap<(String, String), Kind<'_>> = BTreeMap::new();
    let paths: BTreeSet<&str> = trees.old.keys().chain(trees.new.keys()).copied().collect();
    for path in paths {
        let (folder, device, file) = split(path);
        let kind = by_kind.entry((folder.to_owned(), file.to_owned())).or_default();
        match (trees.old.get(path), trees.new.get(path)) {
            (Some(a), Some(b)) if a == b => kind.unchanged += 1,
            (Some(_), Some(_)) => kind.changed.push((path, device)),
            (Some(_), None) => kind.removed.push(device),
            (None, Some(_)) => kind.added.push(device),
            (None, None) => {}
        }
    }
    let mut changes = Vec::new();
    let mut artefacts = Vec::new();
    let mut found = Vec::new();
    for ((folder, file), kind) in &by_kind {
        if kind.added.is_empty() && kind.changed.is_empty() && kind.removed.is_empty() {
            continue;
        }
        let subject =
            if file.starts_with('.') { format!("{folder}/*{file}") } else { format!("{folder}/{file}") };
        artefacts.push(kind.count(&subject));
        changes.extend(kind.population(&subject, options));
        changes.extend(inside(trees, &subject, file, &kind.changed, options)?);
        if texts {
            for (path, _) in &kind.changed {
                let (a, b) = ((trees.read)(TreeSide::Old, path)?, (trees.read)(TreeSide::New, path)?);
                found.extend(text::unified_diff(path, &a, &b));
            }
        }
    }
    Ok(Report {
        format: FORMAT.to_owned(),
        old,
        new,
        changes,
        impact: Impact::default(),
        rollout: None,
        waves: Vec::new(),
        no_waves: None,
        touched: Vec::new(),
        artefacts,
        texts: found,
    })
}

/// The files of one kind.
#[derive(Default)]
struct Kind<'a> {
    added: Vec<&'a str>,
    removed: Vec<&'a str>,
    changed: Vec<(&'a str, &'a str)>,
    unchanged: u64,
}

impl Kind<'_> {
    fn count(&self, subject: &str) -> Artefacts {
        let (added, changed) = (self.added.len() as u64, self.changed.len() as u64);
        Artefacts {
            kind: subject.to_owned(),
            added,
            changed,
            at_most: false,
            removed: self.removed.len() as u64,
            total: added + changed + self.unchanged,
        }
    }

    fn population(&self, subject: &str, options: Options) -> Vec<Line> {
        let sides = [(Sign::Add, &self.added), (Sign::Remove, &self.removed)];
        let some = sides.into_iter().filter(|(_, devices)| !devices.is_empty());
        some.map(|(sign, devices)| {
            let shown = names(devices.iter().map(|device| (*device).to_owned()), 3);
            line(sign, subject, shown, devices, options)
        })
        .collect()
    }
}

fn line(sign: Sign, subject: &str, text: String, devices: &[&str], options: Options) -> Line {
    let kept = if options.list { devices.len() } else { 3 };
    Line {
        sign,
        subject: subject.to_owned(),
        text,
        count: devices.len() as u64,
        warning: None,
        names: devices.iter().take(kept).map(|device| (*device).to_owned()).collect(),
    }
}

/// Splits a path into folder, device and kind of file: `switches/p0-t0-001/config_db.json`, `path-tables/g001.bin`.
fn split(path: &str) -> (&str, &str, &str) {
    let Some((folder, rest)) = path.split_once('/') else { return ("", path, path) };
    rest.split_once('/').map_or_else(
        || (folder, rest, rest.rfind('.').map_or(rest, |dot| &rest[dot..])),
        |(device, file)| (folder, device, file),
    )
}

/// Compares files of one kind in detail. The same difference in several files is one line.
fn inside<E>(
    trees: &Trees<'_, E>,
    subject: &str,
    file: &str,
    changed: &[(&str, &str)],
    options: Options,
) -> Result<Vec<Line>, E> {
    let limit = if options.list { changed.len() } else { LOOKED_INTO.min(changed.len()) };
    let mut alike: BTreeMap<Vec<(Sign, String)>, Vec<&str>> = BTreeMap::new();
    for (path, device) in &changed[..limit] {
        let (old, new) = ((trees.read)(TreeSide::Old, path)?, (trees.read)(TreeSide::New, path)?);
        alike.entry(look(file, &old, &new)).or_default().push(device);
    }
    let mut lines = Vec::new();
    for (found, devices) in alike {
        let whose = match devices.as_slice() {
            [only] => format!("`{only}`"),
            more => format!("{} files ({})", more.len(), names(more.iter().map(|d| (*d).to_owned()), 3)),
        };
        for (sign, text) in found {
            lines.push(line(sign, subject, format!("{whose}: {text}"), &devices, options));
        }
    }
    if limit < changed.len() {
        let text = format!(
            "not compared in detail: {} with differences; `--list` compares all",
            plural((changed.len() - limit) as u64, "file", "files")
        );
        let rest: Vec<&str> = changed[limit..].iter().map(|(_, device)| *device).collect();
        lines.push(line(Sign::Change, subject, text, &rest, options));
    }
    Ok(lines)
}

/// Describes the difference between two files, in as much detail as their format allows.
fn look(file: &str, old: &[u8], new: &[u8]) -> Vec<(Sign, String)> {
    let ending = file.rsplit('.').next().unwrap_or(file);
    let texts = std::str::from_utf8(old).ok().zip(std::str::from_utf8(new).ok());
    let Some((before, after)) = texts.filter(|_| ending != "bin") else {
        return vec![(
            Sign::Change,
            format!("{} -> {} bytes", number(old.len() as u64), number(new.len() as u64)),
        )];
    };
    let special = match ending {
        "csv" => csv::look(before, after),
        "json" => config::look(before, after),
        "txtpb" => entries::look(before, after),
        _ => None,
    };
    special.unwrap_or_else(|| text::look(before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(old: &[(&str, &str)], new: &[(&str, &str)], texts: bool) -> Report {
        let digests =
            |files: &[(&'static str, &'static str)]| files.iter().copied().collect::<Files<'static>>();
        let leak = |files: &[(&str, &str)]| -> Vec<(&'static str, &'static str)> {
            let text = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
            files.iter().map(|(path, content)| (text(path), text(content))).collect()
        };
        let (old, new) = (digests(&leak(old)), digests(&leak(new)));
        let read = |which, path: &str| -> Result<Vec<u8>, std::convert::Infallible> {
            let files = if which == TreeSide::Old { &old } else { &new };
            Ok(files[path].as_bytes().to_vec())
        };
        let side = |name: &str| Side { source: name.into(), fabric: "x".into(), digest: name.into() };
        let trees = Trees { old: old.clone(), new: new.clone(), read: &read };
        let Ok(report) = compare(&trees, side("a"), side("b"), Options::default(), texts);
        report
    }

    fn texts(report: &Report) -> Vec<String> {
        report.changes.iter().map(|line| format!("{} {}", line.sign.symbol(), line.text)).collect()
    }

    #[test]
    fn equal_files_are_not_mentioned() {
        let files = [("switches/a/config_db.json", "{}")];
        assert!(report(&files, &files, true).is_empty());
    }

    #[test]
    fn the_same_change_on_two_switches_is_one_line() {
        let old = [
            ("switches/a/config_db.json", r#"{"P":{"e":{"x":"1"}}}"#),
            ("switches/b/config_db.json", r#"{"P":{"e":{"x":"1"}}}"#),
        ];
        let new = [
            ("switches/a/config_db.json", r#"{"P":{"e":{"x":"2"}}}"#),
            ("switches/b/config_db.json", r#"{"P":{"e":{"x":"2"}}}"#),
        ];
        assert_eq!(texts(&report(&old, &new, false)), ["~ 2 files (`a`, `b`): P|e.x: 1 -> 2"]);
    }

    #[test]
    fn cables_are_named_by_their_ends() {
        let head = closc_artefacts::cables::HEADER;
        let row = |length: &str| format!("{head}0,t0-t1,a,e1,b,e2,{length},dr4,up\n");
        let (old, new) = (row("30m"), row("45m"));
        let report = report(&[("cables/plane-0.csv", &old)], &[("cables/plane-0.csv", &new)], true);
        assert_eq!(texts(&report), ["~ `plane-0.csv`: a e1 -- b e2: length 30m -> 45m"]);
        assert!(report.texts[0].contains("-0,t0-t1,a,e1,b,e2,30m,dr4,up\n+0,t0-t1,a,e1,b,e2,45m,dr4,up\n"));
    }
}
