//! `sonic-ai-lossy`: six lossy data queues and no PFC, as on SONiC's newest AI SKUs.
//!
//! Source: sonic-buildimage Mellanox-SN5600-C256S1 (`qos.json.j2`, `buffers_defaults_objects.j2`): DSCP 1-2 to class 1,
//! 3-4 to 2, 5-6 to 3, 11-40 to 4, 41-50 to 5, the rest to 0; every class in priority group 0; DWRR 4, 8, 18, 22, 22,
//! 22, 4; ECN on queues 1 to 3 only (on 4 and 5, thresholds as large as the buffer disable WRED); egress thresholds 0,
//! -7, -7, -7, 0, -3, 0 and ingress 7. Mellanox-SN6600_LD-P128C2 has 48 as the weight of queue 4, egress thresholds 0,
//! -2, -2, -2, 2, -3, 0, and trims. Arista-7060X6-64PE-B-C512S2 has different ECN thresholds and buffers:
//! `sonic-ai-lossy-th5`. The `TC_TO_DSCP_MAP` of these SKUs is for trimmed packets; the preset does not trim.
//! `docs/language.md` lists the values that differ from the hwskus.

use super::super::Draft;
use super::super::class::{Class, Role};
use super::{alpha, dwrr, lossy, profile};
use crate::ecn::{Ecn, EcnPreset};

pub(in crate::profile) fn draft() -> Draft {
    with("sonic-ai-lossy", EcnPreset::SonicAi, [0, -7, -7, -7, 0, -3, 0])
}

/// Creates the profile with the ECN thresholds of queues 1 to 3, and the egress thresholds of queues 0 to 6.
pub(super) fn with(name: &'static str, marks: EcnPreset, egress: [i8; 7]) -> Draft {
    let marked = Ecn::Preset(marks);
    let queue = |name, role, dscp: &[u8], tc, weight, ecn, egress| Class {
        ecn,
        ingress_threshold: alpha(7),
        egress_threshold: alpha(egress),
        ..lossy(name, role, dscp, tc, dwrr(weight))
    };
    let bulk: Vec<u8> = (11..=40).collect();
    let high: Vec<u8> = (41..=50).collect();
    let classes = vec![
        queue("default", Role::Other, &[0], 0, 4, Ecn::Off, egress[0]),
        queue("data-1", Role::Data, &[1, 2], 1, 8, marked, egress[1]),
        queue("data-2", Role::Data, &[3, 4], 2, 18, marked, egress[2]),
        queue("data-3", Role::Data, &[5, 6], 3, 22, marked, egress[3]),
        queue("bulk", Role::Data, &bulk, 4, 22, Ecn::Off, egress[4]),
        queue("high", Role::Data, &high, 5, 22, Ecn::Off, egress[5]),
        // No code point maps to queue 6, which is for packets from the switch itself.
        queue("switch", Role::Control, &[], 6, 4, Ecn::Off, egress[6]),
    ];
    profile(name, "default", classes)
}
