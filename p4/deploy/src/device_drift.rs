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
    /// The switch is up to date.
    None,
    /// It runs another pipeline, so its entries cannot be compared.
    Pipeline {
        /// Cookie of the wanted pipeline.
        wanted: Cookie,
        /// Cookie of the running pipeline; `None` if no pipeline runs, or one without a cookie.
        live: Option<Cookie>,
    },
    /// Some of its entries differ.
    Entries {
        /// Number of entries that differ, by table or other object.
        objects: BTreeMap<String, u64>,
        /// The entries that differ, in the order of tables and keys.
        differences: Vec<Difference>,
    },
    /// It could not be read.
    Unknown(Fault),
}

/// One entry that differs, by names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Difference {
    /// The entry is wanted and missing.
    Missing {
        /// The entry.
        wanted: String,
    },
    /// The entry exists with different contents.
    Changed {
        /// The wanted entry.
        wanted: String,
        /// The live entry.
        live: String,
    },
    /// The entry exists and is not wanted.
    Unexpected {
        /// The entry.
        live: String,
    },
}

impl DeviceDrift {
    /// Returns the lines that show the drift; empty if nothing differs.
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
