//! `none`: one class for all packets, without PFC, ECN or trimming.
//!
//! These are the explicit defaults of a switch without settings, for targets without QoS support. Hosts do not set code
//! points.

use super::super::Draft;
use super::super::class::Role;
use super::{dwrr, lossy, profile};

pub(in crate::profile) fn draft() -> Draft {
    // There is a single queue, so its weight has no effect.
    profile("none", "data", vec![lossy("data", Role::Data, &[0], 0, dwrr(100))])
}
