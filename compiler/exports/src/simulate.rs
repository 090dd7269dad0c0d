//! Inputs of simulators: the graph of a plane, or its counts, and flows.
//!
//! In: a plan and its traffic. Out: files for infragraph ([`infragraph`]), ASTRA-sim ([`astra`]), htsim
//! ([`htsim`]) and ns-3 as HPCC uses it ([`ns3`]). Invariants: graphs do not contain drained devices and
//! cables. If a format has one number for values that differ in the fabric, the export is refused. The delay
//! of a cable is that of the plan: propagation, and half of the delay of the device at each end.

pub mod astra;
pub mod htsim;
pub mod infragraph;
pub mod ns3;

mod flows;
mod numbers;
mod uniform;

use closc_plan::{NIC_LATENCY, Plan, SWITCH_LATENCY};
use closc_qos::headroom::LIGHT_METERS_PER_SECOND;
use closc_qos::units::{Length, Speed};
use closc_topology::{Link, PlaneId, PortRef, Side};

pub use flows::{Flow, Pattern, Traffic};

use crate::Refusal;

/// Returns the selected planes; without a selection, all that are not drained.
///
/// # Errors
///
/// Rejects a selected plane that is drained.
pub fn planes(plan: &Plan, wanted: &[PlaneId]) -> Result<Vec<PlaneId>, Refusal> {
    let drained = &plan.topology().exceptions.drained_planes;
    if let Some(plane) = wanted.iter().find(|plane| drained.contains(*plane)) {
        return Err(Refusal::Unknown {
            format: "a simulation",
            subject: format!("traffic in plane {plane}, which is drained"),
            help: "choose other planes with `--plane`",
        });
    }
    let is_wanted = |plane: &PlaneId| wanted.is_empty() || wanted.contains(plane);
    Ok(plan.planes().filter(|plane| is_wanted(plane) && !drained.contains(plane)).collect())
}

/// The cables of a plane that carry traffic: NIC-T0, T0-T1 and T1-T2.
fn links(plan: &Plan, plane: PlaneId) -> impl Iterator<Item = Link> + '_ {
    let fabric = plan.fabric();
    fabric.host_links(plane).chain(fabric.switch_links(plane)).filter(|link| !fabric.is_drained(*link))
}

pub(crate) fn speed(plan: &Plan, link: Link) -> Speed {
    match link {
        Link::Host(port) => plan.topology().port_speed(port.nic.zone),
        Link::Fabric { lower, up } => {
            plan.topology().slot(lower, PortRef { side: Side::Up, index: up }).breakout.speed
        }
    }
}

/// Propagation delay of a cable, in ns, rounded up.
fn light_ns(length: Length) -> u64 {
    (length.millimeters() * 1_000_000).div_ceil(u64::from(LIGHT_METERS_PER_SECOND))
}

/// Delay over a cable in ns: propagation, and half of the delay of the device at each end.
fn delay_ns(plan: &Plan, link: Link) -> u64 {
    let lower = match link {
        Link::Host(_) => NIC_LATENCY,
        Link::Fabric { .. } => SWITCH_LATENCY,
    };
    light_ns(plan.fabric().cable(link).length) + u64::midpoint(lower.0, SWITCH_LATENCY.0)
}
