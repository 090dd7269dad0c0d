//! Fate of a packet at a switch and on a cable, for the proof and for the walks.
//!
//! `carry` says whether a frame gets over a cable; `packet` forwards one packet as the switches would.

pub(crate) mod carry;
pub(crate) mod packet;
