//! The counts that determine the devices and their connections.
//!
//! In: counts. Out: the T0s of each NIC of a node, and the upper end of an uplink. Invariants: results are arithmetic
//! on coordinates and do not depend on a count that growth changes. The shape is separate from the topology, so that
//! names in exceptions can be resolved while other parts of a file still have faults.

use crate::coordinate::{Link, Nic, NicPort, Node, PlaneId, Switch, TierId, ZoneId};
use crate::naming::{LINK_SEPARATOR, Naming};

/// The counts. Divisors are at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) planes: u16,
    pub(crate) zones: u16,
    pub(crate) groups: u16,
    pub(crate) per_group: u16,
    pub(crate) nics_per_node: u16,
    pub(crate) rails: u16,
    /// Number of zones that the NICs of a node are in; divides the rails.
    pub(crate) zones_per_node: u16,
    pub(crate) t1_count: u16,
    pub(crate) t0_up: u16,
    pub(crate) t0_parallel: u16,
    pub(crate) t1_up: u16,
    pub(crate) t1_parallel: u16,
    /// 0 without a T2 tier.
    pub(crate) t2_count: u16,
    /// Rows of T2s; 1 if every T1 reaches every T2.
    pub(crate) rows: u16,
}

impl Shape {
    pub(crate) fn units(&self) -> u16 {
        self.groups / self.rails_in_zone()
    }

    /// Returns the number of rails whose T0s are in one zone.
    pub(crate) fn rails_in_zone(&self) -> u16 {
        (self.rails / self.zones_per_node).max(1)
    }

    /// Returns the zone in the name of the nodes that have NICs in `zone`: the first zone of these nodes.
    pub(crate) fn node_zone(&self, zone: ZoneId) -> ZoneId {
        ZoneId(zone.0 - zone.0 % self.zones_per_node)
    }

    pub(crate) fn nodes_per_unit(&self) -> u16 {
        self.per_group / self.share()
    }

    pub(crate) fn node_of(&self, nic: Nic) -> (Node, u8) {
        let (zone, in_zone) = (self.node_zone(nic.zone), self.rails_in_zone());
        let node = Node { zone, unit: nic.group / in_zone, index: nic.downlink / self.share() };
        let rail = nic.zone.0 % self.zones_per_node * in_zone + nic.group % in_zone;
        (node, (nic.downlink % self.share() * self.rails + rail) as u8)
    }

    pub(crate) fn nic_of(&self, node: Node, nic_in_node: u8) -> Option<Nic> {
        let (number, in_zone) = (u16::from(nic_in_node), self.rails_in_zone());
        let rail = number % self.rails;
        let zone = ZoneId(node.zone.0.checked_add(rail / in_zone)?);
        let group = node.unit.checked_mul(in_zone)?.checked_add(rail % in_zone)?;
        let downlink = node.index.checked_mul(self.share())?.checked_add(number / self.rails)?;
        Some(Nic { zone, group, downlink })
    }

    /// Returns the number of NICs that a node has in one T0 group.
    fn share(&self) -> u16 {
        (self.nics_per_node / self.rails).max(1)
    }

    pub(crate) fn upper(&self, lower: Switch, up: u16) -> Option<(Switch, u16)> {
        let (ups, parallel) = self.uplinks(lower.tier)?;
        if up >= ups {
            return None;
        }
        let (step, link) = (up / parallel, up % parallel);
        let upper = match lower.tier {
            TierId::T0 => Switch { tier: TierId::T1, index: step, ..lower },
            TierId::T1 => {
                let index = step.checked_mul(self.rows)?.checked_add(lower.index % self.rows)?;
                Switch { plane: lower.plane, tier: TierId::T2, zone: ZoneId(0), index }
            }
            TierId::T2 => return None,
        };
        Some((upper, link))
    }

    pub(crate) fn uplink(&self, lower: Switch, upper: Switch, link: u16) -> Option<u16> {
        let (_, parallel) = self.uplinks(lower.tier)?;
        let step = match lower.tier {
            TierId::T1 => upper.index / self.rows,
            TierId::T0 | TierId::T2 => upper.index,
        };
        let up = step.checked_mul(parallel)?.checked_add(link)?;
        (self.upper(lower, up)? == (upper, link)).then_some(up)
    }

    /// Returns the number of uplinks of a switch, and how many of them lead to the same switch; `None` for
    /// T2s.
    fn uplinks(&self, tier: TierId) -> Option<(u16, u16)> {
        match tier {
            TierId::T0 => Some((self.t0_up, self.t0_parallel)),
            TierId::T1 => Some((self.t1_up, self.t1_parallel)),
            TierId::T2 => None,
        }
    }

    /// Returns the number of switches of a tier in each plane and zone. For T2s it is the number in each plane; with
    /// rows, one more than the largest index.
    pub(crate) fn count(&self, tier: TierId) -> u16 {
        match tier {
            TierId::T0 => self.groups,
            TierId::T1 => self.t1_count,
            TierId::T2 => self.t2_count,
        }
    }

    /// Returns whether a switch is within the counts.
    pub(crate) fn has_switch(&self, switch: Switch) -> bool {
        let zones = if switch.tier == TierId::T2 { 1 } else { self.zones };
        let in_row = switch.tier != TierId::T2 || switch.index % self.rows < self.t1_count;
        in_row
            && u16::from(switch.plane.0) < self.planes
            && switch.zone.0 < zones
            && switch.index < self.count(switch.tier)
    }

    /// Returns the switches of a plane within the counts.
    pub(crate) fn plane_switches(&self, plane: PlaneId) -> impl Iterator<Item = Switch> + '_ {
        let of_tier = move |tier| {
            let zones = if tier == TierId::T2 { 1 } else { self.zones };
            let of_zone = move |zone| {
                (0..self.count(tier)).map(move |index| Switch { plane, tier, zone: ZoneId(zone), index })
            };
            (0..zones).flat_map(of_zone)
        };
        TierId::ALL.into_iter().flat_map(of_tier).filter(|switch| self.has_switch(*switch))
    }

    /// Returns whether a node is within the counts.
    pub(crate) fn has_node(&self, node: Node) -> bool {
        let begins = node.zone == self.node_zone(node.zone) && node.zone.0 < self.zones;
        begins && node.unit < self.units() && node.index < self.nodes_per_unit()
    }

    /// Returns the name of a link; `None` if it does not exist.
    pub(crate) fn link_name(&self, naming: &Naming, link: Link) -> Option<String> {
        match link {
            Link::Host(NicPort { plane, nic }) => {
                let (node, number) = self.node_of(nic);
                Some(naming.nic_port(node, number, plane))
            }
            Link::Fabric { lower, up } => {
                let (upper, parallel) = self.upper(lower, up)?;
                let number = match parallel {
                    0 => String::new(),
                    more => format!("#{}", more + 1),
                };
                let (lower, upper) = (naming.switch(lower), naming.switch(upper));
                Some(format!("{lower}{LINK_SEPARATOR}{upper}{number}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape {
            planes: 2,
            zones: 3,
            groups: 8,
            per_group: 12,
            nics_per_node: 8,
            rails: 4,
            zones_per_node: 1,
            t1_count: 3,
            t0_up: 6,
            t0_parallel: 2,
            t1_up: 8,
            t1_parallel: 2,
            t2_count: 4 * 5,
            rows: 5,
        }
    }

    #[test]
    fn nics_and_nodes_undo_each_other() {
        let shape = shape();
        assert_eq!((shape.units(), shape.nodes_per_unit()), (2, 6));
        let mut seen = std::collections::BTreeSet::new();
        for unit in 0..shape.units() {
            for index in 0..shape.nodes_per_unit() {
                for number in 0..8 {
                    let node = Node { zone: ZoneId(1), unit, index };
                    let nic = shape.nic_of(node, number).unwrap();
                    assert_eq!(shape.node_of(nic), (node, number));
                    assert!(nic.group < shape.groups && nic.downlink < shape.per_group);
                    assert!(seen.insert(nic));
                }
            }
        }
        assert_eq!(seen.len(), usize::from(shape.groups * shape.per_group));
    }

    #[test]
    fn nics_of_a_node_are_in_as_many_zones_as_stated() {
        let shape = Shape { zones: 6, zones_per_node: 2, ..shape() };
        assert_eq!((shape.units(), shape.nodes_per_unit()), (4, 6));
        let node = Node { zone: ZoneId(4), unit: 3, index: 5 };
        let found: Vec<Nic> = (0..8).map(|number| shape.nic_of(node, number).unwrap()).collect();
        assert_eq!(found[1], Nic { zone: ZoneId(4), group: 7, downlink: 10 });
        assert_eq!(found[2], Nic { zone: ZoneId(5), group: 6, downlink: 10 });
        assert_eq!(found[6], Nic { zone: ZoneId(5), group: 6, downlink: 11 });
        for (number, nic) in found.iter().enumerate() {
            assert_eq!(shape.node_of(*nic), (node, number as u8));
        }
        assert!(shape.has_node(node) && !shape.has_node(Node { zone: ZoneId(5), ..node }));
    }

    #[test]
    fn uplinks_undo_themselves() {
        for rows in [1, 2, 3, 5] {
            let shape = Shape { rows, ..shape() };
            for (tier, ups) in [(TierId::T0, shape.t0_up), (TierId::T1, shape.t1_up)] {
                let lower = Switch { plane: PlaneId(1), tier, zone: ZoneId(2), index: 2 };
                for up in 0..ups {
                    let (upper, link) = shape.upper(lower, up).unwrap();
                    assert_eq!(shape.uplink(lower, upper, link), Some(up));
                    assert_eq!(shape.uplink(lower, Switch { plane: PlaneId(0), ..upper }, link), None);
                }
                assert_eq!(shape.upper(lower, ups), None);
            }
        }
    }
}
