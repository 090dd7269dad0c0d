//! Forwarding of packets by switches and over cables, for the proof and the walks.
//!
//! `carry` decides whether a frame crosses a cable; `packet` forwards a packet as the switches would.

pub(crate) mod carry;
pub(crate) mod packet;
