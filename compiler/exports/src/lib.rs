//! The plan as other programs read it: schedulers, simulators, emulators, inventories.
//!
//! In: a plan. Out: [`File`]s that are written line by line, or a [`Refusal`] with its arithmetic. Invariants: nothing is
//! written of a fabric that the format cannot carry; memory does not grow with the square of anything; the same plan gives
//! the same bytes. What is in each file, and which version of which format it is, is in `docs/exports.md`.

mod file;
mod refusal;

pub mod containerlab;
pub mod resources;
pub mod schedule;
pub mod simulate;
pub mod telemetry;

pub use file::File;
pub use refusal::Refusal;
