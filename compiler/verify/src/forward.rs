//! Forwarding of a packet by switches and over cables, for the proof and for the walks.
//!
//! `carry` decides whether a frame crosses a cable; `packet` forwards one packet as the switches would.

pub(crate) mod carry;
pub(crate) mod packet;
