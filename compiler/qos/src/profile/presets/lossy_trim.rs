//! `lossy-trim`: the fabric of MRC. Nothing is paused; a full queue cuts packets to their headers, and the
//! DSCP of what is left tells the NIC whether the fabric or its own port was full.
//!
//! Sources: the MRC paper and OCP specification (PFC off, trimming on, ECN everywhere but on the port to the
//! NIC, asymmetric DSCP of trimmed packets, control strict without trimming and WRED). The values of the
//! code points are a choice of the site; these are the defaults of an emulator: 0, 4, 8, 12, 16, 46.

use super::super::class::{Class, Role, Scheduler};
use super::super::{ClassName, Draft, Trimming};
use super::{dwrr, lossy, profile};
use crate::codes::{Dscp, TrafficClass};
use crate::ecn::{Computed, Ecn};

pub(in crate::profile) fn draft() -> Draft {
    let data = |name, role, dscp: &[u8], tc, weight| Class {
        trim: true,
        ecn: Ecn::Computed(Computed::default()),
        ..lossy(name, role, dscp, tc, dwrr(weight))
    };
    let classes = vec![
        // MRC class NO_TRIM; the default, so that foreign traffic is never trimmed.
        lossy("no-trim", Role::Other, &[0], 0, dwrr(5)),
        // MRC class TRIMMABLE.
        data("data", Role::Data, &[4], 1, 70),
        // MRC class TRIMMABLE_RETX: a queue of its own, so that a second try does not wait behind the first
        // tries that caused it. The weight is our choice.
        data("retransmit", Role::Retransmit, &[8], 2, 15),
        // MRC classes TRIMMED and TRIMMED_LASTHOP. Weighted and not strict: headers of an incast of many
        // senders could take all of the link otherwise. The weight is our choice.
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
        // ECN on every queue but those of the port to the NIC: there, incast is the receiver's business.
        ecn_last_hop: false,
        ..profile("lossy-trim", "no-trim", classes)
    }
}
