//! Kinds of damage to a file of a tree.

use camino::Utf8Path;
use closc_artefacts::Memory;
use closc_plan::{PathTable, Plan};
use closc_render::path_table;
use serde_json::Value;

/// A change of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Damage {
    /// Replaces the first occurrence of a text.
    Text(&'static str, &'static str),
    /// Replaces the first occurrence of a text after another one.
    Behind(&'static str, &'static str, &'static str),
    /// Replaces all occurrences of a text.
    All(&'static str, &'static str),
    /// Exchanges two texts everywhere.
    Exchange(&'static str, &'static str),
    /// Removes the first line with a text.
    Lost(&'static str),
    /// Duplicates the first line with a text.
    Twice(&'static str),
    /// Removes the text from one string up to the next occurrence of another.
    Cut(&'static str, &'static str),
    /// Appends a text.
    More(&'static str),
    /// Sets a value in a JSON file.
    Set(&'static [&'static str], &'static str),
    /// Removes a value from a JSON file.
    Unset(&'static [&'static str]),
    /// Exchanges two values in a JSON file.
    Swap(&'static [&'static str], &'static [&'static str]),
    /// Changes a byte of a binary path table and updates the checksum.
    Byte(usize, u8),
    /// Changes a byte without updating the checksum.
    Rot(usize, u8),
    /// Renders both forms of a path table from other numbers.
    Table(fn(&mut PathTable<'_>)),
    /// Removes the file, also from the manifest.
    Gone,
    /// Replaces the contents with those of another file.
    Same(&'static str),
}

/// Damages a file of a tree.
pub(crate) fn damage(plan: &Plan, tree: &mut Memory, file: &str, damage: Damage) {
    let path = Utf8Path::new(file);
    let bytes = tree.files.get(path).unwrap_or_else(|| panic!("there is no {file}")).clone();
    match damage {
        Damage::Gone => {
            tree.files.remove(path);
        }
        Damage::Same(other) => {
            let other = tree.files[Utf8Path::new(other)].clone();
            tree.files.insert(path.to_owned(), other);
        }
        Damage::Table(change) => {
            let artefacts = plan.groups().flat_map(|(zone, group)| {
                let mut table = plan.path_table(zone, group);
                let own = path_table::render(&table).iter().any(|artefact| artefact.path == path);
                if own {
                    change(&mut table);
                }
                own.then(|| path_table::render(&table)).into_iter().flatten()
            });
            for artefact in artefacts {
                tree.files.insert(artefact.path, artefact.bytes);
            }
        }
        Damage::Byte(at, value) => {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            let checksum = crc32fast::hash(&bytes[16..]);
            bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
            tree.files.insert(path.to_owned(), bytes);
        }
        Damage::Rot(at, value) => {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            tree.files.insert(path.to_owned(), bytes);
        }
        Damage::Set(..) | Damage::Unset(_) | Damage::Swap(..) => {
            let value = serde_json::from_slice(&bytes).expect("the file is JSON");
            let bytes = serde_json::to_vec_pretty(&json(value, damage)).expect("it was JSON before");
            tree.files.insert(path.to_owned(), bytes);
        }
        Damage::Text(..)
        | Damage::Behind(..)
        | Damage::All(..)
        | Damage::Exchange(..)
        | Damage::Lost(_)
        | Damage::Twice(_)
        | Damage::Cut(..)
        | Damage::More(_) => {
            let text = String::from_utf8(bytes.clone()).expect("the file is text");
            tree.files.insert(path.to_owned(), self::text(&text, damage).into_bytes());
        }
    }
    assert_ne!(tree.files.get(path), Some(&bytes), "{file} is as before {damage:?}");
}

fn text(text: &str, damage: Damage) -> String {
    let find = |what: &str, from: usize| {
        from + text[from..].find(what).unwrap_or_else(|| panic!("there is no `{what}` in\n{text}"))
    };
    let line = |what: &str| {
        let at = find(what, 0);
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        (start, find("\n", at) + 1)
    };
    let replaced = |at: usize, from: &str, to: &str| [&text[..at], to, &text[at + from.len()..]].concat();
    match damage {
        Damage::Text(from, to) => replaced(find(from, 0), from, to),
        Damage::Behind(anchor, from, to) => replaced(find(from, find(anchor, 0)), from, to),
        Damage::All(from, to) => {
            find(from, 0);
            text.replace(from, to)
        }
        Damage::Exchange(a, b) => {
            find(a, 0);
            find(b, 0);
            text.replace(a, "\0").replace(b, a).replace('\0', b)
        }
        Damage::Lost(what) => {
            let (start, end) = line(what);
            [&text[..start], &text[end..]].concat()
        }
        Damage::Twice(what) => {
            let (start, end) = line(what);
            [&text[..end], &text[start..]].concat()
        }
        Damage::Cut(from, until) => {
            let start = find(from, 0);
            [&text[..start], &text[find(until, start + from.len())..]].concat()
        }
        Damage::More(more) => format!("{text}{more}"),
        other => panic!("{other:?} is not about text"),
    }
}

fn json(mut value: Value, damage: Damage) -> Value {
    match damage {
        Damage::Set(path, to) => {
            let to = serde_json::from_str(to).expect("the new value is JSON");
            let (last, parents) = path.split_last().expect("a path has a name");
            match at(&mut value, parents) {
                Value::Object(map) => {
                    map.insert((*last).to_owned(), to);
                }
                Value::Array(list) => list[last.parse::<usize>().expect("a place in a list")] = to,
                other => panic!("{other} holds nothing"),
            }
        }
        Damage::Unset(path) => {
            let (last, parents) = path.split_last().expect("a path has a name");
            match at(&mut value, parents) {
                Value::Object(map) => {
                    map.remove(*last).unwrap_or_else(|| panic!("there is no {path:?}"));
                }
                Value::Array(list) => {
                    list.remove(last.parse().expect("a place in a list"));
                }
                other => panic!("{other} holds nothing"),
            }
        }
        Damage::Swap(a, b) => {
            let (first, second) = (at(&mut value, a).clone(), at(&mut value, b).clone());
            *at(&mut value, a) = second;
            *at(&mut value, b) = first;
        }
        other => panic!("{other:?} is not about JSON"),
    }
    value
}

fn at<'v>(value: &'v mut Value, path: &[&str]) -> &'v mut Value {
    path.iter().fold(value, |value, name| match value {
        Value::Object(map) => {
            map.get_mut(*name).unwrap_or_else(|| panic!("there is no `{name}` of {path:?}"))
        }
        Value::Array(list) => &mut list[name.parse::<usize>().expect("a place in a list")],
        other => panic!("{other} has no `{name}`"),
    })
}
