//! P4Runtime: messages, client, P4Info index and server side.

pub mod proto;
