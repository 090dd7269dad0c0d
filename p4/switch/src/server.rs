//! The P4Runtime service over any number of switches.
//!
//! Comes in: requests of controllers, for the switch whose device id they name. Goes out: answers with the codes of the
//! specification. Invariants: a write is done before another controller becomes primary, and what a switch
//! has to say never waits for a controller that does not listen.

mod answer;
mod device;
mod endpoint;
mod outlet;
pub mod packets;
mod route;
mod service;
mod stream;

pub use endpoint::{Endpoint, EndpointError};
pub use packets::PacketService;
pub use service::{Load, Service};

/// Version of the interface that the server speaks.
pub const API_VERSION: &str = "1.5.0";
