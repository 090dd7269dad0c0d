//! A complete P4Runtime client.
//!
//! A [`Client`] is a connection to one device of one target: it reads entities, the pipeline and the
//! capabilities. A [`Session`] is a controller on that connection: it takes part in the arbitration, writes,
//! sets the pipeline, exchanges packets and reconnects after the connection breaks. Every call has a
//! deadline, and every error names the target and, for a write, the update.

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
