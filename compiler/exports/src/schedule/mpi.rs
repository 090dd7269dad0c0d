//! MPI launchers: nodes in the order of ranks, and the place of each rank.
//!
//! In: a placement. Out: `hostfile`, and `rankfile` as Open MPI reads it. Invariants: a rank is on the node
//! that the placement gives it; ranks of a node are in its slots from 0.

use closc_plan::Placement;

use crate::File;

/// Returns the nodes in rank order, with as many slots as each has GPUs.
pub fn hostfile(placement: &Placement, gpus_per_node: u32) -> File<'_> {
    File::new("hostfile", move |out| {
        placement.nodes.iter().try_for_each(|node| writeln!(out, "{} slots={gpus_per_node}", node.name))
    })
}

/// Returns the node and slot of each rank.
pub fn rankfile(placement: &Placement, gpus_per_node: u32) -> File<'_> {
    File::new("rankfile", move |out| {
        for node in &placement.nodes {
            for slot in 0..gpus_per_node {
                writeln!(out, "rank {}={} slot={slot}", node.first_rank + slot, node.name)?;
            }
        }
        Ok(())
    })
}

/// Returns the placement as JSON, with the traffic that crosses zones and units.
pub fn placement(placement: &Placement) -> File<'_> {
    File::new("placement.json", |out| {
        serde_json::to_writer_pretty(&mut *out, placement)?;
        writeln!(out)
    })
}
