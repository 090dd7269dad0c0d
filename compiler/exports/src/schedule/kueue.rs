//! Kueue: the levels of the fabric, and the flavor of its nodes.
//!
//! In: the positions of nodes, and the keys of labels. Out: a `Topology` and a `ResourceFlavor` of
//! `kueue.x-k8s.io/v1beta2`. Invariants: levels go from the fabric to the node, whose own label is the last.
//! The flavor selects all nodes that have the label of the fabric.

use super::Levels;
use super::labels::Keys;
use crate::{File, Refusal};

/// Returns the objects.
///
/// # Errors
///
/// Rejects the keys if there is not exactly one per level.
pub fn objects<'a>(levels: &'a Levels, keys: &Keys) -> Result<File<'a>, Refusal> {
    let keys = keys.of(levels)?;
    Ok(File::new("kueue.yaml", move |out| {
        let fabric = &levels.fabric;
        writeln!(out, "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology")?;
        writeln!(out, "metadata:\n  name: \"{fabric}\"\nspec:\n  levels:")?;
        for key in keys.iter().rev() {
            writeln!(out, "    - nodeLabel: {key}")?;
        }
        writeln!(out, "    - nodeLabel: kubernetes.io/hostname")?;
        writeln!(out, "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor")?;
        writeln!(out, "metadata:\n  name: \"{fabric}\"\nspec:\n  nodeLabels:")?;
        let outermost = keys.last().map_or("", String::as_str);
        writeln!(out, "    {outermost}: \"{fabric}\"")?;
        writeln!(out, "  topologyName: \"{fabric}\"")
    }))
}
