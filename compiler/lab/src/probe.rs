//! Self-probes: packets that a NIC sends to itself over its T0, over a T1, or over a T2.
//!
//! In: a backend. Out: [`ProbeReport`], with the suspected cables and switches. Invariants: only the templates of the
//! path tables are used, as a prober on a node would. If the T0 probe returns and the T1 probe is lost, the cable
//! between T0 and T1 is suspected. If all cables of a T1 are suspected, the T1 itself is suspected. The same applies
//! between T1 and T2.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use schemars::JsonSchema;
use serde::Serialize;

use crate::LabError;
use crate::backend::{Arrival, Backend, Sink};
use crate::model::{CableId, DeviceId, Model, PortId};
use crate::packet::{self, InnerPacket, Packet, Tag};
use crate::progress::Watch;
use crate::traffic;
use crate::tree::{DeviceKind, Tree};
use crate::walk::PacketPath;

/// Results of self-probes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProbeReport {
    /// Probes to the T0 and back: sent and returned.
    pub t0: Count,
    /// Probes to a T1 and back.
    pub t1: Count,
    /// Probes to a T2 and back; none without a T2 tier.
    pub t2: Count,
    /// Suspected elements.
    pub accused: Vec<SuspectElement>,
}

/// Numbers of sent and returned probes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Count {
    /// Sent.
    pub sent: u64,
    /// Returned to the port that they were sent from.
    pub returned: u64,
}

/// An element suspected because of losses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SuspectElement {
    /// One cable.
    Cable {
        /// The cable.
        cable: String,
        /// Evidence.
        evidence: String,
    },
    /// A switch: all probes over it are lost.
    Switch {
        /// The switch.
        switch: String,
        /// Evidence.
        evidence: String,
    },
    /// A cable, or the switch at its far end. The switch is connected to only one NIC, so probes cannot distinguish
    /// them.
    CableOrSwitch {
        /// The cable.
        cable: String,
        /// The switch.
        switch: String,
        /// Evidence.
        evidence: String,
    },
}

impl ProbeReport {
    /// Returns whether every probe returned.
    pub fn is_fine(&self) -> bool {
        [self.t0, self.t1, self.t2].iter().all(|count| count.sent == count.returned)
    }

    /// Returns whether a cable is suspected, alone or with the switch at its far end.
    pub fn accuses(&self, name: &str) -> bool {
        self.accused.iter().any(|accused| match accused {
            SuspectElement::Cable { cable, .. } | SuspectElement::CableOrSwitch { cable, .. } => {
                cable == name
            }
            SuspectElement::Switch { .. } => false,
        })
    }
}

#[derive(Debug)]
struct Probe {
    port: PortId,
    address: Ipv6Addr,
    destination: Ipv6Addr,
    udp_port: u16,
    route: PacketPath,
    returned: bool,
}

impl Probe {
    /// Returns the tier at which the probe turns back. It crosses as many cables upwards as downwards.
    fn tier(&self) -> usize {
        (self.route.crossings.len() / 2).saturating_sub(1)
    }

    /// Returns the last cable on the way up.
    fn tested_cable(&self) -> CableId {
        self.route.crossings[self.tier()].cable()
    }
}

impl PacketPath {
    /// Returns the egress ports on the way up to a tier.
    fn up(&self, tier: usize) -> &[PortId] {
        &self.crossings[..=tier]
    }
}

/// Sends probes from every NIC port over its T0, every T1 above it and every T2 above those.
pub fn run(
    tree: &Tree,
    model: &Model,
    backend: &mut dyn Backend,
    watch: &Watch<'_>,
) -> Result<ProbeReport, LabError> {
    watch.check()?;
    let mut probes = probes(tree, model);
    let tag = |number: usize| Tag { batch: u32::MAX - 1, number: number as u32 };
    let packets: Vec<Packet> = probes.iter().enumerate().map(|(at, probe)| probe.packet(tag(at))).collect();
    watch.step("probe", 0, packets.len() as u64);
    backend.exchange(&packets, &mut ProbeSink { probes: &mut probes })?;
    watch.step("probe", packets.len() as u64, packets.len() as u64);
    Ok(judge(model, &probes))
}

impl Probe {
    fn packet(&self, tag: Tag) -> Packet {
        let inner = InnerPacket {
            source: self.address,
            destination: self.address,
            entropy: tag.number,
            port: self.udp_port,
            tag,
        };
        Packet { from: self.port, source: self.address, destination: self.destination, inner: inner.bytes() }
    }
}

/// Returns every probe whose cables all exist.
fn probes(tree: &Tree, model: &Model) -> Vec<Probe> {
    let mut out = Vec::new();
    for (group, nic) in traffic::nics(tree) {
        let table = group.table();
        for plane in 0..group.planes {
            let Some(port) = model.nic_port(nic, plane) else { continue };
            let h = *table.header();
            let t1 = (0..h.t0_uplinks).map(|up| table.t1_probe(plane, up, nic.downlink));
            let pairs = (0..h.t0_uplinks).flat_map(|up| (0..h.t1_uplinks).map(move |t1_up| (up, t1_up)));
            let t2 = pairs.filter_map(|(up, t1_up)| table.t2_probe(plane, up, t1_up, nic.downlink));
            for destination in std::iter::once(table.t0_probe(plane, nic.downlink)).chain(t1).chain(t2) {
                let destination = Ipv6Addr::from(destination);
                if let Ok(route) = model.walk(port, destination) {
                    out.push(Probe {
                        port,
                        address: nic.address,
                        destination,
                        udp_port: group.udp_port(),
                        route,
                        returned: false,
                    });
                }
            }
        }
    }
    out
}

struct ProbeSink<'a> {
    probes: &'a mut [Probe],
}

impl Sink for ProbeSink<'_> {
    fn report_arrival(&mut self, arrival: Arrival<'_>) {
        if let Arrival::Wire { port, inner, .. } = arrival
            && let Some(tag) = packet::tag(packet::payload(inner))
            && tag.batch == u32::MAX - 1
            && let Some(probe) = self.probes.get_mut(tag.number as usize)
        {
            probe.returned |= probe.port == port;
        }
    }

    fn unsent(&mut self, _: usize) {}

    fn is_complete(&self) -> bool {
        self.probes.iter().all(|probe| probe.returned)
    }
}

fn judge(model: &Model, probes: &[Probe]) -> ProbeReport {
    let mut report = ProbeReport::default();
    for probe in probes {
        let count = match probe.tier() {
            0 => &mut report.t0,
            1 => &mut report.t1,
            _ => &mut report.t2,
        };
        count.sent += 1;
        count.returned += u64::from(probe.returned);
    }
    report.accused = accuse_t0(model, probes);
    for tier in [1, 2] {
        report.accused.extend(accuse_above(model, probes, tier));
    }
    report.accused.sort();
    report
}

/// Evaluates T0 probes. If one is lost, the NIC's cable is suspected. If all are lost, the T0 is suspected.
fn accuse_t0(model: &Model, probes: &[Probe]) -> Vec<SuspectElement> {
    let mut by_switch: BTreeMap<DeviceId, Vec<&Probe>> = BTreeMap::new();
    for probe in probes.iter().filter(|probe| probe.tier() == 0) {
        by_switch.entry(model.end(probe.port.peer()).0).or_default().push(probe);
    }
    let mut accused = Vec::new();
    for (switch, probes) in by_switch {
        let lost: Vec<_> = probes.iter().filter(|probe| !probe.returned).collect();
        let name = model.devices[switch.0].name.clone();
        let evidence = format!("T0 probe lost by {} of {} NICs", lost.len(), probes.len());
        match (lost.as_slice(), probes.len()) {
            ([only], 1) => {
                let cable = model.cable_name(only.port.cable()).to_owned();
                accused.push(SuspectElement::CableOrSwitch { cable, switch: name, evidence });
            }
            (lost, all) if lost.len() == all => {
                accused.push(SuspectElement::Switch { switch: name, evidence });
            }
            (lost, _) => accused.extend(lost.iter().map(|probe| SuspectElement::Cable {
                cable: model.cable_name(probe.port.cable()).to_owned(),
                evidence: evidence.clone(),
            })),
        }
    }
    accused
}

/// Evaluates a probe to a T1 or T2 only if a probe over the same cables returned from the switch one tier below. If
/// such probes are lost, the cable above that switch is suspected. If all probes over all cables of the upper switch
/// are lost, the upper switch is suspected.
fn accuse_above(model: &Model, probes: &[Probe], tier: usize) -> Vec<SuspectElement> {
    let fine: BTreeSet<&[PortId]> =
        probes.iter().filter(|probe| probe.returned).map(|probe| probe.route.up(probe.tier())).collect();
    let mut cables: BTreeMap<CableId, (u64, u64)> = BTreeMap::new();
    for probe in probes.iter().filter(|probe| probe.tier() == tier) {
        if !fine.contains(probe.route.up(tier - 1)) {
            continue;
        }
        let (sent, returned) = cables.entry(probe.tested_cable()).or_default();
        *sent += 1;
        *returned += u64::from(probe.returned);
    }
    let mut by_switch: BTreeMap<DeviceId, Vec<(CableId, u64, u64)>> = BTreeMap::new();
    for (cable, (sent, returned)) in cables {
        let (upper, _) = model.end(cable.upper());
        by_switch.entry(upper).or_default().push((cable, sent, returned));
    }
    let (before, here) = (format!("T{}", tier - 1), format!("T{tier}"));
    let mut accused = Vec::new();
    for (switch, cables) in by_switch {
        let bad: Vec<_> = cables.iter().filter(|(_, sent, returned)| sent > returned).collect();
        let dead = bad.iter().all(|(_, _, returned)| *returned == 0);
        debug_assert!(model.devices[switch.0].kind == DeviceKind::Switch, "an uplink leads to a switch");
        if dead && bad.len() == cables.len() && cables.len() > 1 {
            let count = cables.len();
            let evidence =
                format!("{before} probes return, but {here} probes over all its {count} cables are lost");
            accused.push(SuspectElement::Switch { switch: model.devices[switch.0].name.clone(), evidence });
            continue;
        }
        accused.extend(bad.into_iter().map(|(cable, sent, returned)| SuspectElement::Cable {
            cable: model.cable_name(*cable).to_owned(),
            evidence: format!(
                "{before} probes return, but {} of {sent} {here} probes over it are lost",
                sent - returned
            ),
        }));
    }
    accused
}
