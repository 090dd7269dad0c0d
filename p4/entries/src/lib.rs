//! Table entries for a pipeline from a device intent. Each pipeline has one module and one line in the registry.
//!
//! In: a [`closc_plan::DeviceIntent`] and the P4Info of a pipeline. Out: entities by table and action name, checked
//! against that P4Info, and the text files that contain them. Invariants: no I/O. The same intent gives the same
//! entities in the same order, and each entity comes after those it refers to. This crate contains no numeric id of a
//! P4Info.

pub mod checks;

mod error;
mod pipeline;
mod tree;

pub use error::EntriesError;
pub use pipeline::Pipeline;
pub use tree::{File, entries_file, pipeline_files};
