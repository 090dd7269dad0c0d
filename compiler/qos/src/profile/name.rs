//! The name of a class or a profile.
//!
//! In: text. Out: a [`ClassName`], or [`NameError`]. Invariants: a name is a valid table name on every target.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A name that is not valid on the targets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` cannot name {kind}: use 1 to 32 letters, digits, `-` or `_`, and a letter or digit first")]
pub struct NameError {
    /// The name.
    pub name: String,
    /// The kind of object, with its article.
    pub kind: &'static str,
}

/// The name of a class or a profile, valid as the name of a SONiC map or buffer profile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClassName(Box<str>);

impl ClassName {
    /// Creates a name of 1 to 32 characters from `[A-Za-z0-9_-]`, starting with a letter or digit (`sonic-types` YANG).
    pub fn new(name: &str) -> Result<Self, NameError> {
        let rest = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
        let legal = name.len() <= 32
            && name.bytes().next().is_some_and(|c| c.is_ascii_alphanumeric())
            && name.bytes().all(rest);
        if legal {
            Ok(Self(name.into()))
        } else {
            Err(NameError { name: name.to_owned(), kind: "a class or profile" })
        }
    }

    /// Creates a name from a literal in this crate.
    pub(crate) fn literal(name: &'static str) -> Self {
        Self::new(name).expect("names of presets are tested to be legal")
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for ClassName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        Self::new(name)
    }
}

impl TryFrom<String> for ClassName {
    type Error = NameError;

    fn try_from(name: String) -> Result<Self, NameError> {
        Self::new(&name)
    }
}

impl From<ClassName> for String {
    fn from(name: ClassName) -> String {
        name.0.into()
    }
}

impl JsonSchema for ClassName {
    fn schema_name() -> Cow<'static, str> {
        "ClassName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9][-A-Za-z0-9_]{0,31}$" })
    }
}
