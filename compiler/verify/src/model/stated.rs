//! Values of the manifest about the fabric: required contents of the files, independent of their agreement.

pub(crate) use closc_artefacts::{
    BgpTimers, Counts, StatedAddresses, StatedBalance, StatedBuffer, StatedClass, StatedHosts,
    StatedManagement, StatedPort, StatedQos, StatedSwitch, StatedValues, StatedWiring,
};
