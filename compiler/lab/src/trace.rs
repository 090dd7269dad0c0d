//! Finds faulty cables from the losses of a test and from counters.
//!
//! In: the outcomes of a test. Out: [`Finding`]s. Invariants: records of injected faults are not used. The cause is
//! derived from the data plane, as on a real fabric.
//!
//! First, suspects are collected. A direction of a cable is suspect if every path over it failed, or if the sender's
//! counter is right and the receiver's is wrong. Directions are distinguished because a swap may affect only one: a
//! T1 accepts a list with its own segment on any port. Then a few packets are sent over each suspect, and the
//! counters of all ports show where they arrive. A cable whose packets arrive at another port is plugged in there. If
//! they do not arrive anywhere, the cable is cut. Port counters include the traffic of agents, so the backend counts
//! only these packets if possible.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::LabError;
use crate::backend::{Backend, PortCounter};
use crate::model::{CableId, Model, PortId};
use crate::packet::Tag;
use crate::progress::Watch;
use crate::sample::Extent;
use crate::test::{self, Outcomes, TestReport};
use crate::traffic::PathRef;
use crate::tree::Tree;

/// Number of packets sent over each suspect.
const PULSE: u32 = 3;

/// Maximum number of paths tried if packets do not reach the suspect.
const WAYS: usize = 16;

/// A finding about a cable or device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Finding {
    /// Two cables have exchanged one end.
    Swapped {
        /// One cable.
        first: String,
        /// The other.
        second: String,
        /// Evidence.
        evidence: Vec<String>,
    },
    /// A cable ends at another port, and that port's own cable was not found elsewhere.
    Misplugged {
        /// The cable.
        cable: String,
        /// The port at which it ends.
        found_at: String,
        /// Evidence.
        evidence: Vec<String>,
    },
    /// Packets that enter a cable do not arrive anywhere.
    Cut {
        /// The cable.
        cable: String,
        /// Evidence.
        evidence: Vec<String>,
    },
    /// A device receives packets but does not forward them.
    Silent {
        /// The device.
        device: String,
        /// Evidence.
        evidence: Vec<String>,
    },
    /// Routes at both ends used a cable, but do not use it any more.
    Unused {
        /// The cable.
        cable: String,
        /// Evidence.
        evidence: Vec<String>,
    },
}

impl Finding {
    /// Returns the cables of the finding.
    pub(crate) fn cables(&self) -> Vec<&str> {
        match self {
            Finding::Swapped { first, second, .. } => vec![first, second],
            Finding::Misplugged { cable, .. }
            | Finding::Cut { cable, .. }
            | Finding::Unused { cable, .. } => {
                vec![cable]
            }
            Finding::Silent { .. } => Vec::new(),
        }
    }
}

/// Runs the test, and searches for the cause of losses.
pub fn run(
    tree: &Tree,
    model: &Model,
    backend: &mut dyn Backend,
    watch: &Watch<'_>,
) -> Result<(TestReport, Vec<Finding>), LabError> {
    let (report, outcomes) = test::run_with_outcomes(tree, model, backend, Extent::Everything, watch, true)?;
    let findings = diagnose(model, backend, &outcomes, watch)?;
    Ok((report, findings))
}

fn diagnose(
    model: &Model,
    backend: &mut dyn Backend,
    outcomes: &Outcomes<'_>,
    watch: &Watch<'_>,
) -> Result<Vec<Finding>, LabError> {
    let suspects = suspects(outcomes);
    let paths: Vec<&PathRef<'_>> = outcomes.failed.iter().chain(&outcomes.delivered_paths).collect();
    let mut found = CableDestinations::default();
    for (at, port) in suspects.iter().enumerate() {
        watch.step("trace suspects", at as u64, suspects.len() as u64);
        for (path, step) in over(&paths, *port, &suspects) {
            watch.check()?;
            let mate = pulse(model, backend, path, step)?;
            found.take(*port, mate);
            if mate != CableDestination::Unreached {
                break;
            }
        }
    }
    watch.step("trace suspects", suspects.len() as u64, suspects.len() as u64);
    Ok(found.findings(model))
}

/// Returns the directions on which every path failed, and those whose counters differ between the ends.
fn suspects(outcomes: &Outcomes<'_>) -> BTreeSet<PortId> {
    let good: BTreeSet<PortId> = outcomes.delivered_paths.iter().flat_map(PathRef::crossings).collect();
    let bad = outcomes.failed.iter().flat_map(PathRef::crossings).filter(|port| !good.contains(port));
    bad.chain(outcomes.leaking_ports.iter().copied()).collect()
}

/// Returns paths with `port` as egress port, one per distinct path up to it. Those with the fewest other suspects come
/// first, then those with the fewest hops.
fn over<'a, 'p>(
    paths: &[&'a PathRef<'p>],
    port: PortId,
    suspects: &BTreeSet<PortId>,
) -> Vec<(&'a PathRef<'p>, usize)> {
    let mut ways: BTreeMap<(usize, &[PortId]), &'a PathRef<'p>> = BTreeMap::new();
    for path in paths {
        let Ok(route) = &path.route else { continue };
        let Some(step) = route.crossings.iter().position(|crossing| *crossing == port) else { continue };
        let before = &route.crossings[..step];
        let doubtful = before.iter().filter(|crossing| suspects.contains(crossing)).count();
        ways.entry((doubtful, before)).or_insert(path);
    }
    let mut ways: Vec<_> =
        ways.into_iter().map(|((doubtful, before), path)| (doubtful, before.len(), path)).collect();
    ways.sort_by_key(|(doubtful, step, _)| (*doubtful, *step));
    ways.into_iter().map(|(_, step, path)| (path, step)).take(WAYS).collect()
}

/// Destination of a suspect cable from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CableDestination {
    /// To the far end of its own cable.
    Right {
        /// Whether the device at that end forwarded the packets.
        forwarded: bool,
    },
    /// To another port.
    Other(PortId),
    /// Nowhere: packets entered and did not arrive.
    Nowhere,
    /// Packets did not reach this end.
    Unreached,
}

/// Sends a few packets along a path, and finds the port at which they arrive after one step.
fn pulse(
    model: &Model,
    backend: &mut dyn Backend,
    path: &PathRef<'_>,
    step: usize,
) -> Result<CableDestination, LabError> {
    let Ok(route) = &path.route else { return Ok(CableDestination::Unreached) };
    // Kernels answer packets that they cannot forward, so send packets that are never answered. P4 switches do not
    // send errors, but drop packets from the unspecified address.
    let silent = backend.answers_losses();
    let packet = |tag: Tag| if silent { path.silent_packet(tag) } else { path.packet(tag) };
    let packets: Vec<_> = (0..PULSE).map(|number| packet(Tag { batch: u32::MAX, number })).collect();
    let counted = backend.follow(&packets)?;
    let received = |port: PortId| counted.get(&port).map_or(0, |c: &PortCounter| c.received);
    let sent = |port: PortId| counted.get(&port).map_or(0, |c: &PortCounter| c.sent);
    let wanted = u64::from(PULSE);
    let port = route.crossings[step];
    let astray = route.crossings[..step].iter().any(|before| received(before.peer()) < wanted);
    if astray || sent(port) < wanted {
        return Ok(CableDestination::Unreached);
    }
    if received(port.peer()) >= wanted {
        let forwarded = route.crossings.get(step + 1).is_none_or(|next| sent(*next) >= wanted);
        return Ok(CableDestination::Right { forwarded });
    }
    let on_path: BTreeSet<PortId> = route.crossings.iter().map(|crossing| crossing.peer()).collect();
    let came: Vec<PortId> =
        model.all_ports().filter(|p| *p != port && !on_path.contains(p) && received(*p) >= wanted).collect();
    // At the first port that the packets reach, the configured neighbour did not send them. At later ports,
    // it did.
    let unsent = |p: &&PortId| received(**p) >= sent(p.peer()) + wanted;
    let elsewhere = came.iter().find(unsent).or(came.first()).copied();
    // For a swap on the path itself, the packets skip a step and arrive at a later port of the path.
    let later = route.crossings[step + 1..].iter().map(|crossing| crossing.peer());
    let skipped = later.into_iter().find(|p| received(*p) >= wanted);
    Ok(elsewhere.or(skipped).map_or(CableDestination::Nowhere, CableDestination::Other))
}

/// The destinations of suspect cables.
#[derive(Debug, Default)]
pub(crate) struct CableDestinations {
    ends: BTreeMap<PortId, CableDestination>,
}

impl CableDestinations {
    /// Records the destination of a cable from a port.
    pub(crate) fn take(&mut self, port: PortId, mate: CableDestination) {
        self.ends.insert(port, mate);
    }

    /// Derives findings from the recorded destinations.
    pub(crate) fn findings(&self, model: &Model) -> Vec<Finding> {
        let cables: BTreeSet<CableId> = self.ends.keys().map(|port| port.cable()).collect();
        let mut findings = Vec::new();
        let mut silent: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for cable in &cables {
            let mates = [cable.lower(), cable.upper()].map(|port| (port, self.ends.get(&port).copied()));
            let evidence = mates.iter().filter_map(|(port, mate)| describe(model, *port, (*mate)?)).collect();
            let other = mates.iter().find_map(|(_, mate)| match mate {
                Some(CableDestination::Other(port)) => Some(*port),
                Some(
                    CableDestination::Right { .. } | CableDestination::Nowhere | CableDestination::Unreached,
                )
                | None => None,
            });
            let nowhere = mates.iter().any(|(_, mate)| *mate == Some(CableDestination::Nowhere));
            let kept =
                mates.iter().find(|(_, mate)| *mate == Some(CableDestination::Right { forwarded: false }));
            match (other, kept) {
                (Some(port), _) => findings.extend(self.misplug_finding(model, *cable, port, evidence)),
                (None, _) if nowhere => {
                    findings.push(Finding::Cut { cable: model.cable_name(*cable).to_owned(), evidence });
                }
                (None, Some((port, _))) => {
                    silent.entry(model.end(port.peer()).0.0).or_default().extend(evidence);
                }
                (None, None) => {}
            }
        }
        findings.extend(silent.into_iter().map(|(device, evidence)| Finding::Silent {
            device: model.devices[device].name.clone(),
            evidence,
        }));
        findings.sort();
        findings.dedup();
        findings
    }

    /// Returns the finding for a cable that arrives at another cable's port. The two cables are swapped if
    /// the other cable also arrives at a port of the first one.
    fn misplug_finding(
        &self,
        model: &Model,
        cable: CableId,
        port: PortId,
        mut evidence: Vec<String>,
    ) -> Option<Finding> {
        let other = port.cable();
        let back = [other.lower(), other.upper()]
            .into_iter()
            .any(|end| matches!(self.ends.get(&end), Some(CableDestination::Other(found)) if found.cable() == cable));
        if !back {
            return Some(Finding::Misplugged {
                cable: model.cable_name(cable).to_owned(),
                found_at: model.port_name(port),
                evidence,
            });
        }
        for end in [other.lower(), other.upper()] {
            evidence.extend(self.ends.get(&end).and_then(|mate| describe(model, end, *mate)));
        }
        evidence.sort();
        // Each pair is found twice. It is reported only for its first cable.
        (cable < other).then(|| Finding::Swapped {
            first: model.cable_name(cable).to_owned(),
            second: model.cable_name(other).to_owned(),
            evidence,
        })
    }
}

fn describe(model: &Model, port: PortId, mate: CableDestination) -> Option<String> {
    let (from, to) = (model.port_name(port), model.port_name(port.peer()));
    match mate {
        CableDestination::Right { forwarded: true } => {
            Some(format!("packets from {from} arrive at {to}, as expected"))
        }
        CableDestination::Right { forwarded: false } => {
            Some(format!("packets from {from} arrive at {to}, as expected, but are not forwarded"))
        }
        CableDestination::Other(found) => {
            Some(format!("packets from {from} arrive at {}, not at {to}", model.port_name(found)))
        }
        CableDestination::Nowhere => Some(format!("packets from {from} arrive nowhere; expected at {to}")),
        CableDestination::Unreached => None,
    }
}
