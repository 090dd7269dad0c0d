//! Errors of a value that does not fit its field.

use thiserror::Error;

/// A value that does not fit a width.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ValueError {
    /// A byte string is empty; 0 has one byte.
    #[error("the value is empty; 0 is written as one byte")]
    Empty,
    /// The value needs more bits than the field has.
    #[error("the value needs {needed} bits, the field has {width}")]
    TooWide {
        /// Bits that the value needs.
        needed: u64,
        /// Bits that the field has.
        width: u32,
    },
    /// The value is text, and the field is a number.
    #[error("`{text}` is text, the field is a number of {width} bits")]
    WantsNumber {
        /// The text.
        text: String,
        /// Bits of the field.
        width: u32,
    },
    /// The value is a number, and the field is text.
    #[error("{number} is a number, the field is text")]
    WantsText {
        /// The number.
        number: u128,
    },
}
