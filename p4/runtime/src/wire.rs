//! Encoded messages: estimates their memory before any of it is allocated.
//!
//! A decoded P4Runtime message can take hundreds of times its encoded length: an empty update has two bytes
//! on the wire and several hundred in memory. So a receiver keeps messages encoded ([`RawCodec`]) and
//! estimates their memory from their structure ([`weigh`]). It then decodes a message that fits its budget
//! ([`decode`]), or one element at a time ([`Elements`]).

#[cfg(feature = "transport")]
mod codec;
mod elements;
mod fields;
mod shape;
mod weigh;

#[cfg(feature = "transport")]
pub use codec::RawCodec;
pub use elements::Elements;
pub(crate) use weigh::weigh_file;
pub use weigh::{WireError, decode, weigh};
