//! What schedulers and launchers are given: where nodes stand, and which ranks they get.
//!
//! In: units with their nodes, a placement. Out: below `ranks/`: `topology.conf` and `topology.yaml` for Slurm, `hostfile`
//! for MPI launchers, `placement.json`. Invariants: a node is attached to one leaf, which stands for all T0s of its unit: Slurm
//! refuses a node on several, and a node with rails or planes is on many.

use std::fmt::Write as _;

use closc_plan::{Placement, UnitNodes};
use smol_str::SmolStr;

use crate::Artefact;

/// Renders the tree of nodes for Slurm, in both of its forms.
pub fn slurm(fabric: &str, units: &[UnitNodes]) -> Vec<Artefact> {
    let switches = switches(fabric, units);
    vec![conf(fabric, &switches), yaml(&switches)]
}

/// Renders a placement.
pub fn placement(placement: &Placement, gpus_per_node: u32) -> Vec<Artefact> {
    let hostfile = placement.nodes.iter().fold(String::new(), |mut text, node| {
        let _ = writeln!(text, "{} slots={gpus_per_node}", node.name);
        text
    });
    let mut json = serde_json::to_vec_pretty(placement).expect("a placement has text keys and no floats");
    json.push(b'\n');
    vec![Artefact::new("ranks/hostfile", hostfile), Artefact::new("ranks/placement.json", json)]
}

/// A switch of Slurm's tree.
struct Switch {
    name: String,
    below: Below,
}

enum Below {
    Nodes(String),
    Switches(String),
}

fn switches(fabric: &str, units: &[UnitNodes]) -> Vec<Switch> {
    let mut found: Vec<Switch> = units
        .iter()
        .map(|unit| Switch { name: unit_name(unit), below: Below::Nodes(hostlist(&unit.nodes)) })
        .collect();
    let mut zones: Vec<u16> = units.iter().map(|unit| unit.zone).collect();
    zones.dedup();
    let under = |zone: u16| {
        let names: Vec<SmolStr> =
            units.iter().filter(|unit| unit.zone == zone).map(|unit| unit_name(unit).into()).collect();
        Below::Switches(hostlist(&names))
    };
    if let [only] = zones[..] {
        found.push(Switch { name: fabric.to_owned(), below: under(only) });
        return found;
    }
    found.extend(zones.iter().map(|zone| Switch { name: format!("zone{zone}"), below: under(*zone) }));
    let names: Vec<SmolStr> = zones.iter().map(|zone| format!("zone{zone}").into()).collect();
    found.push(Switch { name: fabric.to_owned(), below: Below::Switches(hostlist(&names)) });
    found
}

fn unit_name(unit: &UnitNodes) -> String {
    format!("zone{}-unit{:03}", unit.zone, unit.unit + 1)
}

fn conf(fabric: &str, switches: &[Switch]) -> Artefact {
    let mut text = format!(
        "# {fabric}: for TopologyPlugin=topology/tree. A leaf is a unit: nodes that share their T0s.\n"
    );
    for Switch { name, below } in switches {
        let _ = match below {
            Below::Nodes(list) => writeln!(text, "SwitchName={name} Nodes={list}"),
            Below::Switches(list) => writeln!(text, "SwitchName={name} Switches={list}"),
        };
    }
    Artefact::new("ranks/topology.conf", text)
}

fn yaml(switches: &[Switch]) -> Artefact {
    let mut text = String::from("- topology: fabric\n  cluster_default: true\n  tree:\n    switches:\n");
    for Switch { name, below } in switches {
        let _ = match below {
            Below::Nodes(list) => writeln!(text, "      - {{switch: {name}, nodes: \"{list}\"}}"),
            Below::Switches(list) => writeln!(text, "      - {{switch: {name}, children: \"{list}\"}}"),
        };
    }
    Artefact::new("ranks/topology.yaml", text)
}

/// Writes names as Slurm lists hosts: names that differ only in the number at their end, of one width, as a range.
fn hostlist(names: &[SmolStr]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < names.len() {
        let (stem, number, width) = split(&names[at]);
        let mut last = number;
        let mut next = at + 1;
        while let (Some(before), Some(name)) = (last, names.get(next)) {
            let (other, number, digits) = split(name);
            if other != stem || digits != width || number != before.checked_add(1) {
                break;
            }
            last = number;
            next += 1;
        }
        parts.push(match (number, last) {
            (Some(first), Some(last)) if last > first => format!("{stem}[{first:0width$}-{last:0width$}]"),
            _ => names[at].to_string(),
        });
        at = next;
    }
    parts.join(",")
}

/// Splits a name before the number at its end.
fn split(name: &str) -> (&str, Option<u64>, usize) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    (stem, digits.parse().ok(), digits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_row_are_a_range() {
        let list =
            |names: &[&str]| hostlist(&names.iter().map(|name| SmolStr::from(*name)).collect::<Vec<_>>());
        assert_eq!(list(&["su001-n001", "su001-n002", "su001-n003"]), "su001-n[001-003]");
        assert_eq!(list(&["a1", "a2", "a4", "b5"]), "a[1-2],a4,b5");
        assert_eq!(list(&["n9", "n10"]), "n9,n10");
        assert_eq!(list(&["x", "y"]), "x,y");
    }
}
