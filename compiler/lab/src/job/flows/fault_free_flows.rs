//! Remaining capacity during a fault for flows that switches hash.
//!
//! In: the paths of flows without faults, the routes of all devices, and the faults. Out: [`RemainingCapacity`].
//! Invariants: a flow keeps its path as long as the next-hop groups on it do not change. If a group changes, the
//! expected value over all hashes is used. Without a routing protocol, a device only detects the state of its own
//! ports. With one, switches also avoid next hops from which the destination is unreachable. Nodes do not run a
//! routing protocol.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Address;

use super::super::pattern::{Pattern, Work};
use super::super::spread::RemainingCapacity;
use super::super::timeline::CapacityModel;
use super::Pair;
use crate::backend::Routes;
use crate::backend::linux::connectivity::NodeNic;
use crate::lab::fault::{Fault, Harm};
use crate::model::{CableId, DeviceId, Model, PortId};
use crate::tree::DeviceKind;

/// Flows without faults.
pub(super) struct FaultFreeFlows<'a> {
    has_protocol: bool,
    model: &'a Model,
    seats: &'a [NodeNic],
    pairs: &'a [Pair],
    routes: &'a [Routes],
}

/// Faults.
#[derive(Debug, Default)]
struct FlowFaults {
    /// Ports that are down, which their device detects.
    down: BTreeSet<PortId>,
    /// Cables that drop all packets.
    dead: BTreeSet<CableId>,
}

/// One direction of a pair.
#[derive(Clone, Copy)]
struct Leg<'w> {
    from: Address,
    to: NodeNic,
    ports: &'w [PortId],
}

impl<'a> FaultFreeFlows<'a> {
    pub(super) fn new(
        has_protocol: bool,
        model: &'a Model,
        seats: &'a [NodeNic],
        pairs: &'a [Pair],
        routes: &'a [Routes],
    ) -> FaultFreeFlows<'a> {
        FaultFreeFlows { has_protocol, model, seats, pairs, routes }
    }

    /// Returns the next hops of a device's route, with their weights.
    fn group(&self, at: DeviceId, way: Leg<'_>) -> Vec<(PortId, f64)> {
        let route = self.routes[at.0].of(way.from, way.to.address).map(|(_, route)| route);
        let hops = route.into_iter().flat_map(|route| &route.hops);
        hops.filter_map(|(hop, weight)| Some((self.model.port(at, hop)?, f64::from(*weight)))).collect()
    }

    /// Returns the next hops of the route that the device still uses.
    fn remaining_next_hops(&self, at: DeviceId, way: Leg<'_>, broken: &FlowFaults) -> Vec<(PortId, f64)> {
        let speaks = self.has_protocol && self.model.devices[at.0].kind == DeviceKind::Switch;
        let stays = |port: &PortId| {
            if speaks { self.reaches(*port, way, broken) } else { !broken.down.contains(port) }
        };
        self.group(at, way).into_iter().filter(|(port, _)| stays(port)).collect()
    }

    /// Returns whether a path exists from a port to the destination, as computed by routers.
    fn reaches(&self, port: PortId, way: Leg<'_>, broken: &FlowFaults) -> bool {
        if broken.dead.contains(&port.cable()) {
            return false;
        }
        let next = self.model.end(port.peer()).0;
        next == way.to.node || self.group(next, way).iter().any(|(port, _)| self.reaches(*port, way, broken))
    }

    /// Returns the share of packets that arrive. It is 0 or 1 if no next-hop group on the path changes.
    fn share(&self, at: DeviceId, way: Leg<'_>, chosen: bool, broken: &FlowFaults) -> f64 {
        if at == way.to.node {
            return 1.0;
        }
        let (group, left) = (self.group(at, way), self.remaining_next_hops(at, way, broken));
        let on = |port: PortId, chosen: bool| {
            if broken.dead.contains(&port.cable()) {
                return 0.0;
            }
            self.share(self.model.end(port.peer()).0, way, chosen, broken)
        };
        let own = way.ports.iter().copied().find(|port| self.model.end(*port).0 == at).filter(|_| chosen);
        if let Some(own) = own.filter(|_| left.len() == group.len()) {
            return on(own, true);
        }
        let all: f64 = left.iter().map(|(_, weight)| weight).sum();
        if all > 0.0 { left.iter().map(|(port, weight)| weight / all * on(*port, false)).sum() } else { 0.0 }
    }

    /// Returns the share of a pair's packets that arrive and are acknowledged.
    fn pair(&self, pair: &Pair, chosen: bool, broken: &FlowFaults) -> f64 {
        let ends = [pair.from, pair.to].map(|at| self.seats[at]);
        let one = |from: NodeNic, to: NodeNic, ports: &[PortId]| {
            self.share(from.node, Leg { from: from.address, to, ports }, chosen, broken)
        };
        one(ends[0], ends[1], &pair.egress_ports[0]) * one(ends[1], ends[0], &pair.egress_ports[1])
    }
}

impl CapacityModel for FaultFreeFlows<'_> {
    fn remaining_capacity(&self, work: &Work, standing: &[(Fault, Harm)]) -> RemainingCapacity {
        let mut broken = FlowFaults::default();
        for (_, harm) in standing {
            match harm {
                Harm::Down(ports) => {
                    broken.down.extend(ports);
                    broken.dead.extend(harm.cables());
                }
                Harm::Swapped(..) => broken.dead.extend(harm.cables()),
                Harm::Lossy(..) | Harm::Narrow(..) => {}
            }
        }
        // The share of a pair is the probability that its flow still works. A sender needs all of its flows, and a ring
        // needs those of all NICs. So these probabilities are multiplied.
        let mut senders: BTreeMap<usize, f64> = BTreeMap::new();
        for pair in self.pairs {
            let sender = if work.pattern() == Pattern::Ring { 0 } else { pair.from };
            *senders.entry(sender).or_insert(1.0) *= self.pair(pair, true, &broken);
        }
        let goodput = senders.values().sum::<f64>() / senders.len().max(1) as f64;
        // The expected value is over all hashes, not only the actual next hops.
        let expected = self.pairs.iter().map(|pair| self.pair(pair, false, &broken)).sum::<f64>();
        // Sums of thirds may exceed 1.
        RemainingCapacity {
            goodput: goodput.min(1.0),
            paths: (expected / self.pairs.len().max(1) as f64).min(1.0),
        }
    }
}
