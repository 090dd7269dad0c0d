//! States that no target can have.

use thiserror::Error;

/// Entities that no target can have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidState {
    /// It has no key.
    #[error("an entity without identity: {entity}")]
    NoKey {
        /// The entity, by names.
        entity: String,
    },
    /// It does not belong to any wildcard of the read request.
    #[error("an entity that was not requested: {entity}")]
    NotAsked {
        /// The entity, by names.
        entity: String,
    },
    /// It occurs twice, with different contents.
    #[error("a duplicate entity: {entity}")]
    Twice {
        /// The entity, by names.
        entity: String,
    },
}
