//! The test of fabrics whose switches choose the path: flows between all NICs, each followed hop by hop.
//!
//! In: the routes of all devices, and observations of flows. Out: a [`TestReport`], and findings about cables.
//! Invariants: a flow is delivered only if exactly the node of its destination accepted it. At every device it must
//! leave through a port of the matching route, and arrive at the other end of that port's cable. The shares of next
//! hops must match their weights within a bound that chance exceeds once in 10^12 tests. For shares, only the first
//! device of each kind on a path counts, because devices of one kind have correlated hashes.

mod cables;

use std::collections::{BTreeMap, BTreeSet};

use crate::LabError;
use crate::backend::linux::connectivity::{Components, NodeNic, seats};
use crate::backend::{Flow, FlowObservations, RoutedBackend, Routes};
use crate::model::{DeviceId, Model, PortId};
use crate::progress::Watch;
use crate::sample::Extent;
use crate::test::{FlowName, ShareMismatch, Spread, TestReport};
use crate::trace::Finding;
use crate::tree::Tree;

/// Default number of flows of a test.
const FLOWS: u64 = 65_536;
/// Number of flows in a search for faulty cables, which is lower because some flows may loop.
const FLOWS_OF_SEARCH: u64 = 8192;
const FLOWS_OF_PAIR: std::ops::RangeInclusive<u64> = 8..=4096;
/// The source port of the first flow of a pair.
const FIRST_PORT: u16 = 20_000;
/// Maximum number of attempts while routes change.
const TRIES: u32 = 20;
/// Negative logarithm of half of 10^-12, because the deviation may have either sign.
const LN_CHANCE: f64 = 28.324_17;

/// Sends flows between all pairs of NICs, and evaluates them.
pub(crate) fn run(
    tree: &Tree,
    model: &Model,
    routed: &mut dyn RoutedBackend,
    extent: Extent,
    watch: &Watch<'_>,
) -> Result<TestReport, LabError> {
    let wanted = match extent {
        Extent::Everything => FLOWS,
        Extent::Sample { paths, .. } => paths,
    };
    Ok(walk(tree, model, routed, wanted, watch)?.report)
}

/// Like [`run`], but with fewer flows, and returns findings from flows and routes. `before` contains the routes before
/// the fault.
pub(crate) fn search(
    tree: &Tree,
    model: &Model,
    routed: &mut dyn RoutedBackend,
    before: Option<&[Routes]>,
    watch: &Watch<'_>,
) -> Result<(TestReport, Vec<Finding>), LabError> {
    let FlowResults { report, routes, observations: seen } =
        walk(tree, model, routed, FLOWS_OF_SEARCH, watch)?;
    let before = before.unwrap_or(&routes);
    let findings = cables::findings(model, &seats(tree, model), (before, &routes), &seen);
    Ok((report, findings))
}

/// Results of flows.
struct FlowResults {
    report: TestReport,
    routes: Vec<Routes>,
    observations: Vec<FlowObservations>,
}

fn walk(
    tree: &Tree,
    model: &Model,
    backend: &mut dyn RoutedBackend,
    target_flow_count: u64,
    watch: &Watch<'_>,
) -> Result<FlowResults, LabError> {
    let seats = seats(tree, model);
    let all: Vec<(NodeNic, NodeNic)> = seats
        .iter()
        .flat_map(|from| seats.iter().filter(|to| to.address != from.address).map(|to| (*from, *to)))
        .filter(|(from, to)| from.node != to.node)
        .collect();
    let parts = Components::of(&seats, model);
    let pairs: Vec<(NodeNic, NodeNic)> =
        all.iter().copied().filter(|(from, to)| parts.join(from, to)).collect();
    let each =
        (target_flow_count / pairs.len().max(1) as u64).clamp(*FLOWS_OF_PAIR.start(), *FLOWS_OF_PAIR.end());
    let flows: Vec<Flow> = pairs
        .iter()
        .flat_map(|(from, to)| {
            (0..each as u16).map(|number| Flow {
                from: from.node,
                source: from.address,
                source_port: FIRST_PORT + number,
                to: to.node,
                destination: to.address,
            })
        })
        .collect();
    let (routes, seen) = send_until_stable(backend, &flows, watch)?;
    let mut judge = Judge {
        tree,
        model,
        routes: &routes,
        tallies: BTreeMap::new(),
        report: TestReport {
            pairs: pairs.len() as u64,
            apart: (all.len() - pairs.len()) as u64,
            ..TestReport::default()
        },
    };
    for (flow, seen) in flows.iter().zip(&seen) {
        judge.take(flow, seen);
    }
    Ok(FlowResults { report: judge.finish(), routes, observations: seen })
}

/// Sends flows until the routes before and after them are equal. Observations during a change of routes match neither
/// the old nor the new routes.
fn send_until_stable(
    backend: &mut dyn RoutedBackend,
    flows: &[Flow],
    watch: &Watch<'_>,
) -> Result<(Vec<Routes>, Vec<FlowObservations>), LabError> {
    let mut before = backend.routes()?;
    for _ in 0..TRIES {
        let seen = backend.flows(flows, watch)?;
        let after = backend.routes()?;
        if before == after {
            return Ok((before, seen));
        }
        before = after;
    }
    Err(LabError::Changing { tries: TRIES })
}

/// Result of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Delivered to its node.
    There,
    /// Not forwarded by a device.
    Kept(DeviceId),
    /// Sent by a port that is not in the route.
    Unnamed(PortId),
    /// Lost in a cable.
    Between(PortId),
    /// In a loop.
    Ring(DeviceId),
}

impl End {
    fn describe(self, model: &Model) -> String {
        let device = |at: DeviceId| &model.devices[at.0].name;
        match self {
            End::There => "it arrived at its node".to_owned(),
            End::Kept(at) => format!("{} did not forward it", device(at)),
            End::Unnamed(port) => format!("it left through {}, which no route uses", model.port_name(port)),
            End::Between(port) => {
                format!(
                    "it left through {} and did not arrive at {}",
                    model.port_name(port),
                    model.port_name(port.peer())
                )
            }
            End::Ring(at) => format!("it looped through {}", device(at)),
        }
    }
}

/// Number of flows by egress port of a route.
type Tallies = BTreeMap<(DeviceId, usize), BTreeMap<String, u64>>;

struct Judge<'a> {
    tree: &'a Tree,
    model: &'a Model,
    routes: &'a [Routes],
    tallies: Tallies,
    report: TestReport,
}

impl Judge<'_> {
    fn take(&mut self, flow: &Flow, seen: &FlowObservations) {
        self.report.packets += 1;
        self.report.resent += u64::from(seen.retransmissions > 0);
        let end = self.follow(flow, seen);
        let (counter, what) = match seen.accepted.as_slice() {
            [node] if *node == flow.to => match end {
                End::There => {
                    self.report.delivered += 1;
                    return;
                }
                other => (&mut self.report.strayed, other.describe(self.model)),
            },
            [] if seen.unsent => (&mut self.report.lost, "its node has no route for it".to_owned()),
            [] => (&mut self.report.lost, format!("lost: {}", end.describe(self.model))),
            [node] => {
                let name = &self.model.devices[node.0].name;
                (&mut self.report.misdelivered, format!("accepted by {name}"))
            }
            more => (&mut self.report.damaged, format!("accepted {} times", more.len())),
        };
        *counter += 1;
        self.report.name_flow(FlowName {
            from: flow.source.ip(),
            to: flow.destination.ip(),
            source_port: flow.source_port,
            what,
        });
    }

    /// Follows a flow from port to port, and counts which next hops devices chose.
    fn follow(&mut self, flow: &Flow, seen: &FlowObservations) -> End {
        let mut at = flow.from;
        let mut chosen = BTreeSet::new();
        for _ in 0..=seen.egress_ports.len() {
            if at == flow.to {
                return End::There;
            }
            let left = seen.egress_ports.iter().find(|port| self.model.end(**port).0 == at);
            let Some(left) = left.copied() else { return End::Kept(at) };
            let (_, port) = self.model.end(left);
            let route = self.routes[at.0].of(flow.source, flow.destination);
            let named = route.filter(|(_, route)| route.hops.iter().any(|(hop, _)| hop == port));
            let Some((number, route)) = named else { return End::Unnamed(left) };
            if route.hops.len() > 1 {
                // All kernels use the same hash, and so do all switch programs, with different seeds. After the first
                // device of a kind, flows are therefore not a random sample.
                let name = &self.model.devices[at.0].name;
                if chosen.insert(self.tree.devices.get(name).and_then(|device| device.program)) {
                    let tally = self.tallies.entry((at, number)).or_default();
                    *tally.entry(port.to_owned()).or_default() += 1;
                }
            }
            if !seen.ingress_ports.contains(&left.peer()) {
                return End::Between(left);
            }
            at = self.model.end(left.peer()).0;
        }
        End::Ring(at)
    }

    fn finish(mut self) -> TestReport {
        let mut spread = Spread::default();
        for ((device, number), tally) in &self.tallies {
            let route = self.routes[device.0].get(*number);
            let all: u32 = route.hops.iter().map(|(_, weight)| weight).sum();
            let of: u64 = tally.values().sum();
            spread.groups += 1;
            for (port, weight) in &route.hops {
                let packets = tally.get(port).copied().unwrap_or(0);
                let share = f64::from(*weight) / f64::from(all.max(1));
                let expected = share * of as f64;
                spread.ports += 1;
                if (packets as f64 - expected).abs() > bound(of, share) {
                    spread.mismatches.push(ShareMismatch {
                        device: self.model.devices[device.0].name.clone(),
                        destination: route.to.to_string(),
                        port: port.clone(),
                        weight: *weight,
                        weights: all,
                        flows: packets,
                        expected: expected.round() as u64,
                        of,
                    });
                }
            }
        }
        self.report.spread = Some(spread);
        self.report
    }
}

/// Returns the maximum deviation of a number of flows from its mean that chance explains (Bernstein's inequality).
fn bound(flows: u64, share: f64) -> f64 {
    let variance = flows as f64 * share * (1.0 - share);
    let third = LN_CHANCE / 3.0;
    third + (third * third + 2.0 * LN_CHANCE * variance).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_has_room_and_wrong_weights_have_none() {
        // 16,384 flows over two ports: 8,192 each. With weights 1 and 3, one would have 4,096.
        let allowed = bound(16_384, 0.5);
        assert!(allowed > 5.0 * 64.0 && allowed < 1_000.0, "{allowed}");
        assert!(bound(0, 0.5) > 0.0);
    }
}
