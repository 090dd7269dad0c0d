//! Why a format cannot carry a fabric.
//!
//! In: values of the fabric and limits of the format. Out: an error with both values and an alternative.

/// Why a format cannot carry a fabric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A count exceeds the limit of the format, or of a program that reads it.
    #[error("{format} has room for {maximum} {subject}, and here are {arithmetic} = {count}; {help}")]
    TooMany {
        /// The format.
        format: &'static str,
        /// Counted values.
        subject: &'static str,
        /// Derivation of the count.
        arithmetic: String,
        /// Present value.
        count: u64,
        /// Permitted value.
        maximum: u64,
        /// Alternative.
        help: &'static str,
    },
    /// Values differ, but the format has a single field for them.
    #[error("{format} has one {subject}, and here are several: {values}; {help}")]
    Uneven {
        /// The format.
        format: &'static str,
        /// The value for which the format has a single field.
        subject: String,
        /// Differences.
        values: String,
        /// Alternative.
        help: &'static str,
    },
    /// The format cannot represent a number.
    #[error("{format} takes {rule}, and here {arithmetic}; {help}")]
    Number {
        /// The format.
        format: &'static str,
        /// Accepted values.
        rule: &'static str,
        /// Present value.
        arithmetic: String,
        /// Alternative.
        help: &'static str,
    },
    /// A name has characters that the format does not allow.
    #[error("{format} takes names of {rule}, and `{name}` is none")]
    Name {
        /// The format.
        format: &'static str,
        /// Names it takes.
        rule: &'static str,
        /// The name.
        name: String,
    },
    /// The format cannot express an element.
    #[error("{format} has no {subject}; {help}")]
    Unknown {
        /// The format.
        format: &'static str,
        /// Missing parts.
        subject: String,
        /// Alternative.
        help: &'static str,
    },
}
