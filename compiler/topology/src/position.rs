//! Positions of the elements of a topology: units and nodes, ends of cables, names, domains.
//!
//! In: a topology and a coordinate or a name. Out: another coordinate or name. Invariants: results are functions of
//! position, so growth does not move elements.

use smol_str::{SmolStr, format_smolstr};

use crate::coordinate::{Link, Nic, Node, Subject, Switch, TierId, ZoneId};
use crate::domain::{DomainBy, DomainRule};
use crate::model::Topology;
use crate::names::{NameFault, correct_name, find_link, resolve_name};
use crate::rack::RackPlace;
use crate::shape::Shape;

impl Topology {
    fn shape(&self) -> Shape {
        Shape {
            planes: u16::from(self.planes),
            zones: self.zones,
            groups: self.hosts.groups,
            per_group: self.hosts.per_group,
            nics_per_node: u16::from(self.hosts.nics_per_node),
            rails: u16::from(self.hosts.rails),
            zones_per_node: u16::from(self.hosts.zones_per_node),
            t1_count: self.t1_count,
            t0_up: self.t0.up.count,
            t0_parallel: self.t0.parallel,
            t1_up: self.t1.up.count,
            t1_parallel: self.t1.parallel,
            t2_count: self.count(TierId::T2),
            rows: self.t2_rows(),
        }
    }

    /// Returns the number of units in a zone. A unit has as many consecutive T0 groups as there are rails in a zone.
    pub fn units(&self) -> u16 {
        self.shape().units()
    }

    /// Returns how many rails have their T0s in one zone.
    pub fn rails_in_zone(&self) -> u16 {
        self.shape().rails_in_zone()
    }

    /// Returns the zone in the name of the nodes that have NICs in `zone`: the first zone of these nodes.
    pub fn node_zone(&self, zone: ZoneId) -> ZoneId {
        self.shape().node_zone(zone)
    }

    /// Returns whether a node is within the counts. It may be absent.
    pub fn numbers_node(&self, node: Node) -> bool {
        self.shape().has_node(node)
    }

    /// Returns the number of nodes in a unit.
    pub fn nodes_per_unit(&self) -> u16 {
        self.shape().nodes_per_unit()
    }

    /// Returns the rack and the units of a switch, if the file has them for its tier.
    pub fn switch_place(&self, switch: Switch) -> Option<RackPlace> {
        self.racks.as_ref()?.switch(switch)
    }

    /// Returns the rack and the units of a node, if the file states them for nodes.
    pub fn node_place(&self, node: Node) -> Option<RackPlace> {
        self.racks.as_ref()?.node(node)
    }

    /// Returns the node of a NIC and the NIC's number on it, from 0.
    pub fn node_of(&self, nic: Nic) -> (Node, u8) {
        self.shape().node_of(nic)
    }

    /// Returns the NIC of a node by its number, from 0.
    ///
    /// The node and the NIC must exist in this fabric.
    pub fn nic_of(&self, node: Node, nic_in_node: u8) -> Nic {
        self.shape()
            .nic_of(node, nic_in_node)
            .expect("a node of the fabric has its NICs on T0s of the fabric")
    }

    /// Returns the NIC of a node by its number, from 0; `None` if the node or the number is not within the counts.
    pub fn find_nic(&self, node: Node, nic_in_node: u8) -> Option<Nic> {
        let is_within = self.numbers_node(node) && nic_in_node < self.hosts.nics_per_node;
        is_within.then(|| self.nic_of(node, nic_in_node))
    }

    /// Returns the switch at the upper end of an uplink, and the number of the link among the parallel ones, from 0.
    /// Returns `None` at the top tier or past the last uplink.
    pub fn upper(&self, lower: Switch, up: u16) -> Option<(Switch, u16)> {
        self.shape().upper(lower, up)
    }

    /// Returns the uplink of a switch that leads to `upper` over parallel link `link` (from 0); `None` if there is
    /// none.
    pub fn uplink(&self, lower: Switch, upper: Switch, link: u16) -> Option<u16> {
        self.shape().uplink(lower, upper, link)
    }

    /// Returns the name of a link: its two switches (`p3-t0-017--p3-t1-005`), or the NIC port of a host cable
    /// (`su017-n004/nic2.p3`). The second and further parallel links have a number (`#2`).
    ///
    /// Returns `None` for a link that the fabric does not have.
    pub fn link_name(&self, link: Link) -> Option<String> {
        self.shape().link_name(&self.naming, link)
    }

    /// Returns the link with a name as written by [`Topology::link_name`]; `None` if there is none.
    pub fn parse_link(&self, name: &str) -> Option<Link> {
        find_link(&self.shape(), &self.naming, name).ok()
    }

    /// Returns every element that a name stands for in `exceptions`: `plane 3`, a switch, node, NIC, NIC port or
    /// cable, with ranges in brackets expanded. The error states why a name cannot be resolved.
    ///
    /// Absent elements have names, too.
    pub fn parse_names(&self, name: &str) -> Result<Vec<(SmolStr, Subject)>, String> {
        resolve_name(name, &self.shape(), &self.naming)
    }

    /// Returns the correct name of the element that a misspelt name stands for: `p0-t0-001` for `P0_T0_1`. The error
    /// states why the correctly spelled element does not exist. `None` if the name does not resemble any.
    pub fn nearest_name(&self, name: &str) -> Option<Result<String, String>> {
        match correct_name(name, &self.shape(), &self.naming) {
            Ok(near) => Some(Ok(near)),
            Err(NameFault::Unreadable) => None,
            Err(
                NameFault::Beyond { last: why }
                | NameFault::NoCable { reason: why }
                | NameFault::Range { reason: why }
                | NameFault::TooMany { reason: why },
            ) => Some(Err(why)),
        }
    }

    /// Returns the domain of a kind that contains a switch by position, with numbers from 1: `rack-t0-3`, `power-2`.
    pub fn domain(&self, kind: &str, switch: Switch) -> Option<SmolStr> {
        let (parts, number) = self.domain_parts(kind, switch, self.domains.len())?;
        let mut name = SmolStr::from(kind);
        for part in parts {
            name = format_smolstr!("{name}-{part}");
        }
        Some(format_smolstr!("{name}-{}", number + 1))
    }

    /// Returns the parts of the domain's name before its number, and the number. `depth` limits the chain of kinds
    /// that are defined by each other.
    fn domain_parts(&self, kind: &str, switch: Switch, depth: usize) -> Option<(Vec<SmolStr>, u16)> {
        let DomainRule::Position(position) = self.domains.get(kind)? else { return None };
        if !position.tiers.contains(&switch.tier) {
            return None;
        }
        let (parts, number) = match &position.by {
            DomainBy::Coordinates(by) => {
                let (last, before) = by.split_last()?;
                let parts: Option<Vec<SmolStr>> = before.iter().map(|by| by.part(switch)).collect();
                (parts?, last.number(switch)?)
            }
            DomainBy::Kind(other) => (Vec::new(), self.domain_parts(other, switch, depth.checked_sub(1)?)?.1),
        };
        let number = number / position.run.max(1);
        Some((parts, position.count.map_or(number, |count| number % count.max(1))))
    }
}
