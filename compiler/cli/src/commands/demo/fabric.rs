//! The fabric for the page: switches, NICs and cables of each plane.

use closc_lab::job::JobEndpoint;
use closc_lab::model::{DeviceId, Model, PortId};
use closc_plan::Plan;
use closc_topology::TierId;
use serde::Serialize;

/// A fabric.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct View {
    pub(super) name: String,
    pub(super) planes: Vec<PlaneView>,
    pub(super) nics: Vec<String>,
}

/// A plane.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PlaneView {
    pub(super) t0s: Vec<String>,
    pub(super) t1s: Vec<String>,
    pub(super) cables: Vec<CableView>,
    /// The cable of each NIC, in the order of NICs.
    pub(super) ports: Vec<CableView>,
}

/// A cable: its name, and the devices at its ends.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CableView {
    pub(super) name: String,
    pub(super) lower: String,
    pub(super) upper: String,
}

/// Returns the view of a fabric.
pub(super) fn view(plan: &Plan, model: &Model, seats: &[JobEndpoint]) -> View {
    let topology = plan.topology();
    let device = |at: DeviceId| model.devices[at.0].name.clone();
    let planes = topology.plane_ids().map(|plane| {
        let tier = |tier: TierId| -> Vec<String> {
            let of_tier = plan.switches().filter(|switch| switch.plane == plane && switch.tier == tier);
            of_tier.map(|switch| topology.naming.switch(switch).to_string()).collect()
        };
        let (t0s, t1s) = (tier(TierId::T0), tier(TierId::T1));
        let cable = |port: PortId| CableView {
            name: model.cable_name(port.cable()).to_owned(),
            lower: device(model.end(port.cable().lower()).0),
            upper: device(model.end(port.cable().upper()).0),
        };
        let lower = model.all_ports().filter(|port| port.is_lower()).map(cable);
        let cables = lower.filter(|cable| t0s.contains(&cable.lower)).collect();
        let ports = seats.iter().filter_map(|seat| seat.ports.get(usize::from(plane.0)).copied().flatten());
        PlaneView { ports: ports.map(cable).collect(), t0s, t1s, cables }
    });
    View {
        name: topology.name.to_string(),
        planes: planes.collect(),
        nics: seats.iter().map(|seat| seat.name.clone()).collect(),
    }
}
