//! Why a value does not fit its field.

use thiserror::Error;

/// A value that its width refuses.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ValueError {
    /// A byte string without bytes is not a value; 0 is one byte.
    #[error("the value is empty; 0 is written as one byte")]
    Empty,
    /// More bits than there is room for.
    #[error("the value needs {needed} bits, the field has {width}")]
    TooWide {
        /// Bits that the value needs.
        needed: u64,
        /// Bits that there are.
        width: u32,
    },
    /// Text for a number.
    #[error("`{text}` is text, the field is a number of {width} bits")]
    WantsNumber {
        /// The text.
        text: String,
        /// Bits of the field.
        width: u32,
    },
    /// A number for text.
    #[error("{number} is a number, the field is text")]
    WantsText {
        /// The number.
        number: u128,
    },
}
