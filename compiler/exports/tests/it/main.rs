//! All tests of this crate in one program, so that the workspace is linked once.

mod inventory;
mod nvidia;
mod schedule;
mod sflow;
mod simulate;
mod sonic_mgmt;
mod telemetry;
