//! Counts of a fabric: the regular numbers minus exceptions.
//!
//! In: a fabric. Out: [`Counts`]. Invariants: the work grows with the exceptions and their ports, not with the
//! fabric. Walking the fabric gives the same counts.

use std::collections::BTreeMap;

use closc_artefacts::Counts;
use closc_topology::{Link, Nic, Node, Switch, TierId, ZoneId};

use crate::{Descent, Fabric, wiring};

impl Fabric {
    /// Counts everything, after exceptions.
    pub fn counts(&self) -> Counts {
        let topology = self.topology();
        let (planes, zones) = (u64::from(topology.planes), u64::from(topology.zones));
        let built = planes - topology.absent_planes().len() as u64;
        let [local, zone, far] = Descent::shortest_paths(topology).map(|paths| built * paths);
        let of_tier = |tier| self.all_of(tier) - self.absent(tier).count() as u64;
        let nics = zones * u64::from(topology.hosts.groups) * u64::from(topology.hosts.per_group);
        let absent_nics = topology.exceptions.absent_nics.len() as u64;
        let blocks = zones / u64::from(topology.hosts.zones_per_node);
        let nodes = blocks * u64::from(topology.units()) * u64::from(topology.nodes_per_unit());
        Counts {
            planes,
            zones,
            nodes: nodes - self.empty_nodes(),
            nics: nics - absent_nics,
            t0: of_tier(TierId::T0),
            t1: of_tier(TierId::T1),
            t2: of_tier(TierId::T2),
            host_links: planes * (nics - absent_nics) - self.lost_host_links(),
            fabric_links: self.fabric_links(TierId::T0) + self.fabric_links(TierId::T1),
            paths_local: local,
            paths_zone: zone,
            paths_far: far,
        }
    }

    /// Returns the number of switches of a tier before exceptions: per plane and zone, or for T2 per plane.
    pub fn planned_switches(&self, tier: TierId) -> u64 {
        let topology = self.topology();
        let count = topology.count(tier);
        match tier {
            TierId::T0 | TierId::T1 => u64::from(count),
            // Reserved rows are holes in the numbering.
            TierId::T2 => {
                let is_there = |index: &u16| index % topology.t2_rows() < topology.t1_count;
                (0..count).filter(is_there).count() as u64
            }
        }
    }

    /// Number of switches of a tier before exceptions.
    fn all_of(&self, tier: TierId) -> u64 {
        let topology = self.topology();
        let zones = if tier == TierId::T2 { 1 } else { u64::from(topology.zones) };
        u64::from(topology.planes) * zones * self.planned_switches(tier)
    }

    /// Switches of a tier that are absent.
    fn absent(&self, tier: TierId) -> impl Iterator<Item = Switch> + '_ {
        self.topology().exceptions.absent_switches.iter().copied().filter(move |switch| switch.tier == tier)
    }

    /// Returns the number of adapters with a NIC. If each adapter has one NIC, this is the number of NICs.
    pub fn adapters(&self) -> u64 {
        let topology = self.topology();
        let per_adapter = u64::from(topology.hosts.nics_per_adapter.max(1));
        let (zones, groups) = (u64::from(topology.zones), u64::from(topology.hosts.groups));
        let all = zones * groups * u64::from(topology.hosts.per_group) / per_adapter;
        let mut lost: BTreeMap<Nic, u64> = BTreeMap::new();
        for nic in &topology.exceptions.absent_nics {
            *lost.entry(topology.adapter(*nic)).or_default() += 1;
        }
        all - lost.values().filter(|nics| **nics == per_adapter).count() as u64
    }

    /// Number of nodes without any NIC.
    fn empty_nodes(&self) -> u64 {
        let topology = self.topology();
        let mut lost: BTreeMap<Node, u8> = BTreeMap::new();
        for nic in &topology.exceptions.absent_nics {
            *lost.entry(topology.node_of(*nic).0).or_default() += 1;
        }
        lost.values().filter(|nics| **nics == topology.hosts.nics_per_node).count() as u64
    }

    /// Number of cables that existing NICs lack because the cable or its T0 is absent.
    fn lost_host_links(&self) -> u64 {
        let exceptions = &self.topology().exceptions;
        let mut absent_in: BTreeMap<(ZoneId, u16), u64> = BTreeMap::new();
        for nic in &exceptions.absent_nics {
            *absent_in.entry((nic.zone, nic.group)).or_default() += 1;
        }
        let per_group = u64::from(self.topology().hosts.per_group);
        let left = |t0: Switch| per_group - absent_in.get(&(t0.zone, t0.index)).copied().unwrap_or(0);
        let alone = exceptions.absent_links.iter().filter(|link| match link {
            Link::Host(port) => self.has_nic(port.nic) && self.has_switch(port.nic.t0(port.plane)),
            Link::Fabric { .. } => false,
        });
        self.absent(TierId::T0).map(left).sum::<u64>() + alone.count() as u64
    }

    /// Number of existing cables from the switches of a tier to the tier above.
    fn fabric_links(&self, lower: TierId) -> u64 {
        let topology = self.topology();
        let Some(upper) = (match lower {
            TierId::T0 => Some(TierId::T1),
            TierId::T1 => topology.t2.as_ref().map(|_| TierId::T2),
            TierId::T2 => None,
        }) else {
            return 0;
        };
        let up = topology.tier(lower).map_or(0, |tier| u64::from(tier.up.count));
        let all = (self.all_of(lower) - self.absent(lower).count() as u64) * up;
        let below = |switch: Switch| {
            let ports = topology.tier(upper).map_or(0, |tier| tier.down.count);
            let there = move |port: &u16| {
                wiring::down(topology, switch, *port).is_some_and(|far| self.has_switch(far.switch))
            };
            (0..ports).filter(there).count() as u64
        };
        let alone = topology.exceptions.absent_links.iter().filter(|link| match link {
            Link::Host(_) => false,
            Link::Fabric { lower: from, up } => {
                let far = || self.upper_end(**link).is_some_and(|(switch, _)| self.has_switch(switch));
                from.tier == lower && u64::from(*up) < self.uplinks(*from) && self.has_switch(*from) && far()
            }
        });
        all - self.absent(upper).map(below).sum::<u64>() - alone.count() as u64
    }

    fn uplinks(&self, switch: Switch) -> u64 {
        self.topology().tier(switch.tier).map_or(0, |tier| u64::from(tier.up.count))
    }
}
