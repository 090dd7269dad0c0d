//! One way of damage, and what happens to a field, a row or a line.

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Memory, paths};
use serde_json::{Map, Value, json};

use crate::base::Base;

/// Change of a field, a row or a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// It is not there any more.
    Lost,
    /// A field is there and says nothing.
    Empty,
    /// Another value of its kind.
    Other,
    /// A number that is far larger.
    Larger,
    /// A line is there twice, or a field again under another name.
    Twice,
    /// A mapping has a field more.
    Added,
    /// A field has the value of its neighbour, and that has its own.
    Swapped,
    /// Contents of another device of the tier.
    Foreign,
    /// Not there any more, on all devices at once.
    LostEverywhere,
    /// Another value, on all devices at once.
    OtherEverywhere,
    /// A number that is far larger, on all devices at once.
    LargerEverywhere,
    /// A number that is a little larger or smaller, on some devices.
    Moved,
    /// A number that is a little larger or smaller, on all devices or all of a tier at once.
    MovedEverywhere,
}

impl How {
    /// Tells whether it happens to all devices at once.
    pub(crate) fn everywhere(self) -> bool {
        match self {
            How::LostEverywhere | How::OtherEverywhere | How::LargerEverywhere | How::MovedEverywhere => true,
            How::Lost
            | How::Empty
            | How::Other
            | How::Larger
            | How::Twice
            | How::Added
            | How::Swapped
            | How::Foreign
            | How::Moved => false,
        }
    }

    /// Tells whether a number grows.
    pub(crate) fn is_larger(self) -> bool {
        matches!(self, How::Larger | How::LargerEverywhere)
    }

    /// The same on one device alone.
    pub(crate) fn here(self) -> How {
        match self {
            How::LostEverywhere => How::Lost,
            How::OtherEverywhere => How::Other,
            How::LargerEverywhere => How::Larger,
            How::MovedEverywhere => How::Moved,
            How::Lost
            | How::Empty
            | How::Other
            | How::Larger
            | How::Twice
            | How::Added
            | How::Swapped
            | How::Foreign
            | How::Moved => self,
        }
    }

    /// Result for a value; none where it is lost, or as it was.
    pub(crate) fn of(self, value: &Value, foreign: Option<&Value>) -> Option<Value> {
        match self {
            How::Lost | How::LostEverywhere => None,
            How::Empty => Some(json!("")),
            How::Other | How::OtherEverywhere => Some(other(value)),
            How::Larger | How::LargerEverywhere => Some(larger(value)),
            How::Foreign => Some(foreign.unwrap_or(value).clone()),
            // Numbers are moved in place (`steps.rs`, `nvue.rs`).
            How::Twice | How::Added | How::Swapped | How::Moved | How::MovedEverywhere => Some(value.clone()),
        }
    }
}

/// A value that is another one of its kind.
fn other(value: &Value) -> Value {
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

/// A number that is far larger; anything else another value.
fn larger(value: &Value) -> Value {
    let text = value.as_str().and_then(|text| text.parse::<i64>().ok());
    match (text, value.as_i64()) {
        (Some(number), _) => json!((number.abs() * 4 + 9).to_string()),
        (None, Some(number)) => json!(number.abs() * 4 + 9),
        (None, None) => other(value),
    }
}

/// Kinds of damage to a tree.
type Damage = Box<dyn Fn(&mut Memory) + Send + Sync>;

/// One way of damage.
pub(crate) struct Case {
    /// The fabric.
    pub(crate) base: Base,
    /// The table or file, as it is counted.
    pub(crate) section: String,
    /// The field, or the line without its numbers.
    pub(crate) field: String,
    /// Change.
    pub(crate) how: How,
    /// Where, for people.
    pub(crate) at: String,
    /// Damages the tree.
    pub(crate) damage: Damage,
}

impl Case {
    /// Names the case.
    pub(crate) fn name(&self) -> String {
        format!("{:?} {}: {:?} `{}` of {}", self.base, self.section, self.how, self.field, self.at)
    }
}

/// Reads a file of JSON.
pub(crate) fn parsed(tree: &Memory, path: &Utf8Path) -> Map<String, Value> {
    serde_json::from_slice(&tree.files[path]).expect("the file is a JSON object")
}

/// The files that damage concerns: one, or all of its name in folders beside.
pub(crate) fn meant(tree: &Memory, path: &Utf8Path, everywhere: bool) -> Vec<Utf8PathBuf> {
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

/// Lists the files in the manifest anew and leaves what it says otherwise as it is, so that damage is found by what it
/// does and not by its digest.
pub(crate) fn sign(tree: &mut Memory) {
    let path = Utf8Path::new(paths::MANIFEST);
    let mut manifest = parsed(tree, path);
    let entry = |(path, bytes): (&Utf8PathBuf, &Vec<u8>)| {
        (path.to_string(), serde_json::to_value(closc_artefacts::Entry::of(bytes)).expect("an entry is JSON"))
    };
    let files: Map<String, Value> =
        tree.files.iter().filter(|(other, _)| other.as_path() != path).map(entry).collect();
    manifest.insert("files".to_owned(), Value::Object(files));
    let text = serde_json::to_vec_pretty(&manifest).expect("it was JSON before");
    tree.files.insert(path.to_owned(), text);
}
