//! Names of the tables, fields, actions and parameters of a pipeline, for reading its table entries.

use std::collections::{BTreeMap, HashMap};

/// Names of the pipelines of a tree, by the path of the P4Info.
pub(crate) type Pipelines = BTreeMap<&'static str, PipelineNames>;

/// Names in a pipeline, by ID.
#[derive(Debug, Clone, Default)]
pub(crate) struct PipelineNames {
    /// Tables, and the names of their fields.
    pub(crate) tables: HashMap<u64, (String, HashMap<u64, String>)>,
    /// Actions, and the names of their parameters.
    pub(crate) actions: HashMap<u64, (String, HashMap<u64, String>)>,
    /// Action profiles.
    pub(crate) profiles: HashMap<u64, String>,
}

impl PipelineNames {
    /// Returns whether the pipeline has a table with this name.
    pub(crate) fn has_table(&self, name: &str) -> bool {
        self.tables.values().any(|(table, _)| table == name)
    }
}
