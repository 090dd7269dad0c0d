//! Components of a P4Runtime server besides its state: connections within limits, the generated service trait, the
//! arbitration between controllers, and the statuses that the specification asks for.
//!
//! Checks of entities are in [`crate::check`], their identity in [`crate::key`], outcomes in [`crate::status`].

mod arbitration;
mod authority;
mod files;
mod limits;
mod listen;
mod preface;
mod request;
mod roster;
mod tls;

pub use arbitration::{Arbitration, Notification, Refusal, StreamId};
pub use files::{TlsFileError, TlsFiles};
pub use limits::Limits;
pub use listen::{Listener, Places, serve};
pub use request::Place;
pub use tls::{Acceptor, Protocol, ServerTls, TlsError};

pub use crate::proto::v1::p4_runtime_server::{P4Runtime, P4RuntimeServer};
