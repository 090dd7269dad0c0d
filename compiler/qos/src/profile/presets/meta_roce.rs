//! `meta-roce`: PFC only. The collective library starts senders by clear-to-send messages, which have a separate class.
//! DCQCN is off, so marks and notifications do not occur.
//!
//! Sources: Meta at SIGCOMM 2024 and Engineering at Meta, 2024-08-05: at 400G no DCQCN, PFC and receiver-driven
//! admission, clear-to-send packets prioritised. The code points are not published: 26 and 46 as in `lossless`, so that
//! a fabric can move between the two without touching its hosts' marks.

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
