//! Entities built by name: names and values go in, checked messages in the canonical form come out.
//!
//! Nothing is written by number. Every builder runs the same checks as a server does, so what it returns is
//! refused by a target only for what the target alone knows.

mod action;
mod profile;
mod replication;
mod resource;
mod table;
mod update;
mod wildcard;

pub use action::{Arguments, action};
pub use profile::{GroupMember, WeightedAction, action_set, group, member};
pub use replication::{Copy, clone_session, multicast_group};
pub use resource::{counter, digest, meter, register, value_set};
pub use table::EntryBuilder;
pub use wildcard::{everything, wildcard};

#[cfg(test)]
mod tests;
