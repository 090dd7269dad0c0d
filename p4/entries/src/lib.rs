//! Table entries for a pipeline from a device intent: one file for each pipeline, one line in its registry.
//!
//! In: a [`closc_plan::DeviceIntent`] and the P4Info of a pipeline. Out: entities by table and action name, checked
//! against that P4Info, and the text files they are kept in. Invariants: no I/O; the same intent gives the same
//! entities in the same order, what is referred to before what refers to it; no number of a P4Info is written here.

pub mod checks;

mod error;
mod pipeline;
mod tree;

pub use error::EntriesError;
pub use pipeline::Pipeline;
pub use tree::{File, entries_file, pipeline_files};
