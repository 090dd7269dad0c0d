//! `none`: one class for everything, neither paused, marked nor trimmed.
//!
//! Explicit defaults of a switch without settings: for targets without QoS support. Hosts mark nothing.

use super::super::Draft;
use super::super::class::Role;
use super::{dwrr, lossy, profile};

pub(in crate::profile) fn draft() -> Draft {
    // A single queue, so its weight has no effect.
    profile("none", "data", vec![lossy("data", Role::Data, &[0], 0, dwrr(100))])
}
