//! Paths in fabrics whose switches choose them, counted the slow way: cable by cable.
//!
//! In: a fabric, and failed planes, switches and cables. Out: paths from one NIC to another, plane by plane.
//! Invariants: no count is computed from others: paths up are followed cable by cable, and counted at their
//! highest switch.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::Fabric;
use closc_plan::PathKind;
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch};

/// A fabric whose switches choose paths, and its failed elements.
pub struct Spread<'a> {
    fabric: &'a Fabric,
    planes: BTreeSet<PlaneId>,
    switches: BTreeSet<Switch>,
    links: BTreeSet<Link>,
}

impl<'a> Spread<'a> {
    /// Makes a fabric without its absent and drained elements, and with the given failures.
    pub fn new<'l>(
        fabric: &'a Fabric,
        planes: impl Iterator<Item = &'l PlaneId>,
        switches: impl Iterator<Item = &'l Switch>,
        links: impl Iterator<Item = &'l Link>,
    ) -> Self {
        Spread {
            fabric,
            planes: planes.copied().collect(),
            switches: switches.copied().collect(),
            links: links.copied().collect(),
        }
    }

    /// Returns the number of paths of a pair in one plane, without failures.
    pub fn planned_paths(&self, from: Nic, to: Nic) -> u64 {
        let topology = self.fabric.topology();
        let (t0, t1) = (u64::from(topology.t0.up.count), u64::from(topology.t1.up.count));
        match PathKind::classify(from, to) {
            PathKind::Local => 1,
            PathKind::Zone => t0,
            PathKind::Far => t0 * t1,
        }
    }

    /// Returns the number of remaining paths from one NIC to another, plane by plane.
    pub fn remaining_paths(&self, from: Nic, to: Nic) -> Vec<u64> {
        let planes = self.fabric.topology().plane_ids();
        planes.map(|plane| self.in_plane(plane, from, to)).collect()
    }

    fn in_plane(&self, plane: PlaneId, from: Nic, to: Nic) -> u64 {
        let port = |nic| self.works(Link::Host(NicPort { plane, nic }));
        if !port(from) || !port(to) {
            return 0;
        }
        let kind = PathKind::classify(from, to);
        let turns = |nic: Nic| -> BTreeMap<Switch, u64> {
            match kind {
                PathKind::Local => BTreeMap::from([(nic.t0(plane), 1)]),
                PathKind::Zone => self.up(&BTreeMap::from([(nic.t0(plane), 1)])),
                PathKind::Far => self.up(&self.up(&BTreeMap::from([(nic.t0(plane), 1)]))),
            }
        };
        // A path up is useless if its highest switch has no path down to the destination.
        let (up, down) = (turns(from), turns(to));
        up.iter().filter(|(switch, _)| down.contains_key(switch)).map(|(_, ways)| ways).sum()
    }

    /// Counts the paths to the switches one tier up.
    fn up(&self, below: &BTreeMap<Switch, u64>) -> BTreeMap<Switch, u64> {
        let mut above = BTreeMap::new();
        for (lower, ways) in below {
            let ups = self.fabric.topology().tier(lower.tier).map_or(0, |tier| tier.up.count);
            for link in (0..ups).map(|up| Link::Fabric { lower: *lower, up }).filter(|link| self.works(*link))
            {
                if let Some((upper, _)) = self.fabric.upper_end(link) {
                    *above.entry(upper).or_default() += ways;
                }
            }
        }
        above
    }

    fn works(&self, link: Link) -> bool {
        let lower = match link {
            Link::Fabric { lower, .. } => Some(lower),
            Link::Host(_) => None,
        };
        let upper = self.fabric.upper_end(link).map(|(switch, _)| switch);
        let failed = |switch: Switch| self.switches.contains(&switch);
        self.fabric.has_link(link)
            && !self.fabric.is_drained(link)
            && !self.planes.contains(&link.plane())
            && !self.links.contains(&link)
            && !lower.into_iter().chain(upper).any(failed)
    }
}
