//! Finds faulty cables on fabrics whose switches choose the path, from the ports of flows and from missing routes.
//!
//! In: routes before and after, and observations of flows. Out: [`Finding`]s. Invariants: records of injected faults
//! are not used. Flows that pass a device twice are ignored, because the order of their observations is unknown. A
//! cable is suspected only if all packets fail in at least one direction.

use std::collections::{BTreeMap, BTreeSet};

use crate::backend::linux::connectivity::{NodeNic, used_ports};
use crate::backend::{FlowObservations, Routes};
use crate::model::{CableId, DeviceId, Model, PortId};
use crate::trace::{CableDestination, CableDestinations, Finding};

/// Derives findings from flows and routes.
pub(super) fn findings(
    model: &Model,
    seats: &[NodeNic],
    (before, after): (&[Routes], &[Routes]),
    seen: &[FlowObservations],
) -> Vec<Finding> {
    let mut ways = Crossings::default();
    for seen in seen {
        ways.take(model, seen);
    }
    let mut found = ways.into_destinations().findings(model);
    let accused: BTreeSet<String> = found.iter().flat_map(Finding::cables).map(str::to_owned).collect();
    let (before, after) = (used_ports(model, seats, before), used_ports(model, seats, after));
    let mut left: BTreeMap<CableId, Vec<String>> = BTreeMap::new();
    for port in before.difference(&after) {
        let evidence = format!("routes used {} before, but none uses it now", model.port_name(*port));
        left.entry(port.cable()).or_default().push(evidence);
    }
    // Require that routes at both ends avoid the cable. Routes at one end may do so because of a fault elsewhere.
    for (cable, evidence) in left.into_iter().filter(|(_, evidence)| evidence.len() == 2) {
        let cable = model.cable_name(cable).to_owned();
        if !accused.contains(&cable) {
            found.push(Finding::Unused { cable, evidence });
        }
    }
    found.sort();
    found
}

/// Observations of flows after each egress port.
#[derive(Debug, Default)]
struct Crossings {
    ports: BTreeMap<PortId, EgressObservations>,
}

/// Observations of flows after one egress port.
#[derive(Debug, Default)]
struct EgressObservations {
    egress_flows: u64,
    /// Flows that did not arrive at the other end.
    missing: u64,
    /// Unexpected ingress ports, with the numbers of flows.
    unexpected_ports: BTreeMap<PortId, u64>,
}

impl Crossings {
    fn take(&mut self, model: &Model, seen: &FlowObservations) {
        let left: BTreeSet<PortId> = seen.egress_ports.iter().copied().collect();
        let entered: BTreeSet<PortId> = seen.ingress_ports.iter().copied().collect();
        let devices: BTreeSet<DeviceId> = entered.iter().map(|port| model.end(*port).0).collect();
        let is_straight = left.len() == seen.egress_ports.len() && devices.len() == seen.ingress_ports.len();
        if !is_straight {
            return;
        }
        let astray: Vec<PortId> =
            entered.iter().copied().filter(|port| !left.contains(&port.peer())).collect();
        for port in left {
            let behind = self.ports.entry(port).or_default();
            behind.egress_flows += 1;
            if !entered.contains(&port.peer()) {
                behind.missing += 1;
                for port in &astray {
                    *behind.unexpected_ports.entry(*port).or_default() += 1;
                }
            }
        }
    }

    fn into_destinations(self) -> CableDestinations {
        let mut found = CableDestinations::default();
        for (port, behind) in
            self.ports.into_iter().filter(|(_, behind)| behind.missing == behind.egress_flows)
        {
            // The cable ends at a port at which all missing flows arrived. If later ports of their paths also
            // qualify, take the first.
            let met = behind.unexpected_ports.into_iter().find(|(_, times)| *times == behind.missing);
            found
                .take(port, met.map_or(CableDestination::Nowhere, |(port, _)| CableDestination::Other(port)));
        }
        found
    }
}
