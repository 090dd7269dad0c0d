//! `juniper-dcqcn`: the settings of the DCQCN configlet of Juniper Apstra.
//!
//! Source: juniper.net Apstra "Create and Import a DCQCN Configlet": DSCP 011010 (26) to NO-LOSS, queue 4,
//! pfc-priority 3; DSCP 110000 (48) to CNP, queue 3; drop profile fill 55 to 90 %, probability 0 to 100;
//! ingress shared buffer lossless 66 %, headroom 24 %, lossy 10 %; PFC watchdog.

use super::super::class::{Class, Role, Scheduler};
use super::super::{BufferShares, Draft};
use super::{dwrr, lossless, lossy, profile};
use crate::codes::{Percent, Priority, PriorityGroup};
use crate::ecn::{Ecn, Fill};

pub(in crate::profile) fn draft() -> Draft {
    let fill =
        Fill { min: Percent::constant(55), max: Percent::constant(90), probability: Percent::constant(100) };
    let classes = vec![
        // The configlet does not configure other traffic, which Junos puts into queue 0.
        lossy("best-effort", Role::Other, &[0], 0, dwrr(10)),
        // Queue 3 and pfc-priority 3 belong to different classes here, so on a host CNP needs a different priority.
        Class { priority: Priority::constant(6), ..lossy("cnp", Role::Cnp, &[48], 3, Scheduler::Strict) },
        Class {
            priority: Priority::constant(3),
            priority_group: PriorityGroup::constant(3),
            ..lossless("no-loss", &[26], 4, dwrr(90), Ecn::Fill(fill))
        },
    ];
    Draft {
        buffer_shares: Some(BufferShares {
            lossless: Percent::constant(66),
            headroom: Percent::constant(24),
            lossy: Percent::constant(10),
        }),
        ..profile("juniper-dcqcn", "best-effort", classes)
    }
}
