//! Compares neighbour reports of devices with the plan.
//!
//! In: a plan, the names of the devices that report, and their sightings one device at a time. Out: a [`Report`]. Wrong
//! connections are stored as edges between ends, and correct ones are only counted. Invariants: a port is correct if
//! one of its neighbours matches the plan, regardless of others. A neighbour without a name is ignored.

mod rings;
mod spot;

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::{End, PortUse};
use closc_plan::Plan;
use closc_topology::Link;

use crate::cause::{Tally, causes};
use crate::front::Fronts;
use crate::locate::{self, Device, NeighbourIdentity, PlannedPort, cable_of, is_lower, locate};
use crate::report::{DevicePort, Finding, PlannedCable, Report};
use crate::sighting::Sighting;
use spot::Spot;

/// Compares devices with the plan, one after the other.
#[derive(Debug)]
pub struct Judge<'a> {
    plan: &'a Plan,
    /// Connections that are not planned.
    edges: BTreeSet<(End, End)>,
    /// Ends whose neighbour is a device of the fabric that does not name its port, with that device.
    vague: Vec<(End, Device)>,
    /// Cables with ends that have no neighbour, with these ends and whether their port is down.
    missing: BTreeMap<Link, Vec<(End, bool)>>,
    /// Cables with an end that reports the planned port.
    right: BTreeSet<Link>,
    /// Cables with an end that reports the planned device, but not its port.
    port_mismatches: BTreeSet<Link>,
    /// Cables with a finding.
    faulty: BTreeSet<Link>,
    /// Connections with at least one end at a port that is not in the plan.
    spots: BTreeSet<(Spot, Spot)>,
    fronts: Fronts,
    tally: Tally,
    report: Report,
}

impl<'a> Judge<'a> {
    /// Begins a comparison.
    pub fn new(plan: &'a Plan) -> Self {
        Judge {
            plan,
            edges: BTreeSet::new(),
            vague: Vec::new(),
            missing: BTreeMap::new(),
            right: BTreeSet::new(),
            port_mismatches: BTreeSet::new(),
            faulty: BTreeSet::new(),
            spots: BTreeSet::new(),
            fronts: Fronts::default(),
            tally: Tally::default(),
            report: Report::default(),
        }
    }

    /// Returns the first port in the report of a switch, if none of the reported ports is in the plan or on the panel.
    /// Returns `None` for nodes, because they have other ports besides those of the fabric.
    pub fn foreign_port<'s>(&mut self, device: Device, sightings: &'s [Sighting]) -> Option<&'s str> {
        let Device::Switch(switch) = device else { return None };
        let by_name = device.by_name(self.plan);
        let is_known = |sighting: &Sighting| {
            let port = sighting.port.as_str();
            by_name.contains_key(port) || self.fronts.find(self.plan, switch, port).is_some()
        };
        let first = sightings.first()?;
        (!sightings.iter().any(is_known)).then_some(first.port.as_str())
    }

    /// Compares a device.
    pub fn device(&mut self, device: Device, sightings: &[Sighting]) {
        let by_name = device.by_name(self.plan);
        let mut seen: BTreeMap<End, Vec<&Sighting>> = BTreeMap::new();
        for sighting in sightings {
            match by_name.get(&sighting.port) {
                Some(planned) => seen.entry(planned.end).or_default().push(sighting),
                None => self.judge_unused_port(device, sighting),
            }
        }
        for (planned, _) in device.ports(self.plan) {
            let sightings = seen.get(&planned.end).map_or(&[][..], Vec::as_slice);
            self.port(planned, sightings);
        }
        self.report.devices += 1;
    }

    fn port(&mut self, planned: PlannedPort, sightings: &[&Sighting]) {
        let expected = match planned.used {
            PortUse::Link { peer: far, .. } => Some(far),
            PortUse::Absent { .. } | PortUse::Spare => None,
        };
        // Neighbours of a port that went down remain in its tables for a while.
        let is_down = sightings.iter().any(|sighting| sighting.is_down);
        let neighbours = sightings.iter().filter(|_| !is_down).flat_map(|sighting| &sighting.neighbours);
        let (plan, fronts) = (self.plan, &mut self.fronts);
        let fars: Vec<NeighbourIdentity> =
            neighbours.map(|neighbour| locate(plan, fronts, neighbour, expected)).collect();
        self.speed(planned.end, sightings);
        match planned.used {
            PortUse::Link { link, peer: far } => self.cable(planned.end, link, far, fars, is_down),
            PortUse::Absent { .. } => self.judge_unplanned_port(planned.end, "declared absent", fars),
            PortUse::Spare => self.judge_unplanned_port(planned.end, "spare", fars),
        }
    }

    /// Evaluates the neighbours at one end of a planned cable.
    fn cable(&mut self, at: End, link: Link, expected: End, fars: Vec<NeighbourIdentity>, is_down: bool) {
        let device = Device::of(self.plan, expected);
        self.tally.add(Device::of(self.plan, at), !is_lower(at), device);
        if fars.contains(&NeighbourIdentity::Port(expected))
            || fars.contains(&NeighbourIdentity::Device(device))
        {
            let by_port = fars.contains(&NeighbourIdentity::Port(expected));
            if by_port { &mut self.right } else { &mut self.port_mismatches }.insert(link);
            return;
        }
        let Some(worst) = worst(fars) else {
            self.missing.entry(link).or_default().push((at, is_down));
            return;
        };
        match worst {
            NeighbourIdentity::Port(end) => {
                self.edges.insert((at.min(end), at.max(end)));
            }
            NeighbourIdentity::Front(switch, port) => {
                self.record_spot(Spot::End(at), Spot::Front(switch, port));
            }
            NeighbourIdentity::Device(device) => self.vague.push((at, device)),
            NeighbourIdentity::Nameless(_) => self.report.nameless += 1,
            NeighbourIdentity::Foreign(seen) => {
                self.faulty.insert(link);
                let (at, cable) = (self.port_at(at), Some(self.cable_at(link)));
                self.report.findings.push(Finding::Unknown { at, cable, seen });
            }
        }
    }

    /// Evaluates the neighbours of a port without a planned cable.
    fn judge_unplanned_port(&mut self, at: End, because: &'static str, fars: Vec<NeighbourIdentity>) {
        let Some(worst) = worst(fars) else { return };
        let seen = match worst {
            NeighbourIdentity::Port(end) => {
                self.edges.insert((at.min(end), at.max(end)));
                return;
            }
            NeighbourIdentity::Front(switch, port) => {
                return self.record_spot(Spot::End(at), Spot::Front(switch, port));
            }
            NeighbourIdentity::Device(device) => {
                let name = device.name(self.plan);
                format!("{name}, port not reported")
            }
            NeighbourIdentity::Nameless(seen) | NeighbourIdentity::Foreign(seen) => seen,
        };
        self.report.findings.push(Finding::Unplanned { at: self.port_at(at), because, seen });
    }

    /// Compares the reported speed of a port with the plan.
    fn speed(&mut self, at: End, sightings: &[&Sighting]) {
        let End::Switch { switch, port } = at else { return };
        let topology = self.plan.topology();
        let planned = topology.slot(switch, port).breakout.speed;
        let other = sightings.iter().filter_map(|sighting| sighting.speed).find(|speed| *speed != planned);
        if let Some(seen) = other {
            self.report.findings.push(Finding::Speed { at: self.port_at(at), planned, seen });
        }
    }

    /// Completes the comparison.
    pub fn finish(mut self) -> Report {
        self.guess_ports();
        let rings = rings::rings(&self.edges, |end| cable_of(self.plan, end));
        for ring in rings {
            if ring.is_closed {
                self.report_exchange(&ring);
            } else {
                self.wrong(&ring);
            }
        }
        self.vague_ones();
        self.spots();
        let edges = self.edges.iter().flat_map(|(a, b)| [*a, *b]);
        let ends = edges.chain(self.spots.iter().flat_map(|(a, b)| [a.end(), b.end()]).flatten());
        let touched: BTreeSet<Link> = ends.filter_map(|end| cable_of(self.plan, end)).collect();
        for (link, ends) in std::mem::take(&mut self.missing) {
            // An end with another neighbour is already in another finding.
            if touched.contains(&link) {
                continue;
            }
            let (is_down, cable) = (ends.iter().any(|(_, is_down)| *is_down), self.cable_at(link));
            let silent = ends.iter().map(|(end, _)| self.port_at(*end)).collect();
            let finding = if self.right.contains(&link) {
                Finding::OneWay { cable, silent }
            } else {
                Finding::Missing { cable, silent, is_down }
            };
            self.report.findings.push(finding);
            self.faulty.insert(link);
        }
        let is_fine = |link: &&Link| !touched.contains(*link) && !self.faulty.contains(*link);
        let near = self.port_mismatches.difference(&self.right).filter(is_fine).count() as u64;
        self.report.cables = self.right.iter().filter(is_fine).count() as u64 + near;
        self.report.by_device_only = near;
        self.report.sort();
        self.report.causes = causes(self.plan, &self.tally, &self.report.findings);
        self.report
    }

    /// Assumes a port for a neighbour that does not name its own, if only one port of that device is still
    /// unexplained.
    fn guess_ports(&mut self) {
        let mut left = Vec::new();
        for (at, device) in std::mem::take(&mut self.vague) {
            let known = self.edges.iter().any(|(a, b)| *a == at || *b == at);
            if known {
                continue;
            }
            let ports = device.ports(self.plan);
            let questioned: Vec<End> = ports
                .iter()
                .map(|(planned, _)| *planned)
                .filter(|planned| match planned.used {
                    PortUse::Link { link, .. } => {
                        is_lower(planned.end) != is_lower(at)
                            && !self.right.contains(&link)
                            && (self.missing.contains_key(&link) || self.is_edge(planned.end))
                    }
                    PortUse::Absent { .. } | PortUse::Spare => false,
                })
                .map(|planned| planned.end)
                .collect();
            match questioned[..] {
                [only] => {
                    self.edges.insert((at.min(only), at.max(only)));
                }
                _ => left.push((at, device)),
            }
        }
        self.vague = left;
    }

    fn is_edge(&self, end: End) -> bool {
        self.edges.iter().any(|(a, b)| *a == end || *b == end)
    }

    /// Adds the finding for a closed group, whose cables have exchanged ends.
    fn report_exchange(&mut self, ring: &rings::Ring) {
        let cables = ring.cables.iter().map(|link| self.cable_at(*link)).collect();
        let seen = ring.edges.iter().map(|(a, b)| (self.port_at(*a), self.port_at(*b))).collect();
        let across_planes = ring.edges.iter().any(|edge| is_across(*edge));
        self.report.findings.push(Finding::Exchanged { cables, seen, across_planes });
    }

    /// Adds a finding for each connection of a group that is not closed.
    fn wrong(&mut self, ring: &rings::Ring) {
        for (a, b) in &ring.edges {
            // A set, because both ends may belong to the same cable or be the same port.
            let instead: BTreeSet<Link> =
                [*a, *b].into_iter().filter_map(|end| cable_of(self.plan, end)).collect();
            let instead = instead.into_iter().map(|link| self.cable_at(link)).collect();
            let finding = Finding::Wrong {
                seen: (self.port_at(*a), self.port_at(*b)),
                instead_of: instead,
                across_planes: is_across((*a, *b)),
            };
            self.report.findings.push(finding);
        }
    }

    fn vague_ones(&mut self) {
        for (at, device) in std::mem::take(&mut self.vague) {
            let link = cable_of(self.plan, at);
            self.faulty.extend(link);
            let cable = link.map(|link| self.cable_at(link));
            let seen = format!("{}, port not reported", device.name(self.plan));
            self.report.findings.push(Finding::Unknown { at: self.port_at(at), cable, seen });
        }
    }

    fn port_at(&self, end: End) -> DevicePort {
        let device = Device::of(self.plan, end).name(self.plan);
        DevicePort { device, port: locate::port_name(self.plan, end) }
    }

    fn cable_at(&self, link: Link) -> PlannedCable {
        let ends = self.plan.cable_ends(link);
        let at = |(device, port): (smol_str::SmolStr, smol_str::SmolStr)| DevicePort {
            device: device.to_string(),
            port: port.to_string(),
        };
        PlannedCable { name: self.plan.link_name(link), lower: at(ends.lower), upper: at(ends.upper) }
    }
}

/// Returns the neighbour that is known most precisely, if possible with its port.
fn worst(mut fars: Vec<NeighbourIdentity>) -> Option<NeighbourIdentity> {
    fars.sort_by_key(|far| match far {
        NeighbourIdentity::Port(_) => 0,
        NeighbourIdentity::Front(..) => 1,
        NeighbourIdentity::Device(_) => 2,
        NeighbourIdentity::Foreign(_) => 3,
        NeighbourIdentity::Nameless(_) => 4,
    });
    fars.into_iter().next()
}

fn is_across((a, b): (End, End)) -> bool {
    locate::plane(a) != locate::plane(b)
}
