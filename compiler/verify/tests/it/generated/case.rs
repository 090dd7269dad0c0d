//! A single case of damage: a change of a field, a row or a line.

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Memory, paths};
use serde_json::{Map, Value, json};

use crate::base::Base;

/// Change of a field, a row or a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChangeKind {
    /// Removed.
    Lost,
    /// A field is empty.
    Empty,
    /// Another value of the same kind.
    Other,
    /// A much larger number.
    Larger,
    /// A duplicate line, or a field duplicated under another name.
    Twice,
    /// An additional field in a mapping.
    Added,
    /// A field exchanged with its neighbour.
    Swapped,
    /// Contents of another device of the tier.
    Foreign,
    /// Removed on all devices.
    LostEverywhere,
    /// Another value on all devices.
    OtherEverywhere,
    /// A much larger number on all devices.
    LargerEverywhere,
    /// A slightly larger or smaller number, on some devices.
    Moved,
    /// A slightly larger or smaller number, on all devices or all of a tier.
    MovedEverywhere,
}

impl ChangeKind {
    /// Returns whether the change affects all devices.
    pub(crate) fn everywhere(self) -> bool {
        match self {
            ChangeKind::LostEverywhere
            | ChangeKind::OtherEverywhere
            | ChangeKind::LargerEverywhere
            | ChangeKind::MovedEverywhere => true,
            ChangeKind::Lost
            | ChangeKind::Empty
            | ChangeKind::Other
            | ChangeKind::Larger
            | ChangeKind::Twice
            | ChangeKind::Added
            | ChangeKind::Swapped
            | ChangeKind::Foreign
            | ChangeKind::Moved => false,
        }
    }

    /// Returns whether the change increases a number.
    pub(crate) fn is_larger(self) -> bool {
        matches!(self, ChangeKind::Larger | ChangeKind::LargerEverywhere)
    }

    /// Returns the same change on a single device.
    pub(crate) fn to_single(self) -> ChangeKind {
        match self {
            ChangeKind::LostEverywhere => ChangeKind::Lost,
            ChangeKind::OtherEverywhere => ChangeKind::Other,
            ChangeKind::LargerEverywhere => ChangeKind::Larger,
            ChangeKind::MovedEverywhere => ChangeKind::Moved,
            ChangeKind::Lost
            | ChangeKind::Empty
            | ChangeKind::Other
            | ChangeKind::Larger
            | ChangeKind::Twice
            | ChangeKind::Added
            | ChangeKind::Swapped
            | ChangeKind::Foreign
            | ChangeKind::Moved => self,
        }
    }

    /// Returns the changed value; `None` if the value is removed or unchanged.
    pub(crate) fn of(self, value: &Value, foreign: Option<&Value>) -> Option<Value> {
        match self {
            ChangeKind::Lost | ChangeKind::LostEverywhere => None,
            ChangeKind::Empty => Some(json!("")),
            ChangeKind::Other | ChangeKind::OtherEverywhere => Some(different_value(value)),
            ChangeKind::Larger | ChangeKind::LargerEverywhere => Some(larger(value)),
            ChangeKind::Foreign => Some(foreign.unwrap_or(value).clone()),
            // Numbers are changed elsewhere (`steps.rs`, `nvue.rs`).
            ChangeKind::Twice
            | ChangeKind::Added
            | ChangeKind::Swapped
            | ChangeKind::Moved
            | ChangeKind::MovedEverywhere => Some(value.clone()),
        }
    }
}

/// Returns another value of the same kind.
fn different_value(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.parse::<i64>() {
            Ok(0) => json!("7"),
            Ok(_) => json!("0"),
            Err(_) => json!(format!("{text}x")),
        },
        Value::Number(number) if number.as_u64() == Some(0) => json!(7),
        Value::Number(_) => json!(0),
        Value::Bool(truth) => json!(!truth),
        Value::Null | Value::Array(_) | Value::Object(_) => json!([value.clone(), "X"]),
    }
}

/// Returns a much larger number, or another value for other kinds.
fn larger(value: &Value) -> Value {
    let text = value.as_str().and_then(|text| text.parse::<i64>().ok());
    match (text, value.as_i64()) {
        (Some(number), _) => json!((number.abs() * 4 + 9).to_string()),
        (None, Some(number)) => json!(number.abs() * 4 + 9),
        (None, None) => different_value(value),
    }
}

/// Damages a tree.
type Damage = Box<dyn Fn(&mut Memory) + Send + Sync>;

/// One case of damage.
pub(crate) struct Case {
    pub(crate) base: Base,
    /// Table or file under which the case is counted.
    pub(crate) section: String,
    /// The field, or the line without its numbers.
    pub(crate) field: String,
    pub(crate) change_kind: ChangeKind,
    /// Description of the place.
    pub(crate) at: String,
    pub(crate) damage: Damage,
}

impl Case {
    /// Names the case.
    pub(crate) fn name(&self) -> String {
        format!("{:?} {}: {:?} `{}` of {}", self.base, self.section, self.change_kind, self.field, self.at)
    }
}

/// Reads a file of JSON.
pub(crate) fn read_json(tree: &Memory, path: &Utf8Path) -> Map<String, Value> {
    serde_json::from_slice(&tree.files[path]).expect("the file is a JSON object")
}

/// Writes a JSON file in the layout of compiled files, in which a row of `config_db.json` is one line.
pub(crate) fn write_json(path: &Utf8Path, value: &Value) -> Vec<u8> {
    if path.file_name() != Some(paths::CONFIG_DB) {
        return serde_json::to_vec_pretty(value).expect("the value was JSON before");
    }
    let Some(tables) = value.as_object() else { return value.to_string().into_bytes() };
    let table = |(name, rows): (&String, &Value)| {
        let rows = rows.as_object().filter(|rows| !rows.is_empty()).map(|rows| {
            let rows = rows.iter().map(|(name, row)| format!("        {}: {row}", json!(name)));
            format!("{{\n{}\n    }}", rows.collect::<Vec<_>>().join(",\n"))
        });
        format!("    {}: {}", json!(name), rows.unwrap_or_else(|| "{}".to_owned()))
    };
    format!("{{\n{}\n}}\n", tables.iter().map(table).collect::<Vec<_>>().join(",\n")).into_bytes()
}

/// Returns a file as it is rewritten without damage.
pub(crate) fn canonical(path: &Utf8Path, bytes: &[u8]) -> Vec<u8> {
    match (path.extension(), path.file_name()) {
        (Some("json"), _) if !path.starts_with("p4") => {
            write_json(path, &serde_json::from_slice(bytes).expect("the file is JSON"))
        }
        (_, Some(paths::NVUE_YAML)) => crate::generated::nvue::canonical(bytes),
        _ => bytes.to_vec(),
    }
}

/// Returns the files to damage: `path`, or with `everywhere` all files like it. These have the same top
/// folder and extension, and on switches also the same name.
pub(crate) fn target_files(tree: &Memory, path: &Utf8Path, everywhere: bool) -> Vec<Utf8PathBuf> {
    let beside = |other: &&Utf8PathBuf| {
        let folder = |path: &Utf8Path| path.iter().next().map(str::to_owned);
        let name = |path: &Utf8Path| path.extension().map(str::to_owned);
        other.as_path() == path
            || everywhere
                && folder(other) == folder(path)
                && (other.file_name() == path.file_name() || folder(path) != Some("switches".to_owned()))
                && name(other) == name(path)
    };
    tree.files.keys().filter(beside).cloned().collect()
}

/// Updates the list of files in the manifest and keeps its other values, so that damage is found by its effect and not
/// by a digest.
pub(crate) fn sign(tree: &mut Memory) {
    let path = Utf8Path::new(paths::MANIFEST);
    let mut manifest = read_json(tree, path);
    let entry = |(path, bytes): (&Utf8PathBuf, &Vec<u8>)| {
        (path.to_string(), serde_json::to_value(closc_artefacts::Entry::of(bytes)).expect("an entry is JSON"))
    };
    let files: Map<String, Value> =
        tree.files.iter().filter(|(other, _)| other.as_path() != path).map(entry).collect();
    manifest.insert("files".to_owned(), Value::Object(files));
    let text = serde_json::to_vec_pretty(&manifest).expect("it was JSON before");
    tree.files.insert(path.to_owned(), text);
}
