//! Topograph: a model of the fabric, as its simulated providers and its test provider read it.
//!
//! In: the positions of nodes. Out: `switches` with the nodes or switches below each, and `blocks` of nodes.
//! Invariants: a switch has one parent; a node is in one block; no two switches have the same name.

use smol_str::SmolStr;

use super::{Levels, hostlist, unit_name, zone_name};
use crate::File;

/// Returns the model.
pub fn model(levels: &Levels) -> File<'_> {
    File::new("topograph.yaml", |out| {
        let list = |names: Vec<String>| {
            let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            quoted.join(", ")
        };
        writeln!(out, "switches:\n  \"{}\":", levels.fabric)?;
        writeln!(out, "    labels: {{ topology.kubernetes.io/region: \"{}\" }}", levels.fabric)?;
        let units = |zone: u16| list(levels.in_zone(zone).map(unit_name).collect());
        if let [only] = levels.zones[..] {
            writeln!(out, "    switches: [{}]", units(only))?;
        } else {
            writeln!(out, "    switches: [{}]", list(levels.zones.iter().copied().map(zone_name).collect()))?;
            for zone in &levels.zones {
                let name = zone_name(*zone);
                writeln!(out, "  \"{name}\":\n    labels: {{ topology.kubernetes.io/zone: \"{name}\" }}")?;
                writeln!(out, "    switches: [{}]", units(*zone))?;
            }
        }
        writeln!(out, "blocks:")?;
        for unit in &levels.units {
            let names: &[SmolStr] = &unit.nodes;
            writeln!(out, "  - switch: \"{}\"\n    nodes: [{}]", unit_name(unit), list(hostlist(names)))?;
        }
        Ok(())
    })
}
