//! `sonic-ai-lossy-th5`: the six lossy data queues of `sonic-ai-lossy`, with the ECN thresholds and buffers of Tomahawk
//! 5.
//!
//! Source: sonic-buildimage Arista-7060X6-64PE-B-C512S2 (`qos.json.j2`, `buffers_defaults_t0.j2`): maps and weights as
//! in `sonic-ai-lossy`; one pair of ECN thresholds for all tiers; egress thresholds 0, 3, 3, 3, 0, -3, 0. Two values of
//! the SKU cannot be set in a profile: 1,778 bytes reserved for each queue, and an ingress limit of half of the pool
//! (`static_th` 82,434,938). closc reserves nothing and lets ingress use the complete pool (exponent 7). The
//! `TC_TO_DSCP_MAP` of the SKU is for trimmed packets, but trimming is disabled by default.

use super::super::Draft;
use super::sonic_ai_lossy;
use crate::ecn::EcnPreset;

pub(in crate::profile) fn draft() -> Draft {
    sonic_ai_lossy::with("sonic-ai-lossy-th5", EcnPreset::SonicAiTh5, [0, 3, 3, 3, 0, -3, 0])
}
