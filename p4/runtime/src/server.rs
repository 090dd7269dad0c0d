//! What a P4Runtime server is built from, besides its state: the generated service trait, the arbitration between
//! controllers, and the statuses that the specification asks for.
//!
//! Checks of entities are in [`crate::check`], their identity in [`crate::key`], outcomes in [`crate::status`].

mod arbitration;
mod tls;

pub use arbitration::{Arbitration, Notification, Refusal, StreamId};
pub use tls::ServerTls;

pub use crate::proto::v1::p4_runtime_server::{P4Runtime, P4RuntimeServer};
