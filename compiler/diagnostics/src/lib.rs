//! Spans, diagnostics and their codes, shown as text, JSON or CI annotations.
//!
//! In: the errors and warnings of a stage, as [`Diagnostic`]s that point into [`Sources`]. Out: text for a
//! terminal, JSON lines for tools, annotations for GitHub. A stage adds its findings to [`Diagnostics`] and
//! continues, so one run reports all of its errors. The run stops at the end of a stage that found an error.

mod diagnostic;
mod fix;
mod levels;
mod rule;
mod source;

pub mod figures;
pub mod printable;
pub mod show;

pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use fix::{Change, Fix, Trust};
pub use levels::{Level, Levels};
pub use rule::Rule;
pub use source::{Position, Source, SourceId, Sources, Span};
