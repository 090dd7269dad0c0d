//! The plan in the formats of other programs: schedulers, simulators, emulators, inventories.
//!
//! In: a plan. Out: [`File`]s that are written line by line, or a [`Refusal`] with its arithmetic.
//! Invariants: if the format cannot represent the fabric, nothing is written. Memory use is never quadratic
//! in the fabric's size. The same plan gives the same bytes. `docs/exports.md` lists the contents and format
//! version of each file.

mod file;
mod refusal;

pub mod air;
pub mod containerlab;
pub mod l8k;
pub mod resources;
pub mod schedule;
pub mod simulate;
pub mod sonic_mgmt;
pub mod telemetry;

pub use file::File;
pub use refusal::Refusal;
