//! A scripted target for tests: a real gRPC server on loopback that keeps entities as the specification says and
//! fails in every way a test asks for.
//!
//! It has no data plane. What it shares with the embedded switch is the checks, the keys and the arbitration.

mod certificates;
mod garbage;
mod line;
mod script;
mod service;
mod store;
mod target;

pub use certificates::{Authority, Issued, Validity};
pub use garbage::GarbageServer;
pub use script::{Script, WriteFault};
pub use target::{FakeOptions, FakeTarget};
