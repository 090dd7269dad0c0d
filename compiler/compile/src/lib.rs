//! From a fabric file to a plan, and from a plan to a tree.
//!
//! [`front`] is the only path from text to a [`closc_plan::Plan`]: load, lower, expand and plan, including
//! every check. The rest is the only path from a plan to files: [`Unit`]s are rendered in parallel into a
//! tree ([`write_tree()`]), an archive ([`archive()`]) or memory ([`compile_in_memory()`]). Invariants: each
//! unit is dropped once it is rendered and written. After a crash or power failure, either the old tree or the
//! new one is complete. Without the feature `disk` no files are accessed, and the crate compiles for targets
//! without a file system.

// Without `disk` the writer is not compiled, so some code of jobs and errors is unused.
#![cfg_attr(not(feature = "disk"), allow(dead_code))]

#[cfg(feature = "disk")]
mod archive;
#[cfg(feature = "disk")]
mod blob;
mod cables;
mod error;
mod fingerprint;
#[cfg(feature = "disk")]
mod folder;
pub mod front;
mod job;
mod meaning;
mod memory;
#[cfg(feature = "disk")]
mod packed;
mod part;
mod pipelines;
mod plain_switches;
mod select;
mod shard;
#[cfg(feature = "disk")]
mod signature;
#[cfg(feature = "disk")]
mod state;
#[cfg(feature = "disk")]
mod swap;
mod unit;
#[cfg(feature = "disk")]
mod write;

#[cfg(feature = "disk")]
pub use archive::{archive, archive_into};
#[cfg(feature = "disk")]
pub use blob::Blob;
pub use error::CompileError;
pub use fingerprint::{Fingerprint, Fingerprints};
#[cfg(feature = "disk")]
pub use folder::Folder;
pub use job::Job;
pub use meaning::plan_digest;
pub use memory::{compile_in_memory, compile_part_in_memory};
#[cfg(feature = "disk")]
pub use packed::{PackedError, PackedTree};
pub use part::Part;
pub use pipelines::pipeline_digests;
pub use plain_switches::PlainSwitches;
pub use select::Selection;
pub use shard::Shard;
#[cfg(feature = "disk")]
pub use signature::{NAMESPACE, SignatureError, SignedTree, Signer, TrustedKey};
pub use unit::Unit;
#[cfg(feature = "disk")]
pub use write::{Report, Target, tree_unless_stopped, write_tree};
