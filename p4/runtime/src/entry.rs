//! Builders of entities: the input is names and values, the output is checked messages in the canonical form.
//!
//! Callers use names instead of ids. Every builder runs the same checks as a server, so a target can reject the result
//! only because of its own state.

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
pub use wildcard::{wildcard, wildcards};

#[cfg(test)]
mod tests;
