//! All tests of this crate in one program, so that the workspace is linked once.

mod addresses;
#[path = "mutations/base.rs"]
#[allow(dead_code, reason = "plans are for damage by name")]
mod base;
mod bgp;
mod by_nic;
mod catalogue;
mod choices;
mod common;
mod converged;
mod deadlock;
mod generated;
mod harmless;
mod mutations;
mod names;
mod negotiation;
mod oracle;
mod own_walk;
mod parts;
mod pauses;
mod random;
mod regions;
mod repeated_keys;
mod routing;
mod shares;
mod watchdog;
mod zones;
