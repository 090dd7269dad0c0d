//! A scripted target for tests: a real gRPC server on loopback that stores entities as specified and fails in the ways
//! that a test requests.
//!
//! It has no data plane. It shares the checks, the keys and the arbitration with the embedded switch.

mod certificates;
mod garbage;
mod line;
mod script;
mod service;
mod store;
mod target;

pub use certificates::{Authority, IssuedCertificate, Validity};
pub use garbage::GarbageServer;
pub use script::{Script, WriteFault};
pub use target::{FakeOptions, FakeTarget};
