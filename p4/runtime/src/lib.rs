//! P4Runtime: messages, client, P4Info index and server side.

pub mod check;
pub mod election;
pub mod info;
pub mod proto;
pub mod server;
pub mod status;
pub mod value;

pub use election::{DeviceId, ElectionId, RoleName};
pub use info::Info;
