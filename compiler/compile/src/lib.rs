//! From a fabric file to a plan, and from a plan to a tree.
//!
//! [`front`] is the one way from text to a [`closc_plan::Plan`]: load, lower, expand, plan, with every check. The rest
//! is the one way from a plan to files: [`Unit`]s are rendered in parallel into a tree ([`tree()`]), an archive
//! ([`archive()`]) or memory ([`memory()`]). Invariants: a unit is rendered, written and dropped; a process that is killed, or
//! loses power, leaves the old tree or the new one, whole.

mod archive;
mod blob;
mod cables;
mod error;
mod fingerprint;
pub mod front;
mod job;
mod meaning;
mod memory;
mod packed;
mod part;
mod pipelines;
mod plain;
mod select;
mod shard;
mod signature;
mod state;
mod swap;
mod unit;
mod write;

pub use archive::{archive, archive_into};
pub use blob::Blob;
pub use error::CompileError;
pub use fingerprint::{Fingerprint, Fingerprints};
pub use job::Job;
pub use meaning::meaning;
pub use memory::{memory, memory_of};
pub use packed::{Packed, PackedError};
pub use part::Part;
pub use pipelines::pipeline_digests;
pub use plain::Plain;
pub use select::Selection;
pub use shard::Shard;
pub use signature::{NAMESPACE, SignatureError, SignedTree, Signee, Signer};
pub use unit::Unit;
pub use write::{Report, Target, tree, tree_unless_stopped};
