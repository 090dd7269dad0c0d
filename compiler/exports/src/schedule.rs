//! Inputs of schedulers and launchers: places of nodes, level by level.
//!
//! In: a plan. Out: files for Slurm ([`slurm`]), Kueue ([`kueue`]), Kubernetes ([`labels`]), topograph
//! ([`topograph`]) and MPI ([`mpi`]). Invariants: a node is in one place at each level: the unit of nodes
//! that share their T0s, the zone of these T0s, the fabric. A node with rails or planes is connected to many
//! T0s, but schedulers accept only one leaf per node. So the unit represents all its T0s.

pub mod kueue;
pub mod labels;
pub mod mpi;
pub mod slurm;
pub mod topograph;

use closc_plan::{Plan, UnitNodes};
use smol_str::SmolStr;

/// The positions of all nodes.
#[derive(Debug, Clone)]
pub struct Levels {
    fabric: SmolStr,
    units: Vec<UnitNodes>,
    /// The zones, in order. Fabrics of two tiers have one.
    zones: Vec<u16>,
    /// Whether switches join units; with one tier, nodes of different units have no path to each other.
    units_join: bool,
}

impl Levels {
    /// Reads a plan.
    pub fn of(plan: &Plan) -> Levels {
        let units = plan.units();
        let mut zones: Vec<u16> = units.iter().map(|unit| unit.zone).collect();
        zones.dedup();
        let mut fabric = plan.topology().name.clone();
        // Names of places must be unique, and a fabric may have the name of a zone or unit.
        if zones.iter().any(|zone| fabric == zone_name(*zone))
            || units.iter().any(|unit| fabric == unit_name(unit))
        {
            fabric = format!("{fabric}-fabric").into();
        }
        let units_join = plan.topology().has_t1() || units.len() < 2;
        Levels { fabric, units, zones, units_join }
    }

    /// Returns the number of levels above a node: unit, zone if there are several, fabric.
    fn depth(&self) -> usize {
        if self.has_zones() { 3 } else { 2 }
    }

    fn has_zones(&self) -> bool {
        self.zones.len() > 1
    }

    /// Names of the levels above the nodes of a unit, the nearest first.
    fn places(&self, unit: &UnitNodes) -> Vec<String> {
        let zone = self.has_zones().then(|| zone_name(unit.zone));
        std::iter::once(unit_name(unit)).chain(zone).chain([self.fabric.to_string()]).collect()
    }

    /// The units of a zone.
    fn in_zone(&self, zone: u16) -> impl Iterator<Item = &UnitNodes> {
        self.units.iter().filter(move |unit| unit.zone == zone)
    }
}

fn unit_name(unit: &UnitNodes) -> String {
    format!("zone{}-unit{:03}", unit.zone, unit.unit + 1)
}

fn zone_name(zone: u16) -> String {
    format!("zone{zone}")
}

/// Writes names in Slurm's host list syntax: names that differ only in their trailing number, of equal width, become a
/// range.
fn hostlist(names: &[SmolStr]) -> Vec<String> {
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
    parts
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
        let list = |names: &[&str]| {
            hostlist(&names.iter().map(|name| SmolStr::from(*name)).collect::<Vec<_>>()).join(",")
        };
        assert_eq!(list(&["su001-n001", "su001-n002", "su001-n003"]), "su001-n[001-003]");
        assert_eq!(list(&["a1", "a2", "a4", "b5"]), "a[1-2],a4,b5");
        assert_eq!(list(&["n9", "n10"]), "n9,n10");
        assert_eq!(list(&["x", "y"]), "x,y");
    }
}
