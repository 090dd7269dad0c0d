//! `lossy-trim`: the QoS of MRC. PFC is off. A full queue trims packets to their headers. The DSCP of a trimmed packet
//! tells the NIC whether the fabric or the port to the NIC was congested.
//!
//! Sources: the MRC paper and OCP specification (PFC off, trimming on, ECN everywhere except on the port to the NIC,
//! asymmetric DSCP of trimmed packets, control strict without trimming and WRED). Sites choose the code points; these
//! are the defaults of an emulator: 0, 4, 8, 12, 16, 46.

use super::super::class::{Class, Role, Scheduler};
use super::super::{ClassName, Draft, Trimming};
use super::{dwrr, lossy, profile};
use crate::codes::{Dscp, TrafficClass};
use crate::ecn::{ComputedThresholds, Ecn};

pub(in crate::profile) fn draft() -> Draft {
    let data = |name, role, dscp: &[u8], tc, weight| Class {
        trim: true,
        ecn: Ecn::Computed(ComputedThresholds::default()),
        ..lossy(name, role, dscp, tc, dwrr(weight))
    };
    let classes = vec![
        // MRC class NO_TRIM. It is the default, so that foreign traffic is never trimmed.
        lossy("no-trim", Role::Other, &[0], 0, dwrr(5)),
        // MRC class TRIMMABLE.
        data("data", Role::Data, &[4], 1, 70),
        // MRC class TRIMMABLE_RETX. It has a separate queue, so that retransmissions do not wait behind the packets
        // that caused them. The weight is our choice.
        data("retransmit", Role::Retransmit, &[8], 2, 15),
        // MRC classes TRIMMED and TRIMMED_LASTHOP. Their queue is weighted instead of strict, because headers from an
        // incast of many senders could otherwise fill the link. The weight is our choice.
        lossy("trimmed", Role::Trimmed, &[12, 16], 3, dwrr(10)),
        // MRC class CONTROL: strict, no trimming, no WRED.
        lossy("control", Role::Control, &[46], 6, Scheduler::Strict),
    ];
    Draft {
        trimming: Some(Trimming {
            size: None,
            class: ClassName::literal("trimmed"),
            tc: TrafficClass::constant(8),
            fabric_dscp: Dscp::constant(12),
            last_hop_dscp: Dscp::constant(16),
        }),
        // ECN is enabled on every queue except on the port to the NIC, where the receiver handles incast.
        ecn_last_hop: false,
        ..profile("lossy-trim", "no-trim", classes)
    }
}
