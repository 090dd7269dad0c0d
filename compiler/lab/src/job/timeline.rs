//! A scenario on a fabric: what is broken after each step, and what that should leave of the goodput.
//!
//! In: a scenario, the model, the NICs of the job. Out: a [`Timeline`], or the first step that does not fit. Invariants: no
//! step breaks what is broken or mends what is whole; what should be left follows from the cables alone.

use std::collections::BTreeSet;
use std::time::Duration;

use super::pattern::{Pattern, Work};
use super::scenario::{Action, Scenario, ScenarioFault, names};
use crate::lab::fault::{Fault, Harm};
use crate::model::{CableId, DeviceId, Model, PortId};
use crate::tree::{DeviceKind, Tree};

/// A NIC of the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// Its name: `su001-n001/nic0`.
    pub name: String,
    /// The node it is in.
    pub node: DeviceId,
    /// Its address.
    pub address: std::net::Ipv6Addr,
    /// Its port in each plane; none where no cable is plugged in.
    pub ports: Vec<Option<PortId>>,
    /// The path table of its group, by its number in the tree.
    pub table: usize,
}

/// Returns the NICs of a tree, by name.
pub fn seats(tree: &Tree, model: &Model) -> Vec<Seat> {
    let mut seats = Vec::new();
    for (at, table) in tree.tables.iter().enumerate() {
        for nic in &table.nics {
            let Some(node) = nic.port(0).and_then(|(node, _)| model.device(node)) else { continue };
            let ports = (0..table.planes).map(|plane| model.nic_port(nic, plane)).collect();
            seats.push(Seat { name: nic.name.clone(), node, address: nic.address, ports, table: at });
        }
    }
    seats.sort_by(|a, b| a.name.cmp(&b.name));
    seats
}

/// A step that fits the fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// When.
    pub at: Duration,
    /// What happens.
    pub action: Action,
    /// What is broken afterwards.
    pub standing: Vec<Fault>,
}

/// A scenario on a fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// What happens.
    pub steps: Vec<Bound>,
    /// The share of goodput that should be left: before the first step, and after each.
    pub plan: Vec<f64>,
}

impl Timeline {
    /// Looks up every name of a scenario, and computes what should be left of the goodput of a pattern.
    pub fn bind(
        scenario: &Scenario,
        model: &Model,
        seats: &[Seat],
        pattern: Pattern,
        work: &Work,
    ) -> Result<Timeline, ScenarioFault> {
        let mut standing: Vec<(Fault, Harm)> = Vec::new();
        let mut steps = Vec::with_capacity(scenario.steps.len());
        let mut plan = vec![left(model, seats, pattern, work, &standing)];
        for step in &scenario.steps {
            let fault = |what: String| ScenarioFault::at(step.place, what);
            match &step.action {
                Action::Break(new) => {
                    let harm = new.harm(model).map_err(|error| fault(error.to_string()))?;
                    let same = |(other, there): &&(Fault, Harm)| {
                        other.names().iter().any(|name| new.names().contains(name)) || there.excludes(&harm)
                    };
                    if let Some((other, _)) = standing.iter().find(same) {
                        return Err(fault(format!("{new}: not while {other}; restore that first")));
                    }
                    standing.push((new.clone(), harm));
                }
                Action::Restore(name) => {
                    let broken: BTreeSet<String> = standing.iter().flat_map(|(f, _)| f.names()).collect();
                    let meant = |f: &Fault| name.as_ref().is_none_or(|name| f.names().contains(name));
                    let before = standing.len();
                    standing.retain(|(f, _)| !meant(f));
                    if standing.len() == before {
                        let what = name.as_deref().unwrap_or("all");
                        return Err(fault(format!("`restore: {what}` mends nothing; {}", names(&broken))));
                    }
                }
            }
            plan.push(left(model, seats, pattern, work, &standing));
            let now = standing.iter().map(|(fault, _)| fault.clone()).collect();
            steps.push(Bound { at: step.at, action: step.action.clone(), standing: now });
        }
        Ok(Timeline { steps, plan })
    }
}

/// The share of goodput that is left: for each pair of NICs that talk, the planes that join them still. Where all wait
/// for each other, the worst pair decides; elsewhere the mean.
fn left(model: &Model, seats: &[Seat], pattern: Pattern, work: &Work, standing: &[(Fault, Harm)]) -> f64 {
    let mut dead: BTreeSet<CableId> = BTreeSet::new();
    for (_, harm) in standing {
        match harm {
            Harm::Down(_) | Harm::Swapped(..) => dead.extend(harm.cables()),
            // Paths over it are left as soon as they lose a packet; others of the plane remain.
            Harm::Lossy(..) => {}
        }
    }
    let (mut sum, mut least, mut count) = (0.0, 1.0f64, 0.0);
    for from in 0..seats.len() {
        for to in work.destinations(from) {
            let share = shared(model, &seats[from], &seats[to], &dead);
            (sum, least, count) = (sum + share, least.min(share), count + 1.0);
        }
    }
    match pattern {
        Pattern::Ring => least,
        Pattern::Permutation | Pattern::AllToAll | Pattern::Incast if count > 0.0 => sum / count,
        Pattern::Permutation | Pattern::AllToAll | Pattern::Incast => 1.0,
    }
}

/// The share of planes over which two NICs reach each other.
fn shared(model: &Model, from: &Seat, to: &Seat, dead: &BTreeSet<CableId>) -> f64 {
    let planes = from.ports.iter().zip(&to.ports);
    let joined = planes.clone().filter(|(a, b)| match (a, b) {
        (Some(a), Some(b)) => joined(model, *a, *b, dead),
        (_, _) => false,
    });
    let there = planes.filter(|(a, b)| a.is_some() && b.is_some()).count();
    if there == 0 { 0.0 } else { joined.count() as f64 / there as f64 }
}

/// Tells whether cables and switches that are left join two NIC ports.
fn joined(model: &Model, from: PortId, to: PortId, dead: &BTreeSet<CableId>) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(port) = open.pop() {
        if dead.contains(&port.cable()) {
            continue;
        }
        let far = port.far();
        if far == to {
            return true;
        }
        let device = model.end(far).0;
        let is_switch = model.devices[device.0].kind == DeviceKind::Switch;
        if is_switch && seen.insert(device) {
            open.extend(model.devices[device.0].ports.iter().copied().filter(|own| *own != far));
        }
    }
    false
}
