//! `none`: one class for everything, neither paused, marked nor trimmed.
//!
//! Explicit defaults of a switch without settings: for targets that render no QoS. Hosts mark nothing.

use super::super::Draft;
use super::super::class::Role;
use super::{dwrr, lossy, profile};

pub(in crate::profile) fn draft() -> Draft {
    // One queue alone: its weight is compared with no other.
    profile("none", "data", vec![lossy("data", Role::Data, &[0], 0, dwrr(100))])
}
