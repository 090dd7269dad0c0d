//! The P4Runtime service over any number of switches.
//!
//! In: requests of controllers, for the switch whose device id they name. Out: answers with the codes of the
//! specification. Invariants: a write is done before another controller becomes primary, and what a switch
//! has to say never waits for a controller that does not listen.

mod answer;
mod arriving;
mod device;
mod endpoint;
mod leaders;
mod outlet;
mod packets;
mod room;
mod route;
mod service;
mod stream;

pub use endpoint::{Endpoint, EndpointError};
pub(crate) use packets::PacketService;
pub use packets::{PACKET_STREAM, PortPacket};
pub use service::{Load, Service};

/// Version of the interface that the server speaks.
pub(crate) const API_VERSION: &str = "1.5.0";
