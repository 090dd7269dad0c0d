//! Files and tables with an unexpected structure, on one device, on a tier and on all: readers must not panic, and
//! changes must be found.

use std::panic;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Memory;
use closc_verify::verify;
use serde_json::{Map, Value, json};

use crate::base::{Base, Trees, options};
use crate::generated::case::{read_json, sign};
use crate::generated::steps::{files, scopes};

/// New structure of a table.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Gone,
    Empty,
    List,
    Text,
    Nothing,
    /// Every row is empty.
    Hollow,
    /// Every row is a string.
    Flat,
    /// Every second row is missing.
    Half,
    /// Every row is duplicated under another name.
    Twice,
    /// Rows have other names.
    Renamed,
    /// Every field is empty.
    Blank,
    /// Every field is a number instead of a text.
    Retyped,
    /// Every field is a number that is too large.
    Huge,
    /// Every field is the largest 64-bit number.
    Most,
}

const SHAPES: [Shape; 14] = [
    Shape::Gone,
    Shape::Empty,
    Shape::List,
    Shape::Text,
    Shape::Nothing,
    Shape::Hollow,
    Shape::Flat,
    Shape::Half,
    Shape::Twice,
    Shape::Renamed,
    Shape::Blank,
    Shape::Retyped,
    Shape::Huge,
    Shape::Most,
];

impl Shape {
    fn of(self, table: &Value) -> Option<Value> {
        let Some(rows) = table.as_object() else { return Some(json!({})) };
        let rows = rows.iter().map(|(name, row)| (name.clone(), row.clone()));
        let each = |value: &Value| -> Value {
            let fields = value.as_object().into_iter().flatten();
            let new = match self {
                Shape::Blank => json!(""),
                Shape::Retyped => json!(7),
                Shape::Most => json!(u64::MAX.to_string()),
                _ => json!("99999999999999999999999"),
            };
            Value::Object(fields.map(|(name, _)| (name.clone(), new.clone())).collect())
        };
        let made: Map<String, Value> = match self {
            Shape::Gone => return None,
            Shape::Empty => Map::new(),
            Shape::List => return Some(json!([7, "x", {}])),
            Shape::Text => return Some(json!("x")),
            Shape::Nothing => return Some(Value::Null),
            Shape::Hollow => rows.map(|(name, _)| (name, json!({}))).collect(),
            Shape::Flat => rows.map(|(name, _)| (name, json!("x"))).collect(),
            Shape::Half => rows.step_by(2).collect(),
            Shape::Twice => {
                rows.flat_map(|(name, row)| [(format!("{name}9"), row.clone()), (name, row)]).collect()
            }
            Shape::Renamed => rows.map(|(name, row)| (format!("{name}9"), row)).collect(),
            Shape::Blank | Shape::Retyped | Shape::Huge | Shape::Most => {
                rows.map(|(name, row)| (name, each(&row))).collect()
            }
        };
        Some(Value::Object(made))
    }
}

/// The file whose tables change shape.
const CONFIG: &str = "config_db.json";

/// Joins lines into a text.
fn join_lines<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// A function that changes the structure of a text file.
type Rewrite = fn(&str) -> String;

const TEXTS: [(&str, Rewrite); 8] = [
    ("empty", |_| String::new()),
    ("one byte", |_| "{".to_owned()),
    ("the first half", |text| text.chars().take(text.len() / 2).collect()),
    ("every second line", |text| join_lines(text.lines().step_by(2))),
    ("every line twice", |text| join_lines(text.lines().flat_map(|line| [line, line]))),
    ("lines backwards", |text| join_lines(text.lines().rev())),
    ("numbers gone", |text| text.chars().filter(|letter| !letter.is_ascii_digit()).collect()),
    ("numbers nine", |text| {
        text.chars().map(|letter| if letter.is_ascii_digit() { '9' } else { letter }).collect()
    }),
];

/// A change: a description, the files, and the effect on each.
type Change = (String, Vec<Utf8PathBuf>, Box<dyn Fn(&[u8]) -> Vec<u8>>);

fn changes(tree: &Memory) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut kinds: Vec<(String, String)> = Vec::new();
    for path in tree.files.keys().filter(|path| path.as_str() != closc_artefacts::paths::MANIFEST) {
        let folder = path.iter().next().unwrap_or_default().to_owned();
        let name = path.file_name().unwrap_or_default().to_owned();
        let name = if folder == "switches" || folder == "hosts" {
            name
        } else {
            format!(".{}", path.extension().unwrap_or_default())
        };
        if !kinds.contains(&(folder.clone(), name.clone())) {
            kinds.push((folder, name));
        }
    }
    for (folder, name) in kinds {
        let like = |path: &&Utf8PathBuf| path.starts_with(&folder) && path.as_str().ends_with(&*name);
        let all: Vec<Utf8PathBuf> = tree.files.keys().filter(like).cloned().collect();
        for (what, rewrite) in TEXTS {
            changes.push((
                format!("{folder}/*{name}: {what}"),
                all.clone(),
                Box::new(move |bytes| rewrite(&String::from_utf8_lossy(bytes)).into_bytes()),
            ));
        }
    }
    for scope in scopes(tree, CONFIG) {
        let all = files(tree, CONFIG, scope);
        let Some(first) = all.first() else { continue };
        for table in read_json(tree, first).into_iter().map(|(table, _)| table) {
            for shape in SHAPES {
                let own = table.clone();
                changes.push((
                    format!("{table} of `{scope}`: {shape:?}"),
                    all.clone(),
                    Box::new(move |bytes| {
                        let mut config: Map<String, Value> =
                            serde_json::from_slice(bytes).expect("a compiled file is a JSON object");
                        match config.get(&own).and_then(|rows| shape.of(rows)) {
                            Some(rows) => config.insert(own.clone(), rows),
                            None => config.remove(&own),
                        };
                        Value::Object(config).to_string().into_bytes()
                    }),
                ));
            }
        }
    }
    changes
}

/// Sampling interval.
const SAMPLE: u64 = 16;

/// Returns whether a change is in the sample. Changes of ports always are, because all other settings of a switch
/// depend on ports.
fn is_sampled(base: Base, name: &str) -> bool {
    let hash = blake3::hash(format!("{base:?} {name}").as_bytes());
    name.starts_with("PORT of") || u64::from(hash.as_bytes()[0]).is_multiple_of(SAMPLE)
}

#[test]
fn nobody_falls_over_tables_of_another_shape() {
    let all = std::env::var_os("CLOSC_ALL_DAMAGE").is_some();
    let trees = Trees::new();
    let mut fallen = Vec::new();
    let mut tried = 0;
    for base in Base::ALL {
        let own = trees.tree(base);
        for (name, paths, change) in changes(own) {
            if !all && !is_sampled(base, &name) {
                continue;
            }
            let mut tree = own.clone();
            for path in &paths {
                let path: &Utf8Path = path;
                let bytes = change(&own.files[path]);
                tree.files.insert(path.to_owned(), bytes);
            }
            sign(&mut tree);
            tried += 1;
            if panic::catch_unwind(|| verify(&tree, options())).is_err() {
                fallen.push(format!("{base:?} {name}"));
            }
        }
    }
    assert!(tried >= 100, "{tried} shapes");
    assert!(fallen.is_empty(), "{} of {tried}:\n{}", fallen.len(), fallen.join("\n"));
}
