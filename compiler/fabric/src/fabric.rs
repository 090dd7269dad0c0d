//! Devices and connections.
//!
//! In: a valid topology. Out: iterators over switches, NICs, ports and links. Invariants: a cable exists at one end
//! if and only if it exists at the other.

use std::sync::Arc;

use closc_topology::{
    Cable, Link, Nic, NicPort, Node, PlaneId, PortRef, Side, Switch, TierId, Topology, ZoneId,
};

use crate::wiring;

/// The expanded fabric: a topology with its wiring rule.
#[derive(Debug, Clone)]
pub struct Fabric {
    topology: Arc<Topology>,
}

/// Element at the end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// A port of a switch.
    Switch {
        /// The switch.
        switch: Switch,
        /// Its port.
        port: PortRef,
    },
    /// A port of a NIC.
    Nic(NicPort),
}

/// Purpose of a switch port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortUse {
    /// A cable is plugged in.
    Link {
        /// The cable.
        link: Link,
        /// The other end.
        peer: End,
    },
    /// The wiring rule has a cable here, but the cable or its other end is declared absent.
    Absent {
        /// The cable that would be here.
        link: Link,
    },
    /// The wiring rule has no cable here; the port is reserved.
    Spare,
}

/// A port of a switch, and its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// The port by its role.
    pub at: PortRef,
    /// Its use.
    pub usage: PortUse,
}

impl Fabric {
    /// Expands a topology.
    pub fn new(topology: Arc<Topology>) -> Self {
        Fabric { topology }
    }

    /// Returns the underlying topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the existing switches: plane by plane, T0s, then T1s, then T2s.
    pub fn switches(&self) -> impl Iterator<Item = Switch> + '_ {
        self.topology.plane_ids().flat_map(|plane| self.plane_switches(plane))
    }

    /// Returns the switches of one plane.
    pub fn plane_switches(&self, plane: PlaneId) -> impl Iterator<Item = Switch> + '_ {
        TierId::ALL.into_iter().flat_map(move |tier| self.tier_switches(plane, tier))
    }

    /// Returns the switches of one tier of one plane.
    pub fn tier_switches(&self, plane: PlaneId, tier: TierId) -> impl Iterator<Item = Switch> + '_ {
        let zones = match tier {
            TierId::T0 | TierId::T1 => self.topology.zones,
            TierId::T2 => 1,
        };
        let count = self.topology.count(tier);
        (0..zones)
            .flat_map(move |zone| {
                (0..count).map(move |index| Switch { plane, tier, zone: ZoneId(zone), index })
            })
            .filter(|switch| self.has_switch(*switch))
    }

    /// Returns whether a switch exists: its coordinates are valid and it is not declared absent.
    pub fn has_switch(&self, switch: Switch) -> bool {
        self.numbers_switch(switch) && !self.topology.exceptions.absent_switches.contains(&switch)
    }

    /// Returns whether the coordinates of a switch are valid, even if it is absent.
    pub fn numbers_switch(&self, switch: Switch) -> bool {
        let topology = &*self.topology;
        let in_row = match switch.tier {
            TierId::T0 | TierId::T1 => true,
            TierId::T2 => switch.index % topology.t2_rows() < topology.t1_count,
        };
        in_row
            && switch.index < topology.count(switch.tier)
            && switch.zone.0 < topology.zones
            && switch.plane.0 < topology.planes
    }

    /// Returns the nodes that have at least one NIC, unit by unit.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        let topology = &*self.topology;
        topology
            .zone_ids()
            .flat_map(|zone| (0..topology.units()).map(move |unit| (zone, unit)))
            .flat_map(|(zone, unit)| {
                (0..topology.nodes_per_unit()).map(move |index| Node { zone, unit, index })
            })
            .filter(|node| self.has_node(*node))
    }

    /// Returns whether a node exists: its coordinates are valid and it has at least one NIC.
    pub fn has_node(&self, node: Node) -> bool {
        let topology = &*self.topology;
        topology.numbers_node(node)
            && (0..topology.hosts.nics_per_node).any(|k| self.has_nic(topology.nic_of(node, k)))
    }

    /// Returns the existing NICs, group by group.
    pub fn nics(&self) -> impl Iterator<Item = Nic> + '_ {
        self.topology
            .zone_ids()
            .flat_map(|zone| (0..self.topology.hosts.groups).map(move |group| (zone, group)))
            .flat_map(|(zone, group)| self.group_nics(zone, group))
    }

    /// Returns the NICs of one T0 group.
    pub fn group_nics(&self, zone: ZoneId, group: u16) -> impl Iterator<Item = Nic> + '_ {
        (0..self.topology.hosts.per_group)
            .map(move |downlink| Nic { zone, group, downlink })
            .filter(|nic| self.has_nic(*nic))
    }

    /// Returns whether a NIC exists.
    pub fn has_nic(&self, nic: Nic) -> bool {
        self.numbers_nic(nic) && !self.topology.exceptions.absent_nics.contains(&nic)
    }

    /// Returns whether the coordinates of a NIC are valid, even if it is absent.
    pub fn numbers_nic(&self, nic: Nic) -> bool {
        nic.zone.0 < self.topology.zones
            && nic.group < self.topology.hosts.groups
            && nic.downlink < self.topology.hosts.per_group
    }

    /// Returns whether a cable exists: neither the cable nor one of its ends is declared absent.
    pub fn has_link(&self, link: Link) -> bool {
        self.has_ends(link) && !self.topology.exceptions.absent_links.contains(&link)
    }

    /// Returns whether both ends of a cable exist and the wiring rule connects them.
    pub fn has_ends(&self, link: Link) -> bool {
        match link {
            Link::Host(port) => self.has_nic(port.nic) && self.has_switch(port.nic.t0(port.plane)),
            Link::Fabric { lower, up } => {
                self.has_switch(lower)
                    && wiring::up(&self.topology, lower, up).is_some_and(|far| self.has_switch(far.switch))
            }
        }
    }

    /// Returns the switch port at the upper end of a cable, even if the cable is absent.
    pub fn upper_end(&self, link: Link) -> Option<(Switch, PortRef)> {
        match link {
            Link::Host(port) => {
                let at = PortRef { side: Side::Down, index: port.nic.downlink };
                Some((port.nic.t0(port.plane), at))
            }
            Link::Fabric { lower, up } => {
                wiring::up(&self.topology, lower, up).map(|far| (far.switch, far.port))
            }
        }
    }

    /// Returns every port of a switch: downlinks, spare downlinks, uplinks, spare uplinks.
    pub fn ports(&self, switch: Switch) -> impl Iterator<Item = Port> + '_ {
        let tier = self.topology.tier(switch.tier).expect("a switch exists only in a tier of the topology");
        let sides = [(Side::Down, tier.down), (Side::Up, tier.up)];
        sides.into_iter().flat_map(move |(side, block)| {
            (0..block.count + block.spare).map(move |index| {
                let at = PortRef { side, index };
                Port { at, usage: self.port_use(switch, at) }
            })
        })
    }

    /// Returns the use of a switch port.
    pub fn port_use(&self, switch: Switch, at: PortRef) -> PortUse {
        let Some((link, far)) = self.planned_link(switch, at) else { return PortUse::Spare };
        if self.has_link(link) { PortUse::Link { link, peer: far } } else { PortUse::Absent { link } }
    }

    /// The cable that the wiring rule puts on a port, before exceptions.
    fn planned_link(&self, switch: Switch, at: PortRef) -> Option<(Link, End)> {
        match at.side {
            Side::Up => {
                let far = wiring::up(&self.topology, switch, at.index)?;
                let end = End::Switch { switch: far.switch, port: far.port };
                Some((Link::Fabric { lower: switch, up: at.index }, end))
            }
            Side::Down if switch.tier == TierId::T0 => {
                let nic = Nic { zone: switch.zone, group: switch.index, downlink: at.index };
                let port = NicPort { plane: switch.plane, nic };
                (at.index < self.topology.hosts.per_group).then_some((Link::Host(port), End::Nic(port)))
            }
            Side::Down => {
                let far = wiring::down(&self.topology, switch, at.index)?;
                let link = Link::Fabric { lower: far.switch, up: far.port.index };
                Some((link, End::Switch { switch: far.switch, port: far.port }))
            }
        }
    }

    /// Returns the existing links in the order of their lower ends: NICs first, then T0s and T1s plane by plane.
    pub fn links(&self) -> impl Iterator<Item = Link> + '_ {
        let hosts = self.topology.plane_ids().flat_map(move |plane| self.host_links(plane));
        hosts.chain(self.topology.plane_ids().flat_map(move |plane| self.switch_links(plane)))
    }

    /// Returns the existing links of a plane between NICs and T0s.
    pub fn host_links(&self, plane: PlaneId) -> impl Iterator<Item = Link> + '_ {
        let all = self.nics().map(move |nic| Link::Host(NicPort { plane, nic }));
        all.filter(|link| self.has_link(*link))
    }

    /// Returns the existing links of a plane between switches: those of T0s, then of T1s.
    pub fn switch_links(&self, plane: PlaneId) -> impl Iterator<Item = Link> + '_ {
        let all = self.plane_switches(plane).flat_map(move |lower| {
            let count = self.topology.tier(lower.tier).map_or(0, |tier| tier.up.count);
            (0..count).map(move |up| Link::Fabric { lower, up })
        });
        all.filter(|link| self.has_link(*link))
    }

    /// Returns the length and medium of a cable: those of its exception if there is one, otherwise those of its kind.
    pub fn cable(&self, link: Link) -> &Cable {
        self.topology.cable(link)
    }

    /// Returns whether a cable must not carry new traffic, because it, one of its ends or its plane is declared
    /// drained.
    pub fn is_drained(&self, link: Link) -> bool {
        let exceptions = &self.topology.exceptions;
        let lower = match link {
            Link::Host(_) => None,
            Link::Fabric { lower, .. } => Some(lower),
        };
        let upper = self.upper_end(link).map(|(switch, _)| switch);
        exceptions.drained_links.contains(&link)
            || exceptions.drained_planes.contains(&link.plane())
            || [lower, upper].into_iter().flatten().any(|s| exceptions.drained_switches.contains(&s))
    }

    /// Returns whether the switch ports of a cable drop all IPv6 packets except ICMPv6.
    pub fn is_isolated(&self, link: Link) -> bool {
        self.topology.exceptions.isolated_links.contains(&link)
    }
}
