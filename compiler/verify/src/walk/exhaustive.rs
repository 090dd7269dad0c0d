//! Walks every path of a small fabric.
//!
//! In: the fabric. Out: the number of paths, and how many of them arrive, for comparison with the proof by composition.
//! Invariants: addresses are computed from the binary path tables, as on hosts, and packets follow all existing routes.

use closc_artefacts::Prefix;
use closc_paths::{Choice, Kind, Table};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::bind::nics::NicCables;
use crate::forward::packet::{Ending, Network};
use crate::model::fabric::Fabric;
use crate::model::group::{Group, destination, length, list};
use crate::model::segment::Usid;
use crate::proof::nodes::{accepts, sends};

/// Result of walking every path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct WalkCounts {
    /// Number of paths walked.
    pub walked: u128,
    /// Paths that arrive at their NIC, in their plane and through as many switches as their segment list contains.
    pub arrive: u128,
    /// Paths that arrive without drained cables.
    pub in_use: u128,
    /// Paths that do not arrive and are not denied.
    pub lost: u128,
    /// Paths that end at a wrong NIC, or at their NIC through a wrong plane or a wrong number of switches.
    pub astray: u128,
}

impl WalkCounts {
    fn add(self, other: WalkCounts) -> WalkCounts {
        WalkCounts {
            walked: self.walked + other.walked,
            arrive: self.arrive + other.arrive,
            in_use: self.in_use + other.in_use,
            lost: self.lost + other.lost,
            astray: self.astray + other.astray,
        }
    }
}

/// Walks every path. Planes that are declared absent have none.
pub(crate) fn walk(fabric: &Fabric, nics: &NicCables, absent_planes: &[u8]) -> WalkCounts {
    let network = Network::new(fabric);
    let planes = fabric.groups.first().map_or(0, |group| group.planes.len());
    let is_built = |at: &usize| !absent_planes.iter().any(|plane| usize::from(*plane) == at % planes);
    (0..fabric.groups.len() * planes)
        .into_par_iter()
        .filter(is_built)
        .map(|at| Walk { network: &network, nics, from: at / planes, plane: at % planes, planes }.all())
        .reduce(WalkCounts::default, WalkCounts::add)
}

struct Walk<'a> {
    network: &'a Network<'a>,
    nics: &'a NicCables,
    /// Index of the sending group.
    from: usize,
    plane: usize,
    planes: usize,
}

/// Result for one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Arrives { drained: bool },
    Astray,
    Lost,
}

impl Walk<'_> {
    fn all(&self) -> WalkCounts {
        let group = &self.network.fabric.groups[self.from];
        let table = group.table();
        let mut counts = WalkCounts::default();
        for source in 0..group.nics.len() {
            for to in 0..self.network.fabric.groups.len() {
                counts = counts.add(self.towards(group, &table, source, to));
            }
        }
        counts
    }

    fn towards(&self, group: &Group, table: &Table<'_>, source: usize, to: usize) -> WalkCounts {
        let mut counts = WalkCounts::default();
        let target = &self.network.fabric.groups[to];
        let h = table.header();
        for (receiver, nic) in target.nics.iter().enumerate() {
            if (self.from, source) == (to, receiver) {
                continue;
            }
            let found = destination(table, target.zone, target.group, nic.downlink);
            let (t0, t1) =
                match crate::check::tables::kind((group.zone, group.group), (target.zone, target.group)) {
                    Kind::Local => (1, 1),
                    Kind::Zone => (h.t0_uplinks, 1),
                    Kind::Far => (h.t0_uplinks, h.t1_uplinks),
                };
            for t0_uplink in 0..t0 {
                for t1_uplink in 0..t1 {
                    let choice = Choice { plane: self.plane as u8, t0_uplink, t1_uplink };
                    let fate = found.map_or(Fate::Lost, |found| {
                        let (address, usids) = list(table, &found, choice);
                        self.one(source, (to, receiver), length(found.kind), address, usids[0])
                    });
                    counts.walked += 1;
                    match fate {
                        Fate::Arrives { drained } => {
                            counts.arrive += 1;
                            counts.in_use += u128::from(!drained);
                        }
                        Fate::Astray | Fate::Lost => {
                            counts.astray += u128::from(fate == Fate::Astray);
                            let denied = found.is_some_and(|found| {
                                let entropy = crate::model::group::entropy(h, choice);
                                table.is_denied(group.nics[source].downlink, &found, entropy)
                            });
                            counts.lost += u128::from(!denied);
                        }
                    }
                }
            }
        }
        counts
    }

    fn one(
        &self,
        source: usize,
        (to, receiver): (usize, usize),
        segments: usize,
        address: closc_artefacts::Address,
        first: Usid,
    ) -> Fate {
        let fabric = self.network.fabric;
        let Some(start) = self.nics.cable(self.from, self.planes, source, self.plane) else {
            return Fate::Lost;
        };
        let cable = fabric.cabling.cable(start);
        if !sends(fabric, &cable, Some(first)) {
            return Fate::Lost;
        }
        let (mut drained, mut switches, mut planes) = (cable.drained, 0, cable.plane == self.plane as u8);
        let ending = self.network.walk(start, address, |hop| {
            switches += 1;
            if let Some((id, _)) = hop.out {
                let cable = fabric.cabling.cable(id);
                drained |= cable.drained;
                planes &= usize::from(cable.plane) == self.plane;
            }
        });
        let Ending::Nic(last, left) = ending else { return Fate::Lost };
        if !accepts(fabric, &fabric.cabling.cable(last), Prefix::new_assert(left, 48).trunc()) {
            return Fate::Lost;
        }
        let there = self.nics.cable(to, self.planes, receiver, self.plane) == Some(last);
        if there && planes && switches == segments - 1 { Fate::Arrives { drained } } else { Fate::Astray }
    }
}
