//! Forwards one packet hop by hop, by longest prefix match over all routes of a switch.
//!
//! In: a fabric, a cable from a NIC, a destination address. Out: where the packet ends. Invariants: every walk ends,
//! because a packet that leaves its twelfth switch for a thirteenth counts as looping.

use closc_artefacts::Address;

use super::carry::carries;
use crate::model::cabling::{Cable, CableId, DeviceId, Side, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::segment::{Usid, shift_usids, slots};
use crate::model::switch::{Gateway, NextHop, Switch};

/// Number of switches after which a packet counts as looping. Segment lists have at most six uSIDs, so correct paths
/// are shorter.
const HOPS_MAX: usize = 12;

/// Forwarding state of the fabric.
pub(crate) struct Network<'a> {
    pub(crate) fabric: &'a Fabric,
    /// For each cable, whether it carries frames upwards and downwards.
    carries: Vec<[bool; 2]>,
}

/// A switch that a walk passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    /// The switch.
    pub(crate) switch: SwitchId,
    /// The destination address, after removal of the switch's own uSID if the list began with it.
    pub(crate) address: Address,
    /// Whether the list began with the switch's own uSID.
    pub(crate) own: bool,
    /// The egress cable.
    pub(crate) out: Option<(CableId, Side)>,
}

/// Result of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The packet reaches a NIC: the cable, and the remaining segment list.
    Nic(CableId, Address),
    /// A switch has no route for the uSID, or its files do not parse.
    NoRoute,
    /// A switch has a blackhole for the uSID.
    Blackhole,
    /// A switch has several next hops for the uSID, which must have one.
    Several,
    /// The segment list ends at a switch.
    ListEnds,
    /// The cable does not carry the frame.
    Cable(CableId),
    /// The packet loops.
    Loop,
}

/// Forwarding decision of a switch.
enum Decision {
    Over(u16, Gateway),
    Drop(Ending),
}

impl<'a> Network<'a> {
    /// Computes which cables carry frames.
    pub(crate) fn new(fabric: &'a Fabric) -> Self {
        let cables = fabric.cabling.cables();
        let both = |cable: Cable| {
            [Side::Lower, Side::Upper].map(|side| carries(fabric, &cable, side, Gateway::Peer))
        };
        let carried = cables.map(both).collect();
        Network { fabric, carries: carried }
    }

    /// Returns whether a cable carries frames sent from one side.
    fn carries(&self, id: CableId, from: Side, gateway: Gateway) -> bool {
        match gateway {
            Gateway::Other => false,
            Gateway::Peer => self.carries[id.0 as usize][usize::from(from == Side::Upper)],
            Gateway::Unneeded => carries(self.fabric, &self.fabric.cabling.cable(id), from, gateway),
        }
    }

    /// Walks a packet that a NIC has sent over its cable. Calls a function for each switch on the path.
    pub(crate) fn walk(&self, from: CableId, address: Address, mut pass: impl FnMut(Hop)) -> Ending {
        let mut at = self.fabric.cabling.cable(from).upper.party;
        let mut address = address;
        let mut by = from;
        for _ in 0..HOPS_MAX {
            let switch_id = match at {
                DeviceId::Node(_) => return Ending::Nic(by, address),
                DeviceId::Switch(id) => id,
            };
            let Some(switch) = self.fabric.switch(switch_id) else { return Ending::NoRoute };
            let own = switch.owns(slots(address)[0]) && self.inside(switch, address);
            if own {
                address = shift_usids(address);
            }
            let mut hop = Hop { switch: switch_id, address, own, out: None };
            if own && slots(address)[0] == Usid(0) {
                pass(hop);
                return Ending::ListEnds;
            }
            let (slot, gateway) = match self.decide(switch, address) {
                Decision::Over(slot, gateway) => (slot, gateway),
                Decision::Drop(ending) => {
                    pass(hop);
                    return ending;
                }
            };
            let (id, cable, side) = self.fabric.slot_cable(switch_id, slot);
            hop.out = Some((id, side));
            pass(hop);
            if !self.carries(id, side, gateway) {
                return Ending::Cable(id);
            }
            at = cable.ends(side).1.party;
            by = id;
        }
        Ending::Loop
    }

    /// Returns whether an address is in the block of the switch's plane, which contains its segments and routes.
    fn inside(&self, switch: &Switch, address: Address) -> bool {
        let plane = switch.plane.unwrap_or(0);
        self.fabric.layout.as_ref().is_some_and(|layout| layout.contains(plane, address))
    }

    /// Looks up the longest matching prefix among all routes.
    fn decide(&self, switch: &Switch, address: Address) -> Decision {
        let odd = switch.other_routes.iter().filter(|route| route.prefix.contains(&address));
        let odd = odd.max_by_key(|route| route.prefix.prefix_len());
        let inside = self.inside(switch, address);
        let segment = if inside { switch.route(slots(address)[0]) } else { None };
        match (segment, odd) {
            (Some(route), None) => Decision::Over(route.slot, route.gateway),
            (Some(route), Some(odd)) if odd.prefix.prefix_len() < 48 => {
                Decision::Over(route.slot, route.gateway)
            }
            (_, Some(odd)) if odd.prefix.prefix_len() > 32 || !(switch.blackhole && inside) => {
                match &**odd.next_hops {
                    [] => Decision::Drop(Ending::Blackhole),
                    [NextHop { slot: Some(slot), gateway, .. }] => Decision::Over(*slot, *gateway),
                    [NextHop { slot: None, .. }] => Decision::Drop(Ending::NoRoute),
                    [..] => Decision::Drop(Ending::Several),
                }
            }
            (None, _) if switch.blackhole && inside => Decision::Drop(Ending::Blackhole),
            _ => Decision::Drop(Ending::NoRoute),
        }
    }
}
