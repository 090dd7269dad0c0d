//! Error of a text, with its place.

use thiserror::Error;

/// A text that cannot be read.
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

/// Errors of a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextFault {
    /// A character that starts nothing.
    #[error("unexpected character `{}`", char.escape_default())]
    Character {
        /// The character.
        char: char,
    },
    /// A string without an end.
    #[error("the string does not end in its line")]
    OpenString,
    /// A backslash with something after it that has no meaning.
    #[error("unknown escape in the string")]
    Escape,
    /// Something else was expected.
    #[error("expected {wanted}, found {found}")]
    Unexpected {
        /// Expected value.
        wanted: &'static str,
        /// Contents.
        found: String,
    },
    /// The message does not have the field.
    #[error("`{message}` has no field `{field}`{}", did_you_mean(suggestion.as_deref()))]
    NoField {
        /// The message.
        message: String,
        /// The field.
        field: String,
        /// A field with a name much like it.
        suggestion: Option<String>,
    },
    /// The field is set already.
    #[error("`{field}` is set twice")]
    Twice {
        /// The field.
        field: String,
    },
    /// Another case of a choice is set already.
    #[error("`{field}` and `{other}` exclude each other")]
    OneOf {
        /// The field.
        field: String,
        /// The one before it.
        other: String,
    },
    /// The enum does not have the value.
    #[error("`{name}` has no value `{value}`{}", did_you_mean(suggestion.as_deref()))]
    NoEnumValue {
        /// The enum.
        name: String,
        /// The value.
        value: String,
        /// A value with a name much like it.
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
    /// `[type]` names a message that P4Runtime does not have.
    #[error("no message `{name}` is known")]
    NoMessage {
        /// The name.
        name: String,
    },
    /// Messages nest without end.
    #[error("messages nest deeper than {limit} levels")]
    Depth {
        /// The limit.
        limit: u32,
    },
    /// It would grow beyond all measure.
    #[error("the message would take more than {limit} bytes of memory, much more than its text")]
    TooHeavy {
        /// The most bytes of memory.
        limit: usize,
    },
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// Returns the name that is most like a wrong one, if any is much like it.
pub(super) fn closest<'n>(wrong: &str, names: impl Iterator<Item = &'n String>) -> Option<String> {
    let limit = 1.max(wrong.chars().count() / 3);
    let near = names.map(|name| (strsim::osa_distance(wrong, name), name));
    near.min().filter(|(distance, _)| *distance <= limit).map(|(_, name)| name.clone())
}
