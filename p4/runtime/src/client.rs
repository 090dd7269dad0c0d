//! A complete P4Runtime client.
//!
//! A [`Client`] is a connection to one device of one target: it reads, and asks for pipeline and capabilities. A
//! [`Session`] is a controller on it: it takes part in the arbitration, writes, sets the pipeline, exchanges
//! packets and comes back after the connection broke. Every call has a deadline, and every error says which
//! target and which update it is about.

mod backoff;
mod batch;
mod connect;
mod controller;
mod endpoint;
mod error;
mod event;
mod fault;
mod options;
mod pipeline;
mod probe;
mod read;
mod session;
mod stream;
mod write;

pub use backoff::{Backoff, Jitter};
pub use connect::Client;
pub use controller::{Controller, Primacy};
pub use endpoint::{ClientTls, Endpoint};
pub use error::{ClientError, Rpc};
pub use event::Event;
pub use fault::{ConnectFault, TlsFault};
pub use options::{Deadlines, Options, WriteOptions};
pub use pipeline::{Commit, PipelineChange};
pub use read::State;
pub use session::{Events, Session};
pub use write::{FailedUpdate, WriteError};

pub use crate::pipeline::Pipeline;
