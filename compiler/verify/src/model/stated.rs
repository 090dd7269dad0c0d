//! Values in the manifest that the files must contain, whether or not the files agree with each other.

pub(crate) use closc_artefacts::{
    BgpTimers, Counts, StatedAddresses, StatedBalance, StatedBuffer, StatedClass, StatedHosts,
    StatedManagement, StatedPort, StatedQos, StatedSwitch, StatedValues, StatedWiring,
};
