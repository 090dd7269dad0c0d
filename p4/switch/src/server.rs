//! The P4Runtime service over any number of switches.
//!
//! In: requests of controllers, with a device id. Out: answers with the codes of the specification. Invariants: a write
//! is completed before another controller becomes primary. A switch never waits for a controller that does not read its
//! messages.

mod answer;
mod device;
mod endpoint;
mod leaders;
mod outlet;
mod packets;
mod request_body;
mod request_budget;
mod route;
mod service;
mod stream;

pub use endpoint::{Endpoint, EndpointError};
pub(crate) use packets::PacketService;
pub use packets::{PACKET_STREAM, PortPacket};
pub use service::{Load, Service};

/// Supported version of P4Runtime.
pub(crate) const API_VERSION: &str = "1.5.0";
