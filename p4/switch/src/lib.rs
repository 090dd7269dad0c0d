//! The embedded software switch: a P4Runtime target that runs BMv2 JSON.
//!
//! In: the JSON that `p4c-bm2-ss` writes for a v1model program, table entries, packets. Out: the packets that BMv2's
//! `simple_switch` would send. Invariants: no input causes a panic. After warm-up, packets need no allocations.
//! Switches with the same program share its compiled form.
//!
//! - [`Program`] is compiled from the file, and [`Engine`] runs it on packets. [`Script`] is a packet test of both.
//! - [`Pipeline`] is a program with its P4Info; [`Store`] keeps P4Runtime entities in an engine.
//! - [`Switch`] is a target: pipeline, store, ports, clock. [`Service`] and [`Endpoint`] serve it to controllers.
//! - [`Fabric`] connects switches of one process; [`switch_main`] is a process with one switch.

mod bits;
mod command;
mod engine;
mod entity;
mod error;
mod fabric;
mod json;
mod pipeline;
mod ports;
mod program;
mod server;
mod state;
mod stf;
mod switch;

pub use command::{Addresses, CommandError, switch_main};
pub use engine::{Engine, EngineConfig, QueueConfig, Rate, Sink};
pub use entity::{Fault, Store};
pub use error::Error;
pub use fabric::{
    Corruption, Delivery, Driver, Fabric, FabricConfig, FabricHandle, Injection, LinkCount, LinkEnd,
    LinkError, LostPacket, Node, RunCount,
};
pub use pipeline::{Pipeline, PipelineCache, PipelineError};
pub use program::Program;
pub use server::{Endpoint, EndpointError, Load, PACKET_STREAM, PortPacket, Service};
pub use state::DigestList;
pub use stf::{CheckedPorts, Script};
pub use switch::{Clock, NoPipeline, Outbox, ReadResult, Switch, SwitchConfig};
