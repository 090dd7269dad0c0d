//! `meta-roce`: PFC only. The collective library starts senders with clear-to-send messages, which have a separate
//! class. DCQCN is off, so there are no ECN marks or notifications.
//!
//! Sources: Meta at SIGCOMM 2024 and Engineering at Meta, 2024-08-05: at 400G, PFC and receiver-driven admission
//! without DCQCN, and prioritised clear-to-send packets. The code points are not published. They are 26 and 46 as in
//! `lossless`, so that a fabric can change between the two without changing the code points on hosts.

use super::super::Draft;
use super::super::class::{Role, Scheduler};
use super::{dwrr, lossless, lossy, profile};
use crate::ecn::Ecn;

pub(in crate::profile) fn draft() -> Draft {
    let classes = vec![
        lossy("best-effort", Role::Other, &[0], 0, dwrr(10)),
        lossless("data", &[26], 3, dwrr(90), Ecn::Off),
        lossy("cts", Role::Cts, &[46], 5, Scheduler::Strict),
        lossy("control", Role::Control, &[48], 6, Scheduler::Strict),
    ];
    profile("meta-roce", "best-effort", classes)
}
