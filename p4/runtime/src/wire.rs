//! Messages as bytes: what they will cost in memory, before anything is allocated for them.
//!
//! A message of P4Runtime can take hundreds of times its length once it is decoded: an empty update is two bytes on
//! the wire and some hundred in memory. So whoever receives messages keeps them as bytes ([`RawCodec`]), weighs them by
//! their shape ([`weigh`]), and decodes what fits a budget ([`decode`]), or one element after the other ([`Elements`]).

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
