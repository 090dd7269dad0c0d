//! An error in a text, with its place.

use thiserror::Error;

/// A text that is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}:{column}: {fault}")]
pub struct TextError {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
    /// The error there.
    pub fault: TextFault,
}

/// Possible errors in a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextFault {
    /// A character that does not start a token.
    #[error("unexpected character `{}`", char.escape_default())]
    Character {
        /// The character.
        char: char,
    },
    /// A string is not terminated.
    #[error("the string does not end in its line")]
    OpenString,
    /// An escape sequence is unknown.
    #[error("unknown escape in the string")]
    Escape,
    /// Another token was expected.
    #[error("expected {expected}, found {actual}")]
    Unexpected {
        /// The expected token.
        expected: &'static str,
        /// The token found.
        actual: String,
    },
    /// The message does not have the field.
    #[error("`{message}` has no field `{field}`{}", did_you_mean(suggestion.as_deref()))]
    NoField {
        /// The message.
        message: String,
        /// The field.
        field: String,
        /// A field with a similar name.
        suggestion: Option<String>,
    },
    /// The field is already set.
    #[error("`{field}` is set twice")]
    Twice {
        /// The field.
        field: String,
    },
    /// Another field of the same `oneof` is already set.
    #[error("`{field}` and `{earlier_field}` exclude each other")]
    OneOf {
        /// The field.
        field: String,
        /// The field that is already set.
        earlier_field: String,
    },
    /// The enum does not have the value.
    #[error("`{name}` has no value `{value}`{}", did_you_mean(suggestion.as_deref()))]
    NoEnumValue {
        /// The enum.
        name: String,
        /// The value.
        value: String,
        /// A value with a similar name.
        suggestion: Option<String>,
    },
    /// A number does not fit its type.
    #[error("`{number}` does not fit {ty}")]
    Range {
        /// The number.
        number: String,
        /// The type.
        ty: &'static str,
    },
    /// A string is not UTF-8.
    #[error("the string is not UTF-8")]
    Utf8,
    /// The message name in `[type]` is unknown.
    #[error("no message `{name}` is known")]
    NoMessage {
        /// The name.
        name: String,
    },
    /// Messages are nested too deeply.
    #[error("messages nest deeper than {limit} levels")]
    Depth {
        /// The limit.
        limit: u32,
    },
    /// The message would take too much memory.
    #[error("the message would take more than {limit} bytes of memory, much more than its text")]
    TooHeavy {
        /// The memory limit, in bytes.
        limit: usize,
    },
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// Returns the name most similar to a misspelled one, if any is similar enough.
pub(super) fn closest<'n>(wrong: &str, names: impl Iterator<Item = &'n String>) -> Option<String> {
    let limit = 1.max(wrong.chars().count() / 3);
    let near = names.map(|name| (strsim::osa_distance(wrong, name), name));
    near.min().filter(|(distance, _)| *distance <= limit).map(|(_, name)| name.clone())
}
