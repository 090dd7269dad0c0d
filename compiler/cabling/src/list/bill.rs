//! Bill of materials: cables by kind, medium, length and speed, and the cages at their ends. A cage of a NIC
//! has ports of several planes.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_qos::units::{Length, Speed};
use closc_topology::{Link, Nic, PlaneId};
use serde::Serialize;
use smol_str::SmolStr;

use super::{Line, kind, lines, table};
use crate::floor::Positions;

/// Properties of a cable that matter for ordering.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Article {
    kind: &'static str,
    medium: String,
    length: Length,
    /// Speed of the ports at the lower and the upper end.
    speeds: (Speed, Speed),
    /// For the lower and the upper end: 1 if its cage has breakout, otherwise 0. Always 0 for NICs.
    parts: (u8, u8),
}

/// A line of the bill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Kind of cable: the tiers that it connects.
    pub kind: &'static str,
    /// Medium.
    pub medium: String,
    /// Length.
    pub length: Length,
    /// Speed of ports at the lower end.
    pub lower_speed: Speed,
    /// Speed of ports at the upper end.
    pub upper_speed: Speed,
    /// Number of links, which are pairs of ports.
    pub links: u64,
    /// Number of cages (transceivers or plugs) at the lower end. A cage of a NIC is counted once, in the first plane
    /// in which it has a cable.
    pub lower_cages: u64,
    /// Number of cages at the upper end.
    pub upper_cages: u64,
}

/// The bill of cables and transceivers.
#[derive(Debug, Default)]
pub struct Bill<'f> {
    counts: BTreeMap<Article, [u64; 3]>,
    /// NIC cages that are already counted.
    nics: BTreeSet<(Nic, u8)>,
    /// Positions of racks, which determine lengths; `None` to use the lengths of the file.
    positions: Option<&'f Positions<'f>>,
    /// Racks without a position, and devices without a rack.
    unplaced_items: BTreeSet<SmolStr>,
}

impl<'f> Bill<'f> {
    /// Returns a bill whose lengths are computed from the positions of racks.
    pub fn with_positions(positions: &'f Positions<'f>) -> Self {
        Bill { positions: Some(positions), ..Bill::default() }
    }

    /// Returns the racks without a position, and the devices without a rack.
    pub fn unplaced_items(&self) -> &BTreeSet<SmolStr> {
        &self.unplaced_items
    }

    /// Adds the cables of a plane.
    pub fn add(&mut self, plan: &Plan, plane: PlaneId) {
        // Cages that are already counted: whether at the upper end, device, and number.
        let mut seen: BTreeSet<(bool, String, u16)> = BTreeSet::new();
        for line in lines(plan, plane) {
            let length = self.length(plan, &line);
            let article = article(plan, &line, length);
            let mut fresh = |upper: bool| {
                let plug = if upper { &line.b } else { &line.a };
                plug.cage.is_none_or(|cage| seen.insert((upper, plug.at.device.clone(), cage)))
            };
            let lower = match line.link {
                Link::Host(port) => {
                    let topology = plan.topology();
                    self.nics.insert((topology.adapter(port.nic), topology.nic_cage(port)))
                }
                Link::Fabric { .. } => fresh(false),
            };
            let upper = fresh(true);
            let counts = self.counts.entry(article).or_default();
            counts[0] += 1;
            counts[1] += u64::from(lower);
            counts[2] += u64::from(upper);
        }
    }

    /// Returns the length of a cable, from positions or from the file.
    fn length(&mut self, plan: &Plan, line: &Line) -> Length {
        let stated = plan.fabric().cable(line.link).length;
        let Some(positions) = self.positions else { return stated };
        let mut missing = None;
        let [from, to] = [&line.a, &line.b].map(|plug| {
            if let Some(place) = &plug.place {
                place.rack.as_str()
            } else {
                missing = Some(plug.at.device.as_str());
                ""
            }
        });
        match missing.map_or_else(|| positions.length(from, to), Err) {
            Ok(length) => length,
            Err(name) => {
                self.unplaced_items.insert(name.into());
                stated
            }
        }
    }

    /// Returns the lines of the bill.
    pub fn entries(&self) -> Vec<Entry> {
        let entries = self.counts.iter().map(|(article, [links, lower, upper])| Entry {
            kind: article.kind,
            medium: article.medium.clone(),
            length: article.length,
            lower_speed: article.speeds.0,
            upper_speed: article.speeds.1,
            links: *links,
            lower_cages: *lower,
            upper_cages: *upper,
        });
        entries.collect()
    }

    /// Returns the bill as CSV.
    pub fn csv(&self) -> String {
        const HEAD: [&str; 8] =
            ["kind", "medium", "length", "lower_speed", "upper_speed", "links", "lower_cages", "upper_cages"];
        let rows = self.entries().into_iter().map(|entry| {
            [
                entry.kind.to_owned(),
                entry.medium,
                entry.length.to_string(),
                entry.lower_speed.to_string(),
                entry.upper_speed.to_string(),
                entry.links.to_string(),
                entry.lower_cages.to_string(),
                entry.upper_cages.to_string(),
            ]
        });
        table(&HEAD, rows)
    }
}

fn article(plan: &Plan, line: &Line, length: Length) -> Article {
    let cable = plan.fabric().cable(line.link);
    Article {
        kind: kind(line.link),
        medium: cable.medium.to_string(),
        length,
        speeds: (line.a.speed, line.b.speed),
        parts: (line.a.part.min(1), line.b.part.min(1)),
    }
}

#[cfg(test)]
mod tests {
    use closc_tests::shape::Shape;

    use super::*;

    #[test]
    fn a_nic_has_one_cage_whatever_the_number_of_planes() {
        let plan = Shape { planes: 4, ..Shape::SMALL }.plan();
        let mut bill = Bill::default();
        for plane in plan.topology().plane_ids() {
            bill.add(&plan, plane);
        }
        let nics: Vec<Entry> = bill.entries().into_iter().filter(|entry| entry.kind == "nic-t0").collect();
        assert_eq!(nics.iter().map(|entry| entry.links).sum::<u64>(), 4 * 4, "a link for each NIC and plane");
        assert_eq!(nics.iter().map(|entry| entry.lower_cages).sum::<u64>(), 4, "a cage for each NIC");
    }
}
