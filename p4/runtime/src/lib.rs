//! P4Runtime: messages, client, P4Info index and server side; also a gNMI client, which uses the same connections.
//!
//! - [`proto`]: the messages and the services, generated from `proto/`;
//! - [`info`]: a P4Info by name, shared by client and server;
//! - [`value`], [`data`]: numbers, addresses and structs as canonical byte strings and back;
//! - [`entry`], [`packet`]: entities and packets built by name;
//! - [`check`]: every rule that an entity can break, for the builder and for a server;
//! - [`restriction`]: evaluates `@entry_restriction` and `@action_restriction`;
//! - [`key`], [`canonical`], [`order`]: identity, equality and order of entities;
//! - [`capacity`]: checks whether entities fit in tables and profiles;
//! - [`text`], [`render`]: reads and writes `.txtpb` files, and shows entities in one line;
//! - [`client`]: sessions, writes, reads, pipelines;
//! - [`gnmi`]: Capabilities, Get and Set of gNMI;
//! - [`wire`]: encoded messages, whose memory is estimated before they are decoded;
//! - [`server`], [`status`]: arbitration and errors for a server;
//! - `testing` (with the feature of that name): a scripted target.
//!
//! Without the feature `transport` (on by default) the crate has only messages and checks, and no client, server or
//! socket.

pub mod canonical;
pub mod capacity;
pub mod check;
#[cfg(feature = "transport")]
pub mod client;
pub mod data;
#[cfg(feature = "transport")]
pub mod election;
pub mod entry;
#[cfg(feature = "transport")]
pub mod gnmi;
pub mod info;
pub mod key;
pub mod order;
pub mod packet;
mod pipeline;
pub mod proto;
pub mod render;
pub mod restriction;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
#[cfg(feature = "transport")]
pub mod server;
#[cfg(feature = "transport")]
pub mod status;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod value;
pub mod wire;

#[cfg(feature = "transport")]
pub use election::{DeviceId, ElectionId, RoleName};
pub use info::Info;
pub use key::EntityKey;
pub use pipeline::Pipeline;

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "transport"))]
#[doc = include_str!("../README.md")]
struct Readme;
