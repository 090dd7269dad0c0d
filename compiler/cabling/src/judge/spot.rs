//! Cables that end at a port that is not in the plan.
//!
//! In: neighbours of such ports, and planned ports whose neighbour is such a port. Out: findings. Invariants: a cable
//! that both ends report is one finding.

use std::collections::BTreeSet;

use closc_fabric::End;
use closc_topology::{Link, PlaneId, Switch};
use smol_str::SmolStr;

use super::{Judge, worst};
use crate::locate::{self, Device, NeighbourIdentity, cable_of, locate};
use crate::report::{DevicePort, Finding};
use crate::sighting::Sighting;

/// A port of the plan, or another port of a panel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spot {
    /// A port of the plan.
    End(End),
    /// A front-panel port that is not in the plan.
    Front(Switch, SmolStr),
}

impl Spot {
    /// Returns the port if it is in the plan.
    pub(super) fn end(&self) -> Option<End> {
        match self {
            Spot::End(end) => Some(*end),
            Spot::Front(..) => None,
        }
    }

    fn plane(&self) -> PlaneId {
        match self {
            Spot::End(end) => locate::plane(*end),
            Spot::Front(switch, _) => switch.plane,
        }
    }
}

impl Judge<'_> {
    /// Evaluates the neighbours of a port that is not in the plan. Interfaces that are not on a panel are only counted.
    pub(super) fn judge_unused_port(&mut self, device: Device, sighting: &Sighting) {
        let Device::Switch(switch) = device else {
            self.report.other_interfaces += 1;
            return;
        };
        let Some(port) = self.fronts.find(self.plan, switch, &sighting.port) else {
            self.report.other_interfaces += 1;
            return;
        };
        let (plan, fronts) = (self.plan, &mut self.fronts);
        let neighbours = sighting.neighbours.iter().filter(|_| !sighting.is_down);
        let fars: Vec<NeighbourIdentity> =
            neighbours.map(|neighbour| locate(plan, fronts, neighbour, None)).collect();
        let Some(worst) = worst(fars) else { return };
        let at = Spot::Front(switch, port);
        let seen = match worst {
            NeighbourIdentity::Port(end) => return self.record_spot(at, Spot::End(end)),
            NeighbourIdentity::Front(switch, port) => return self.record_spot(at, Spot::Front(switch, port)),
            NeighbourIdentity::Device(device) => format!("{}, port not reported", device.name(plan)),
            NeighbourIdentity::Nameless(seen) | NeighbourIdentity::Foreign(seen) => seen,
        };
        let at = self.spot_at(&at);
        self.report.findings.push(Finding::Unplanned { at, because: "unused", seen });
    }

    /// Records a cable, without duplicates.
    pub(super) fn record_spot(&mut self, a: Spot, b: Spot) {
        self.spots.insert(if a <= b { (a, b) } else { (b, a) });
    }

    fn spot_at(&self, spot: &Spot) -> DevicePort {
        match spot {
            Spot::End(end) => self.port_at(*end),
            Spot::Front(switch, port) => {
                DevicePort { device: self.plan.switch_name(*switch).to_string(), port: port.to_string() }
            }
        }
    }

    /// Adds a finding for each recorded cable.
    pub(super) fn spots(&mut self) {
        for (a, b) in &self.spots {
            let ends = [a.end(), b.end()].into_iter().flatten();
            let instead: BTreeSet<Link> = ends.filter_map(|end| cable_of(self.plan, end)).collect();
            let finding = Finding::Wrong {
                seen: (self.spot_at(a), self.spot_at(b)),
                instead_of: instead.into_iter().map(|link| self.cable_at(link)).collect(),
                across_planes: a.plane() != b.plane(),
            };
            self.report.findings.push(finding);
        }
    }
}
