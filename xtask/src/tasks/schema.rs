//! `cargo xtask schema`: the JSON Schemas that editors use.

use crate::generated::Generated;

/// Makes the schema of fabric files.
#[expect(clippy::unnecessary_wraps, reason = "tasks are called alike, and others can fail")]
pub(crate) fn run() -> anyhow::Result<Vec<Generated>> {
    Ok(vec![Generated::file("topologies/topology.schema.json", closc_topology::schema())])
}
