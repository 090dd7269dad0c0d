//! Self-probes: packets that a NIC sends to itself over its T0, or over its T0 and one T1.
//!
//! In: a backend. Out: [`ProbeReport`], with the cable or switch that the losses point at. Always: only the
//! templates of the path tables are used, as a prober on a node would. The rule is the published one: a good
//! T0 probe and a lost T1 probe accuse the cable between them, or the T1 if all its cables are accused.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use serde::Serialize;

use crate::LabError;
use crate::backend::{Arrival, Backend, Packet, Sink};
use crate::model::{CableId, DeviceId, Model, PortId};
use crate::packet::{self, Inner, Tag};
use crate::progress::Watch;
use crate::traffic;
use crate::tree::{DeviceKind, Tree};
use crate::walk::Journey;

/// What self-probes found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ProbeReport {
    /// Probes to the T0 and back: sent, and come back.
    pub t0: Count,
    /// Probes to a T1 and back.
    pub t1: Count,
    /// What the losses point at.
    pub accused: Vec<Accused>,
}

/// Probes sent and come back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Sent.
    pub sent: u64,
    /// Came back to the port they left by.
    pub returned: u64,
}

/// What losses point at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Accused {
    /// One cable.
    Cable {
        /// The cable.
        cable: String,
        /// What says so.
        evidence: String,
    },
    /// A switch: all probes over it are lost.
    Switch {
        /// The switch.
        switch: String,
        /// What says so.
        evidence: String,
    },
    /// A cable or the switch behind it: only one NIC hangs on that switch, so probes cannot tell them apart.
    CableOrSwitch {
        /// The cable.
        cable: String,
        /// The switch.
        switch: String,
        /// What says so.
        evidence: String,
    },
}

impl ProbeReport {
    /// Tells whether every probe came back.
    pub fn is_fine(&self) -> bool {
        self.t0.sent == self.t0.returned && self.t1.sent == self.t1.returned
    }
}

#[derive(Debug)]
struct Probe {
    port: PortId,
    address: Ipv6Addr,
    destination: Ipv6Addr,
    udp_port: u16,
    journey: Journey,
    returned: bool,
}

impl Probe {
    /// The cable between T0 and T1, where it goes that far.
    fn uplink(&self) -> Option<CableId> {
        (self.journey.crossings.len() > 2).then(|| self.journey.crossings[1].cable())
    }
}

/// Probes from every NIC port over its T0 and every T1 above.
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
    backend.exchange(&packets, &mut Returns { probes: &mut probes })?;
    watch.step("probe", packets.len() as u64, packets.len() as u64);
    Ok(judge(model, &probes))
}

impl Probe {
    fn packet(&self, tag: Tag) -> Packet {
        let inner = Inner {
            source: self.address,
            destination: self.address,
            entropy: tag.number,
            port: self.udp_port,
            tag,
        };
        Packet { from: self.port, source: self.address, destination: self.destination, inner: inner.bytes() }
    }
}

/// Every probe whose template leads over cables that are there.
fn probes(tree: &Tree, model: &Model) -> Vec<Probe> {
    let mut out = Vec::new();
    for (group, nic) in traffic::nics(tree) {
        let table = group.table();
        for plane in 0..group.planes {
            let Some(port) = model.nic_port(nic, plane) else { continue };
            let t1 = (0..table.header().t0_uplinks).map(|up| table.t1_probe(plane, up, nic.downlink));
            for destination in std::iter::once(table.t0_probe(plane, nic.downlink)).chain(t1) {
                let destination = Ipv6Addr::from(destination);
                if let Ok(journey) = model.walk(port, destination) {
                    out.push(Probe {
                        port,
                        address: nic.address,
                        destination,
                        udp_port: group.udp_port(),
                        journey,
                        returned: false,
                    });
                }
            }
        }
    }
    out
}

struct Returns<'a> {
    probes: &'a mut [Probe],
}

impl Sink for Returns<'_> {
    fn arrived(&mut self, arrival: Arrival<'_>) {
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
        let count = if probe.uplink().is_some() { &mut report.t1 } else { &mut report.t0 };
        count.sent += 1;
        count.returned += u64::from(probe.returned);
    }
    report.accused = accuse_t0(model, probes);
    report.accused.extend(accuse_t1(model, probes));
    report.accused.sort();
    report
}

/// T0 probes: one lost accuses the NIC's cable, all lost accuse the T0.
fn accuse_t0(model: &Model, probes: &[Probe]) -> Vec<Accused> {
    let mut by_switch: BTreeMap<DeviceId, Vec<&Probe>> = BTreeMap::new();
    for probe in probes.iter().filter(|probe| probe.uplink().is_none()) {
        by_switch.entry(model.end(probe.port.far()).0).or_default().push(probe);
    }
    let mut accused = Vec::new();
    for (switch, probes) in by_switch {
        let lost: Vec<_> = probes.iter().filter(|probe| !probe.returned).collect();
        let name = model.devices[switch.0].name.clone();
        let evidence = format!("T0 probe lost by {} of {} NICs", lost.len(), probes.len());
        match (lost.as_slice(), probes.len()) {
            ([only], 1) => {
                let cable = model.cable_name(only.port.cable()).to_owned();
                accused.push(Accused::CableOrSwitch { cable, switch: name, evidence });
            }
            (lost, all) if lost.len() == all => accused.push(Accused::Switch { switch: name, evidence }),
            (lost, _) => accused.extend(lost.iter().map(|probe| Accused::Cable {
                cable: model.cable_name(probe.port.cable()).to_owned(),
                evidence: evidence.clone(),
            })),
        }
    }
    accused
}

/// T1 probes of NICs whose T0 probe came back: those lost accuse a T0-T1 cable, or the T1 if it loses all.
fn accuse_t1(model: &Model, probes: &[Probe]) -> Vec<Accused> {
    let t0_fine: BTreeSet<PortId> = probes
        .iter()
        .filter(|probe| probe.uplink().is_none() && probe.returned)
        .map(|probe| probe.port)
        .collect();
    let mut cables: BTreeMap<CableId, (u64, u64)> = BTreeMap::new();
    for probe in probes.iter().filter(|probe| t0_fine.contains(&probe.port)) {
        let Some(cable) = probe.uplink() else { continue };
        let (sent, returned) = cables.entry(cable).or_default();
        *sent += 1;
        *returned += u64::from(probe.returned);
    }
    let mut by_switch: BTreeMap<DeviceId, Vec<(CableId, u64, u64)>> = BTreeMap::new();
    for (cable, (sent, returned)) in cables {
        let (upper, _) = model.end(cable.upper());
        by_switch.entry(upper).or_default().push((cable, sent, returned));
    }
    let mut accused = Vec::new();
    for (switch, cables) in by_switch {
        let bad: Vec<_> = cables.iter().filter(|(_, sent, returned)| sent > returned).collect();
        let dead = bad.iter().all(|(_, _, returned)| *returned == 0);
        debug_assert!(model.devices[switch.0].kind == DeviceKind::Switch, "an uplink leads to a switch");
        if dead && bad.len() == cables.len() && cables.len() > 1 {
            let evidence =
                format!("T0 probes return, T1 probes over all {} cables of it are lost", cables.len());
            accused.push(Accused::Switch { switch: model.devices[switch.0].name.clone(), evidence });
            continue;
        }
        accused.extend(bad.into_iter().map(|(cable, sent, returned)| Accused::Cable {
            cable: model.cable_name(*cable).to_owned(),
            evidence: format!("T0 probes return, {} of {sent} T1 probes over it are lost", sent - returned),
        }));
    }
    accused
}
