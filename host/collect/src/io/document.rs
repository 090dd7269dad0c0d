//! Documents that are served as JSON: their names and formats.
//!
//! Invariants: every answer begins with its document name in `schema`. A list is in `items`. The schemas are in
//! `docs/schemas`.

use schemars::JsonSchema;
use serde::Serialize;

/// Names of the documents that are served.
pub mod names {
    /// `/api/summary`, and what `closc collect` prints.
    pub const SUMMARY: &str = "closc-collect/1";
    /// `/api/sources`.
    pub const SOURCES: &str = "closc-collect-sources/1";
    /// `/api/plane`.
    pub const PLANE: &str = "closc-collect-plane/1";
    /// `/api/cables`.
    pub const CABLES: &str = "closc-collect-cables/1";
    /// `/api/paths`.
    pub const PATHS: &str = "closc-collect-paths/1";
    /// `/api/decode`.
    pub const ADDRESS: &str = "closc-collect-address/1";
    /// `/api/session`.
    pub const SESSION: &str = "closc-collect-session/1";
    /// `POST /api/drain` and `/api/lift`.
    pub const CHANGES: &str = "closc-collect-changes/1";
    /// An error.
    pub(crate) const ERROR: &str = "closc-error/1";
}

/// Permission of the client to change denials.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Session {
    /// The token for orders, if the client has the certificate of an operator. Other clients need the token file of the
    /// collector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Whether denials are applied.
    pub apply: bool,
}

/// An error.
#[derive(Serialize)]
pub(super) struct Failure {
    pub(super) error: String,
}

/// A document as it is serialised.
#[derive(Serialize)]
pub(super) struct DocumentEnvelope<'a, T> {
    pub(super) schema: &'static str,
    #[serde(flatten)]
    pub(super) value: &'a T,
}

/// A list as it is serialised.
#[derive(Serialize)]
pub(super) struct List<'a, T> {
    pub(super) items: &'a [T],
}
