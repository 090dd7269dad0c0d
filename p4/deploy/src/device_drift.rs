//! Difference of one switch from its target state, by names.
//!
//! In: the result of a comparison. Out: [`DeviceDrift`]. Invariants: plain data, independent of the protocol of the
//! switch.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::fault::Fault;
use crate::target::Cookie;

/// Difference of one switch.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "drift", rename_all = "kebab-case")]
pub enum DeviceDrift {
    /// It does not.
    None,
    /// It runs another pipeline, so its entries cannot be compared.
    Pipeline {
        /// The number of the pipeline it is to run.
        wanted: Cookie,
        /// The number of the one it runs; `None` where it runs none, or one without a number.
        live: Option<Cookie>,
    },
    /// Some of its entries differ.
    Entries {
        /// Number in each table or other object.
        objects: BTreeMap<String, u64>,
        /// Each of them, in the order of tables and keys.
        differences: Vec<Difference>,
    },
    /// It could not be read.
    Unknown(Fault),
}

/// One entry that differs, by names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Difference {
    /// It is wanted and not there.
    Missing {
        /// The entry.
        wanted: String,
    },
    /// It is there, but otherwise.
    Changed {
        /// As it should be.
        wanted: String,
        /// As it is.
        live: String,
    },
    /// It is there and not wanted.
    Unexpected {
        /// The entry.
        live: String,
    },
}

impl DeviceDrift {
    /// Returns the lines that show it; empty if nothing differs.
    pub(crate) fn lines(&self) -> Vec<String> {
        match self {
            DeviceDrift::None => Vec::new(),
            DeviceDrift::Pipeline { wanted, live } => {
                let live = live.map_or_else(|| "none".to_owned(), |live| live.to_string());
                vec![format!("runs pipeline {live}, wanted {wanted}")]
            }
            DeviceDrift::Entries { differences, .. } => differences.iter().map(Difference::line).collect(),
            DeviceDrift::Unknown(fault) => vec![fault.to_string()],
        }
    }
}

impl Difference {
    fn line(&self) -> String {
        match self {
            Difference::Missing { wanted } => format!("missing     {wanted}"),
            Difference::Changed { wanted, live } => format!("different   {live}\n    wanted    {wanted}"),
            Difference::Unexpected { live } => format!("unexpected  {live}"),
        }
    }
}
