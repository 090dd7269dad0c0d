//! Follows single packets through the fabric that was read: a second, independent method for the same verdict.
//!
//! `exhaustive` walks every path of a small fabric, and `choices` every choice of switches. `trace` and `choice_trace`
//! follow one affected packet. `agreement` compares the results with the proof.

pub(crate) mod agreement;
pub(crate) mod choice_trace;
pub(crate) mod choices;
pub(crate) mod exhaustive;
pub(crate) mod trace;
