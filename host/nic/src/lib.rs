//! The host agent. It sprays a node's packets over every plane, probes paths, avoids bad ones, and names broken cables.
//!
//! In: a compact path table, packets of the node from a TUN device, frames from the NIC's ports, requests over a Unix
//! socket. Out: frames, packets in order, answers, metrics. Invariants: everything except `io` can be tested without a
//! network. All state is bounded. Only `io/sys.rs` and the files below it contain unsafe code.

pub mod agent;
pub mod api;
pub mod batch;
pub mod channel;
pub mod choose;
mod congestion;
pub mod io;
pub mod localise;
pub mod long_probes;
pub mod losses;
mod offload;
pub mod pace;
pub mod probes;
mod ranges;
pub mod region;
pub mod reorder;
pub mod reordered_paths;
pub mod run_clock;
pub mod schedule;
mod search;
pub mod sent_log;
mod share;
pub mod wire;
pub mod writes;
