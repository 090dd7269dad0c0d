//! `cargo xtask schema`: the JSON Schemas that editors use.

use crate::generated::Generated;

/// Makes the schema of fabric files.
pub(crate) fn run() -> anyhow::Result<Vec<Generated>> {
    Ok(vec![Generated::file("topologies/topology.schema.json", closc_topology::schema())])
}
