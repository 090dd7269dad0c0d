//! Walks every path that switches can choose in a small fabric.
//!
//! In: the fabric. Out: the numbers of deliveries and paths that arrive, for comparison with the proof by composition.
//! Invariants: packets follow the longest matching prefix of the original routes, without classes.

use std::collections::HashSet;

use closc_artefacts::Address;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::cabling::{CableId, SwitchId};
use crate::model::destinations::Destination;
use crate::model::switch::{RouteView, Switch};
use crate::proof::chosen::network::{Network, Step};

/// Result of walking every path, where switches choose the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct ChoiceWalk {
    /// Number of deliveries walked.
    pub deliveries: u128,
    /// Deliveries that arrive for every choice of the switches.
    pub arrive: u128,
    /// Deliveries that arrive for some choices but not for all.
    pub doubtful: u128,
    /// Paths that arrive.
    pub ways: u128,
    /// Paths that packets can take to NICs with a cable in the plane.
    pub tried: u128,
}

impl ChoiceWalk {
    fn add(self, other: ChoiceWalk) -> ChoiceWalk {
        ChoiceWalk {
            deliveries: self.deliveries + other.deliveries,
            arrive: self.arrive + other.arrive,
            doubtful: self.doubtful + other.doubtful,
            ways: self.ways + other.ways,
            tried: self.tried + other.tried,
        }
    }
}

/// Walks every path of every delivery.
pub(crate) fn walk(network: &Network<'_>) -> ChoiceWalk {
    // Packets are sent to addresses. If NICs share an address, which is a violation, the first of them is the
    // destination.
    let mut owned = HashSet::new();
    let first = |(to, nic): (u32, _)| {
        let nic: &Destination = nic;
        nic.address.filter(|address| owned.insert(*address)).map(|address| (to, address, nic))
    };
    let meant: Vec<(u32, Address, &Destination)> =
        (0..).zip(&network.destinations.nics).filter_map(first).collect();
    let t0s = network.fabric.cabling.switch_ids();
    let senders: Vec<(SwitchId, u32)> =
        t0s.flat_map(|id| network.senders(id).map(move |(nic, _)| (id, nic))).collect();
    senders
        .into_par_iter()
        .map(|(t0, from)| {
            let mut counts = ChoiceWalk::default();
            let plane = network.positions.get(&t0).map(|(_, plane)| *plane);
            let is_here = |id: &CableId| Some(network.fabric.cabling.cable(*id).plane) == plane;
            for (to, address, nic) in meant.iter().filter(|(to, ..)| *to != from) {
                let mut tally = Tally::default();
                go(network, t0, (*to, *address), false, &mut tally);
                counts = counts.add(ChoiceWalk {
                    deliveries: 1,
                    arrive: u128::from(tally.arrive == tally.tried),
                    doubtful: u128::from(tally.arrive > 0 && tally.arrive < tally.tried),
                    ways: tally.arrive,
                    tried: if nic.cables.iter().any(is_here) { tally.tried } else { 0 },
                });
            }
            counts
        })
        .reduce(ChoiceWalk::default, ChoiceWalk::add)
}

#[derive(Default)]
struct Tally {
    arrive: u128,
    tried: u128,
}

/// Follows all choices from a switch. A path that goes down and then up again counts as lost, so every walk ends.
fn go(network: &Network<'_>, at: SwitchId, to: (u32, Address), above: bool, tally: &mut Tally) {
    let route = network.fabric.switch(at).and_then(|switch| longest(switch, to.1));
    let ways = route.map(|route| &**route.next_hops).unwrap_or_default();
    if ways.is_empty() {
        tally.tried += 1;
        return;
    }
    let steps: Vec<Step> = ways.iter().map(|way| network.step(at, way)).collect();
    // Two cables from a T0 to the same NIC count as one path, because the NIC receives the packet either way.
    if steps.iter().all(|step| matches!(step, Step::Nic(nic, _) if *nic == to.0)) {
        tally.tried += 1;
        tally.arrive += 1;
        return;
    }
    for step in steps {
        match step {
            Step::Switch { id, up } if !(up && above) => go(network, id, to, !up, tally),
            Step::Nic(nic, _) => {
                tally.tried += 1;
                tally.arrive += u128::from(nic == to.0);
            }
            Step::Switch { .. } | Step::Lost(_) => tally.tried += 1,
        }
    }
}

/// Returns the route with the longest matching prefix. Of two routes with the same prefix, the later one counts.
pub(crate) fn longest(switch: &Switch, address: Address) -> Option<RouteView<'_>> {
    let all = switch.other_routes.iter().filter(|route| route.prefix.contains(&address));
    all.max_by_key(|route| route.prefix.prefix_len())
}
