//! Packets walked one by one through what was read: the second way to the same verdict.
//!
//! `packet` forwards one packet as the switches would; `exhaustive` walks every path of a small fabric;
//! `journey` tells the way of one packet that came to harm.

pub(crate) mod choices;
pub(crate) mod exhaustive;
pub(crate) mod journey;
pub(crate) mod packet;
pub(crate) mod trip;
