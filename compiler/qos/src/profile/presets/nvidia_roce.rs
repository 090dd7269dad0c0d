//! `nvidia-roce`: the settings that `roce lossless` makes on NVIDIA switches.
//!
//! Source: docs.nvidia.com, Cumulus Linux "RDMA over Converged Ethernet" and Onyx `show roce`: trust L3; switch
//! priority 3 to class 3 (RoCE), 6 to class 6 (CNP), the rest to class 0; class 6 strict, classes 3 and 0 WRR
//! 50 % each; ECN absolute 150 KB to 1500 KB; PFC on priority 3.

use super::super::Draft;
use super::super::class::{Role, Scheduler};
use super::{dwrr, lossless, lossy, profile};
use crate::ecn::{Ecn, EcnPreset};

pub(in crate::profile) fn draft() -> Draft {
    let classes = vec![
        lossy("other", Role::Other, &[0], 0, dwrr(50)),
        lossless("roce", &[26], 3, dwrr(50), Ecn::Preset(EcnPreset::NvidiaRoce)),
        lossy("cnp", Role::Cnp, &[48], 6, Scheduler::Strict),
    ];
    profile("nvidia-roce", "other", classes)
}
