//! `sonic-azure`: the default configuration of SONiC.
//!
//! Source: sonic-buildimage `files/build_templates/qos_config.j2`: DSCP 3 to class 3, 4 to 4, 46 to 5, 48 to
//! 6, 8 to 0, 5 to 2, the rest to 1; classes 3 and 4 lossless; `scheduler.0` weight 14, `scheduler.1` weight
//! 15; `AZURE_LOSSLESS` 1048576, 2097152, 5 %.

use super::super::Draft;
use super::super::class::Role;
use super::{dwrr, lossless, lossy, profile};
use crate::ecn::{Ecn, EcnPreset};

pub(in crate::profile) fn draft() -> Draft {
    let ecn = Ecn::Preset(EcnPreset::SonicAzure);
    let classes = vec![
        lossy("background", Role::Other, &[8], 0, dwrr(14)),
        // The default class; senders mark it with DSCP 0.
        lossy("best-effort", Role::Other, &[0], 1, dwrr(14)),
        lossy("assured", Role::Other, &[5], 2, dwrr(14)),
        lossless("lossless-3", &[3], 3, dwrr(15), ecn),
        lossless("lossless-4", &[4], 4, dwrr(15), ecn),
        lossy("expedited", Role::Other, &[46], 5, dwrr(14)),
        // NICs send congestion notifications with DSCP 48 unless configured otherwise.
        lossy("cnp", Role::Cnp, &[48], 6, dwrr(14)),
    ];
    profile("sonic-azure", "best-effort", classes)
}
