//! Targets: the programs that run the switches of a lab.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A target: the program that runs the switches of a lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Embedded switches, all in one process; nodes are simulated.
    Embedded,
    /// One process per switch, in network namespaces: BMv2, or the embedded switch with its command line.
    Bmv2,
    /// The kernel, in network namespaces.
    Linux,
}

impl Target {
    /// Returns whether switches are programmed over P4Runtime.
    pub fn is_p4(self) -> bool {
        match self {
            Target::Embedded | Target::Bmv2 => true,
            Target::Linux => false,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::Embedded => "embedded",
            Target::Bmv2 => "bmv2",
            Target::Linux => "linux",
        })
    }
}
