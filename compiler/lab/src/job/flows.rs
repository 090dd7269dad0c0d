//! A job on a fabric whose switches choose the path: queue pairs on sockets of the nodes, one flow per pair of NICs.
//!
//! ```text
//! pattern, NICs --> flows: addresses and ports --sent once, followed hop by hop--> paths
//! paths, routes --hashed--> expected capacity after each step
//! flows --nodes: queue pairs, sockets--> Record --> Report
//! ```
//!
//! In: a lab that is up, a scenario, orders. Out: a report. Invariants: the path of a flow is observed with a datagram
//! of the same addresses and ports, in each direction. The fabric is repaired when this returns.

mod fault_free_flows;
mod nodes;

use std::collections::BTreeSet;
use std::thread;

use closc_artefacts::Routing;
use closc_nic::choose::Transport;

use super::charge::{StepFaults, Witness};
use super::course::{Course, join};
use super::orders::Orders;
use super::pattern::Work;
use super::record::{Loss, Record};
use super::report::{Report, Setting};
use super::run::JobError;
use super::scenario::Scenario;
use super::timeline::Timeline;
use super::verdict::judge;
use crate::backend::linux::connectivity;
use crate::backend::{Flow, FlowObservations};
use crate::model::{CableId, DeviceId, Model, PortId};
use crate::name::FabricName;
use crate::progress::Watch;
use crate::{Lab, LabError};
use fault_free_flows::FaultFreeFlows;
use nodes::Nodes;

/// The source port of the first flow.
const FIRST_PORT: u16 = 20_000;
/// Number of source ports in use.
const PORTS: u64 = 40_000;
/// Maximum number of attempts to observe paths while routes change.
const TRIES: u32 = 20;

/// A sending and a receiving NIC, and the path between them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pair {
    from: usize,
    to: usize,
    source_port: u16,
    /// Egress ports of packets, and egress ports of acknowledgements.
    egress_ports: [Vec<PortId>; 2],
}

/// Rejects orders that require source-routed paths.
pub fn fits(orders: &Orders, fabric: &FabricName, routing: Routing) -> Result<(), JobError> {
    match orders.transport {
        Transport::Flow | Transport::Static => Ok(()),
        Transport::Spray => Err(JobError::NoSpray { fabric: fabric.clone(), routing }),
    }
}

/// Runs a job.
pub(super) fn run(
    lab: &mut Lab,
    scenario: &Scenario,
    orders: &Orders,
    watch: &Watch<'_>,
) -> Result<Report, JobError> {
    lab.breakable()?;
    fits(orders, &lab.tree().fabric, lab.tree().routing())?;
    let seats = connectivity::seats(lab.tree(), lab.model());
    super::run::fits(seats.len() as u64)?;
    let names = names(lab.model(), &seats);
    let work = orders.work(seats.len());
    lab.restore(watch)?;
    let (mut pairs, routes) = {
        let mut pairs = pairs(&work, seats.len(), orders);
        let parts = connectivity::Components::of(&seats, lab.model());
        if let Some(pair) = pairs.iter().find(|pair| !parts.join(&seats[pair.from], &seats[pair.to])) {
            let pair = format!("`{}` and `{}`", names[pair.from], names[pair.to]);
            return Err(LabError::NoPath { pair }.into());
        }
        let routes = look(lab, &seats, &mut pairs, watch)?;
        (pairs, routes)
    };
    pairs.sort_by_key(|pair| (pair.from, pair.to));
    let timeline = {
        let hashed = FaultFreeFlows::new(lab.tree().speaks_bgp(), lab.model(), &seats, &pairs, &routes);
        Timeline::over(scenario, lab.model(), &hashed, &work)?
    };
    let nodes = Nodes::open(lab, &seats, &pairs, orders)?;
    let record = perform(lab, scenario, &timeline, nodes, work, watch);
    lab.restore(watch)?;
    let mut record = record?;
    let way = |from: usize, to: usize| pairs.iter().find(|pair| (pair.from, pair.to) == (from, to));
    let cables = |_, loss: &Loss| -> Vec<CableId> {
        let pair = loss.report.and_then(|word| way(word.from, word.to));
        pair.map(|pair| pair.egress_ports.concat())
            .unwrap_or_default()
            .into_iter()
            .map(PortId::cable)
            .collect()
    };
    let touched = StepFaults::of(&timeline.steps, lab.model())?;
    touched.charge(&mut record.losses, &record.marks, Witness::Senders, cables);
    let setting = Setting::of(orders, names.len(), false);
    let mut report = Report::of(setting, &names, &timeline, &record);
    report.unmet = judge(&report, &timeline, &scenario.expect);
    Ok(report)
}

fn perform(
    lab: &mut Lab,
    scenario: &Scenario,
    timeline: &Timeline,
    nodes: Nodes,
    work: Work,
    watch: &Watch<'_>,
) -> Result<Record, LabError> {
    let course = &Course::begin(scenario.duration, timeline);
    thread::scope(|scope| {
        let driver = scope.spawn(move || {
            let seen = course.part(|| nodes.drive(work, course, watch));
            course.finished.store(true, std::sync::atomic::Ordering::SeqCst);
            seen
        });
        let marks = course.part(|| course.follow(lab, timeline, watch));
        let mut record = join(driver)?;
        record.marks = marks?;
        Ok(record)
    })
}

/// Returns names of NICs: those of their nodes, with a number if a node has several.
fn names(model: &Model, seats: &[connectivity::NodeNic]) -> Vec<String> {
    let of = |node: DeviceId| seats.iter().filter(move |seat| seat.node == node);
    let name = |seat: &connectivity::NodeNic| {
        let number = of(seat.node).position(|own| own.address == seat.address).unwrap_or_default();
        format!("{}/nic{number}", model.devices[seat.node.0].name)
    };
    seats.iter().map(name).collect()
}

/// Returns senders and receivers, with their source ports.
fn pairs(work: &Work, nics: usize, orders: &Orders) -> Vec<Pair> {
    let port = |from: usize, to: usize| match orders.transport {
        // All flows use the same source port, so only their addresses influence the hash.
        Transport::Spray | Transport::Static => FIRST_PORT,
        Transport::Flow => {
            let number = orders.seed.wrapping_mul(7919).wrapping_add((from * nics + to) as u64);
            FIRST_PORT + (number % PORTS) as u16
        }
    };
    let each = |from: usize| {
        work.destinations(from).into_iter().map(move |to| Pair {
            from,
            to,
            source_port: port(from, to),
            egress_ports: [Vec::new(), Vec::new()],
        })
    };
    (0..nics).flat_map(each).collect()
}

/// Sends a datagram in each direction of every flow and records the paths; returns the routes during that observation.
fn look(
    lab: &mut Lab,
    seats: &[connectivity::NodeNic],
    pairs: &mut [Pair],
    watch: &Watch<'_>,
) -> Result<Vec<crate::backend::Routes>, JobError> {
    let flow = |from: usize, to: usize, source_port| Flow {
        from: seats[from].node,
        source: seats[from].address,
        source_port,
        to: seats[to].node,
        destination: seats[to].address,
    };
    let mut flows: Vec<Flow> = Vec::with_capacity(2 * pairs.len());
    flows.extend(pairs.iter().map(|pair| flow(pair.from, pair.to, pair.source_port)));
    flows.extend(pairs.iter().map(|pair| flow(pair.to, pair.from, pair.source_port)));
    // Flows of one node are sent together.
    let mut order: Vec<usize> = (0..flows.len()).collect();
    order.sort_by_key(|at| flows[*at].from);
    let sorted: Vec<Flow> = order.iter().map(|at| flows[*at]).collect();
    for _ in 0..TRIES {
        let (routes, seen) = lab.flows(&sorted, watch)?;
        let Some(seen) = seen else { continue };
        let mut ways = vec![Vec::new(); flows.len()];
        for (at, (flow, seen)) in order.iter().zip(sorted.iter().zip(&seen)) {
            ways[*at] = flow_path(lab.model(), flow, seen).ok_or_else(|| LabError::Unjoined {
                pair: format!("{} and {}", flow.source, flow.destination),
            })?;
        }
        let back = ways.split_off(pairs.len());
        for (pair, ways) in pairs.iter_mut().zip(ways.into_iter().zip(back)) {
            pair.egress_ports = [ways.0, ways.1];
        }
        return Ok(routes);
    }
    Err(LabError::Changing { tries: TRIES }.into())
}

/// The egress ports of a flow, in order; `None` if it did not arrive.
fn flow_path(model: &Model, flow: &Flow, seen: &FlowObservations) -> Option<Vec<PortId>> {
    let left: BTreeSet<PortId> = seen.egress_ports.iter().copied().collect();
    let (mut at, mut way) = (flow.from, Vec::new());
    while at != flow.to && way.len() < left.len() {
        let port = left.iter().copied().find(|port| model.end(*port).0 == at)?;
        way.push(port);
        at = model.end(port.peer()).0;
    }
    (at == flow.to && seen.accepted == [flow.to]).then_some(way)
}
