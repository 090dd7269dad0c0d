//! Slurm: the tree of nodes, and their blocks.
//!
//! In: the positions of nodes. Out: `topology.conf` for `topology/tree`, `topology-block.conf` for `topology/block`,
//! and `topology.yaml`, which holds both. Invariants: a node is attached to one leaf, because Slurm rejects a node on
//! several. A block is a unit, and the base block size is that of the smallest unit. Larger sizes are multiples of it
//! by a power of two that divides the number of blocks of every zone, so no group of blocks crosses zones.

use std::fmt::Write as _;
use std::io;

use smol_str::SmolStr;

use super::{Levels, hostlist, unit_name, zone_name};
use crate::File;

/// Returns the tree in the form of `topology.conf`.
pub fn tree(levels: &Levels) -> File<'_> {
    File::new("topology.conf", |out| conf(levels, out))
}

/// Returns the blocks in the form of `topology.conf`.
pub fn block(levels: &Levels) -> File<'_> {
    File::new("topology-block.conf", |out| block_conf(levels, out))
}

/// Returns `topology.yaml`: the tree, which is the default, and the blocks.
pub fn yaml(levels: &Levels) -> File<'_> {
    File::new("topology.yaml", |out| {
        tree_yaml(levels, out)?;
        block_yaml(levels, out)
    })
}

/// A switch of Slurm's tree.
struct Switch {
    name: String,
    children: Children,
}

enum Children {
    Nodes(String),
    Switches(String),
}

fn switches(levels: &Levels) -> Vec<Switch> {
    let leaf = |unit| Switch { name: unit_name(unit), children: Children::Nodes(nodes(&unit.nodes)) };
    let mut found: Vec<Switch> = levels.units.iter().map(leaf).collect();
    // Slurm allocates no job over leaves without a common switch.
    if !levels.units_join {
        return found;
    }
    let under = |zone: u16| {
        let names: Vec<SmolStr> = levels.in_zone(zone).map(|unit| unit_name(unit).into()).collect();
        Children::Switches(nodes(&names))
    };
    if let [only] = levels.zones[..] {
        found.push(Switch { name: levels.fabric.to_string(), children: under(only) });
        return found;
    }
    found.extend(levels.zones.iter().map(|zone| Switch { name: zone_name(*zone), children: under(*zone) }));
    let names: Vec<SmolStr> = levels.zones.iter().map(|zone| zone_name(*zone).into()).collect();
    found.push(Switch { name: levels.fabric.to_string(), children: Children::Switches(nodes(&names)) });
    found
}

fn nodes(names: &[SmolStr]) -> String {
    hostlist(names).join(",")
}

fn conf(levels: &Levels, out: &mut dyn io::Write) -> io::Result<()> {
    let fabric = &levels.fabric;
    writeln!(
        out,
        "# {fabric}: for TopologyPlugin=topology/tree. A leaf is a unit: nodes that share their T0s."
    )?;
    for Switch { name, children: below } in switches(levels) {
        match below {
            Children::Nodes(list) => writeln!(out, "SwitchName={name} Nodes={list}")?,
            Children::Switches(list) => writeln!(out, "SwitchName={name} Switches={list}")?,
        }
    }
    Ok(())
}

fn tree_yaml(levels: &Levels, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "- topology: fabric\n  cluster_default: true\n  tree:\n    switches:")?;
    for Switch { name, children: below } in switches(levels) {
        match below {
            Children::Nodes(list) => writeln!(out, "      - {{switch: {name}, nodes: \"{list}\"}}")?,
            Children::Switches(list) => writeln!(out, "      - {{switch: {name}, children: \"{list}\"}}")?,
        }
    }
    Ok(())
}

/// The sizes of blocks: that of the smallest unit, and its multiples by powers of two that divide every zone evenly.
fn sizes(levels: &Levels) -> Vec<usize> {
    let base = levels.units.iter().map(|unit| unit.nodes.len()).min().unwrap_or(0);
    let counts: Vec<usize> = levels.zones.iter().map(|zone| levels.in_zone(*zone).count()).collect();
    let fits = |group: &usize| counts.iter().all(|count| count.is_multiple_of(*group));
    std::iter::successors(Some(1_usize), |group| group.checked_mul(2))
        .take_while(fits)
        .take_while(|group| *group <= if levels.units_join { levels.units.len() } else { 1 })
        .map(|group| base * group)
        .collect()
}

fn block_conf(levels: &Levels, out: &mut dyn io::Write) -> io::Result<()> {
    let fabric = &levels.fabric;
    writeln!(
        out,
        "# {fabric}: for TopologyPlugin=topology/block. A block is a unit: nodes that share their T0s."
    )?;
    for unit in &levels.units {
        writeln!(out, "BlockName={} Nodes={}", unit_name(unit), nodes(&unit.nodes))?;
    }
    let sizes: Vec<String> = sizes(levels).iter().map(usize::to_string).collect();
    writeln!(out, "BlockSizes={}", sizes.join(","))
}

fn block_yaml(levels: &Levels, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "- topology: blocks\n  cluster_default: false\n  block:")?;
    let sizes = sizes(levels).iter().fold(String::new(), |mut text, size| {
        let _ = writeln!(text, "      - {size}");
        text
    });
    write!(out, "    block_sizes:\n{sizes}    blocks:\n")?;
    for unit in &levels.units {
        writeln!(out, "      - {{block: {}, nodes: \"{}\"}}", unit_name(unit), nodes(&unit.nodes))?;
    }
    Ok(())
}
