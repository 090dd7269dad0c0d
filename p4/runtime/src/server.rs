//! Components of a P4Runtime server, without its state: a listener with limits, the generated service trait, the
//! arbitration between controllers, and the statuses that the specification requires.
//!
//! Entities are checked in [`crate::check`] and identified in [`crate::key`]; outcomes are in [`crate::status`].

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
