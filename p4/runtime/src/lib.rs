//! P4Runtime: messages, client, P4Info index and server side; and a client of gNMI, which shares its connections.
//!
//! - [`proto`]: the messages and the services, from text in `proto/`;
//! - [`info`]: a P4Info by name, shared by client and server;
//! - [`value`], [`data`]: numbers, addresses and structs as canonical byte strings and back;
//! - [`entry`], [`packet`]: entities and packets built by name;
//! - [`check`]: every rule that an entity can break, for the builder and for a server;
//! - [`restriction`]: what `@entry_restriction` and `@action_restriction` demand;
//! - [`key`], [`canonical`], [`order`]: identity, equality and order of entities;
//! - [`room`]: whether tables and profiles hold entities;
//! - [`text`], [`render`]: `.txtpb` files in and out, one line for people;
//! - [`client`]: sessions, writes, reads, pipelines;
//! - [`gnmi`]: Capabilities, Get and Set of gNMI;
//! - [`wire`]: messages as bytes, weighed before they are decoded;
//! - [`server`], [`status`]: arbitration and errors for a server;
//! - `testing` (with the feature of that name): a scripted target.
//!
//! Without the feature `transport` (on by default) there are messages and checks, and no client, server or socket.

pub mod canonical;
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
pub mod room;
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
