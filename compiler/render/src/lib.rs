//! Artefacts from intents: one file in `targets/` for each switch operating system.
//!
//! In: a [`closc_plan::DeviceIntent`] or [`closc_plan::HostIntent`]. Out: [`Artefact`]s, files with a path relative to
//! the output folder. Invariants: no I/O; equal intents give equal bytes; this crate depends on intents, not on the
//! topology. JSON is written by a serializer, text by the templates in `templates/`.

mod artefact;
mod template;

pub mod kubernetes;
pub mod mrc;
pub mod path_table;
pub mod targets;

pub use artefact::{Artefact, RenderError};
pub use template::Templates;
