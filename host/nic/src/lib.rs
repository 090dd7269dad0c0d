//! The host agent: sprays packets of a node over every plane, probes them, leaves bad paths, names broken cables.
//!
//! In: a compact path table, packets of the node by a TUN device, frames of the NIC's ports, requests over a Unix
//! socket. Out: frames, packets in order, answers, metrics. Invariants: everything but `io` is pure, so it is tested
//! without a network; nothing is kept without a bound; `io/sys.rs` is the only file with unsafe code.

pub mod agent;
pub mod api;
pub mod batch;
pub mod channel;
pub mod choose;
mod congestion;
pub mod io;
pub mod localise;
pub mod long;
pub mod losses;
mod offload;
pub mod overtaken;
pub mod pace;
pub mod probes;
mod ranges;
pub mod region;
pub mod reorder;
pub mod run_clock;
pub mod schedule;
mod search;
pub mod sent;
pub mod wire;
pub mod writes;
