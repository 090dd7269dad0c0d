//! P4Runtime: messages, client, P4Info index and server side.

pub mod info;
pub mod proto;
pub mod value;

pub use info::Info;
