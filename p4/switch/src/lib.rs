//! The embedded software switch: a P4Runtime target that runs BMv2 JSON.
//!
//! Comes in: the JSON that `p4c-bm2-ss` writes for a v1model program, table entries, packets. Goes out: the packets
//! that BMv2's `simple_switch` would send. What always holds: no input can make it panic, a packet costs no allocation
//! once the buffers are warm, and the compiled program is shared by every switch that runs it.
//!
//! - [`json`] reads the file, [`program`] compiles it to index-resolved form.
//! - [`error`] holds what can be wrong with it.

pub mod bits;
pub mod command;
pub mod engine;
pub mod entity;
pub mod error;
pub mod fabric;
pub mod json;
pub mod pipeline;
pub mod ports;
pub mod program;
pub mod server;
pub mod state;
pub mod stf;
pub mod switch;

pub use error::Error;
