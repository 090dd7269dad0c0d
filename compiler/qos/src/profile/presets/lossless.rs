//! `lossless`: RoCE with PFC and ECN, for any vendor. DSCP 26 in priority 3 and CNP 48 in class 6, as NVIDIA
//! and Juniper both have it; ECN computed for the fabric; one lossless priority.

use super::super::Draft;
use super::super::class::{Role, Scheduler};
use super::{dwrr, lossless, lossy, profile};
use crate::ecn::{Computed, Ecn};

pub(in crate::profile) fn draft() -> Draft {
    let classes = vec![
        // Everything that is not RDMA.
        lossy("best-effort", Role::Other, &[0], 0, dwrr(10)),
        // RoCE data: DSCP 26, priority 3 (NVIDIA RoCE mode, Juniper DCQCN configlet). The weight is our
        // choice: a back-end network carries little else.
        lossless("data", &[26], 3, dwrr(90), Ecn::Computed(Computed::default())),
        // Clear-to-send messages of the collective library (NCCL_IB_FIFO_TC). Nobody publishes a DSCP; 46
        // leads to class 5 in SONiC's default map too. Strict and lossy: a few bytes a message never fill a
        // strict queue, and a second lossless priority would cost a second headroom on every port.
        lossy("cts", Role::Cts, &[46], 5, Scheduler::Strict),
        // Congestion notification: DSCP 48, class 6, strict (NVIDIA RoCE mode). Network control (CS6) has the
        // same code point and is welcome here.
        lossy("cnp", Role::Cnp, &[48], 6, Scheduler::Strict),
    ];
    profile("lossless", "best-effort", classes)
}
