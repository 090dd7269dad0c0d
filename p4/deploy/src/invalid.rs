//! States that no target can have.

use thiserror::Error;

/// Entities that no target can have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidState {
    /// Nothing identifies it.
    #[error("an entity without identity: {entity}")]
    NoKey {
        /// The entity, by names.
        entity: String,
    },
    /// Nobody asked for it.
    #[error("an entity that was not asked for: {entity}")]
    NotAsked {
        /// The entity, by names.
        entity: String,
    },
    /// It is there twice.
    #[error("an entity twice: {entity}")]
    Twice {
        /// The entity, by names.
        entity: String,
    },
}
