//! Places of the ports of a topology on the panels of its switches.
//!
//! In: a topology. Out: the place and the slot of each port. Invariants: without `port_order`, the place of a port is
//! its number. Places are computed once per topology.

use closc_platform::Slot;

use crate::coordinate::{PortRef, Side, Switch, TierId};
use crate::model::{PortBlock, Topology};
use crate::port_order::{PortStage, SideOrder, places};

impl Topology {
    /// Returns the stages whose port order is kept, then this fabric.
    fn stages(&self) -> impl Iterator<Item = PortStage> + '_ {
        let own = PortStage { groups: self.hosts.groups, up: self.t0.up.count, parallel: self.t0.parallel };
        self.t0.port_order.iter().copied().chain([own])
    }

    /// Returns the stages whose port order a later stage of this fabric keeps: the current `port_order`, then this
    /// fabric.
    pub fn port_stages(&self) -> Vec<PortStage> {
        self.stages().collect()
    }

    /// Returns a copy with another port order and with the spare ports that it needs.
    #[must_use]
    pub fn with_port_order(&self, order: Vec<PortStage>) -> Topology {
        let mut topology = self.clone();
        topology.t0.port_order = order;
        let last = |places: Vec<u16>| places.into_iter().max().map_or(0, |place| place + 1);
        let up = last(places(topology.stages().map(PortStage::t1_fan)));
        let down = last(places(topology.stages().map(PortStage::t0_fan)));
        let reserve = |block: &mut PortBlock, used: u16| {
            block.spare = block.spare.max(used.saturating_sub(block.count));
        };
        reserve(&mut topology.t0.up, up);
        topology.t0.by_zone.values_mut().for_each(|own| reserve(&mut own.up, up));
        reserve(&mut topology.t1.down, down);
        topology.t1.by_zone.values_mut().for_each(|own| reserve(&mut own.down, down));
        topology
    }

    /// Returns the order of a side; `None` if its ports are in the order of their numbers.
    fn order(&self, tier: TierId, side: Side) -> Option<&SideOrder> {
        let at = match (tier, side) {
            (TierId::T0, Side::Up) => 0,
            (TierId::T1, Side::Down) => 1,
            (TierId::T0, Side::Down) | (TierId::T1, Side::Up) | (TierId::T2, _) => return None,
        };
        if self.t0.port_order.is_empty() {
            return None;
        }
        let orders = self.orders.0.get_or_init(|| {
            let [up, down] = [self.t0.up, self.t1.down];
            let up = SideOrder::new(self.stages().map(PortStage::t1_fan), up.count, up.spare);
            [up, SideOrder::new(self.stages().map(PortStage::t0_fan), down.count, down.spare)]
        });
        Some(&orders[at])
    }

    /// Returns the slot of a port of a switch.
    pub fn slot(&self, switch: Switch, port: PortRef) -> Slot {
        let [down, up] = self.blocks(switch);
        let place = self.place(switch.tier, port);
        match port.side {
            Side::Down => down.slot(place),
            Side::Up => up.slot(place),
        }
    }

    /// Returns the place of a port on its side of a switch's panel, from 0. It is the number of the port, unless the
    /// file states another order.
    pub fn place(&self, tier: TierId, port: PortRef) -> u16 {
        let order = self.order(tier, port.side);
        order.and_then(|order| order.places.get(usize::from(port.index)).copied()).unwrap_or(port.index)
    }

    /// Returns the places of a T0's uplinks; `None` if they are in the order of their numbers.
    pub fn uplink_places(&self) -> Option<&[u16]> {
        self.order(TierId::T0, Side::Up).map(|order| order.places.as_slice())
    }

    /// Returns the number of the port at a place, the inverse of [`Topology::place`].
    pub fn port_at(&self, tier: TierId, side: Side, place: u16) -> u16 {
        let order = self.order(tier, side);
        order.and_then(|order| order.ports.get(usize::from(place)).copied()).unwrap_or(place)
    }
}
