//! Ways of damaging one file of a tree.

use camino::Utf8Path;
use closc_artefacts::Memory;
use closc_plan::{PathTable, Plan};
use closc_render::path_table;
use serde_json::Value;

/// Change of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Damage {
    /// A text becomes another, where it stands first.
    Text(&'static str, &'static str),
    /// The same, where it stands first behind another text.
    Behind(&'static str, &'static str, &'static str),
    /// A text becomes another, wherever it stands.
    All(&'static str, &'static str),
    /// Two texts change places, everywhere.
    Exchange(&'static str, &'static str),
    /// The first line with a text is lost.
    Lost(&'static str),
    /// The first line with a text is there twice.
    Twice(&'static str),
    /// Everything from a text up to another one behind it is lost.
    Cut(&'static str, &'static str),
    /// A text is added at the end.
    More(&'static str),
    /// A value of a JSON file becomes another, or comes into it.
    Set(&'static [&'static str], &'static str),
    /// A value of a JSON file is lost.
    Unset(&'static [&'static str]),
    /// Two values of a JSON file change places.
    Swap(&'static [&'static str], &'static [&'static str]),
    /// A byte of a binary path table becomes another; the checksum is made anew.
    Byte(usize, u8),
    /// A byte becomes another and the checksum stays.
    Rot(usize, u8),
    /// A path table is rendered from other numbers, both of its forms alike.
    Table(fn(&mut PathTable<'_>)),
    /// The file is lost, and the manifest does not list it.
    Gone,
    /// The file holds what another one holds.
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
