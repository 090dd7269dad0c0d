//! Packets walked one by one through what was read: the second way to the same verdict.
//!
//! `exhaustive` walks every path of a small fabric, and `choices`
//! every choice of switches; `trace` and `choice_trace` follow one packet that comes to harm; `agree` compares with the
//! proof.

pub(crate) mod agree;
pub(crate) mod choice_trace;
pub(crate) mod choices;
pub(crate) mod exhaustive;
pub(crate) mod trace;
