//! `lossless`: RoCE with PFC and ECN, for any vendor. DSCP 26 has priority 3 and CNP has DSCP 48, as with NVIDIA and
//! Juniper. CNP is in class 6, as with NVIDIA. ECN is computed for the fabric, and there is one lossless priority.

use super::super::Draft;
use super::super::class::{Role, Scheduler};
use super::{dwrr, lossless, lossy, profile};
use crate::ecn::{ComputedThresholds, Ecn};

pub(in crate::profile) fn draft() -> Draft {
    let classes = vec![
        // All traffic except RDMA.
        lossy("best-effort", Role::Other, &[0], 0, dwrr(10)),
        // RoCE data: DSCP 26, priority 3 (NVIDIA RoCE mode, Juniper DCQCN configlet). The weight is our choice, because
        // a back-end network carries little other traffic.
        lossless("data", &[26], 3, dwrr(90), Ecn::Computed(ComputedThresholds::default())),
        // Clear-to-send messages of the collective library (NCCL_IB_FIFO_TC). No published source has a DSCP for them;
        // 46 also maps to class 5 in SONiC's default. The class is strict and lossy: a few bytes per message never fill
        // a strict queue, and a second lossless priority would need additional headroom on every port.
        lossy("cts", Role::Cts, &[46], 5, Scheduler::Strict),
        // Congestion notification: DSCP 48, class 6, strict (NVIDIA RoCE mode). Network control (CS6) has the same code
        // point and may share the class.
        lossy("cnp", Role::Cnp, &[48], 6, Scheduler::Strict),
    ];
    profile("lossless", "best-effort", classes)
}
