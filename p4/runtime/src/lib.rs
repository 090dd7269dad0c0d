//! P4Runtime: messages, client, P4Info index and server side.

pub mod canonical;
pub mod check;
pub mod client;
pub mod election;
pub mod entry;
pub mod info;
pub mod key;
pub mod order;
pub mod packet;
pub mod proto;
pub mod render;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
pub mod server;
pub mod status;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod value;

pub use election::{DeviceId, ElectionId, RoleName};
pub use info::Info;
pub use key::EntityKey;
