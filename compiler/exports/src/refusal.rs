//! Reasons why a format cannot carry a fabric.
//!
//! In: values of the fabric and limits of the format. Out: an error with both values and an alternative.

/// The reason why a format cannot carry a fabric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A count exceeds the limit of the format, or of a program that reads it.
    #[error("{format} supports at most {maximum} {subject}, but there are {count} ({arithmetic}); {help}")]
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
    #[error("{format} supports only one {subject}, but there are several: {values}; {help}")]
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
    #[error("{format} needs {rule}, but {arithmetic}; {help}")]
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
    #[error("`{name}` is not a valid name for {format}; expected {rule}")]
    Name {
        /// The format.
        format: &'static str,
        /// Accepted names.
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
