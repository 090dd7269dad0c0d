//! What the fabric states of itself in the manifest: what must be in the files, whatever all of them say alike.

pub(crate) use closc_artefacts::{
    BgpTimers, Counts, Stated, StatedAddresses, StatedBuffer, StatedClass, StatedHosts, StatedManagement,
    StatedPort, StatedQos, StatedSwitch, StatedWiring,
};
