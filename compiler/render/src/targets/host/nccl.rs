//! Settings of NCCL and VCCL: order of devices, DSCPs, queue pairs, positions of GPUs and NICs.
//!
//! In: the intent of a node. Out: `nccl.conf`, `vccl.conf`, `backup-ports.json`, `nccl-topology.xml`. Invariants:
//! DSCPs come from the profile of the switches. NCCL's defaults are written only if the fabric depends on them.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Family;
use closc_plan::{BackupPair, NicIntent};
use closc_qos::host::HostQos;
use closc_topology::PciAddress;
use serde::Serialize;

use super::Files;
use crate::{Artefact, RenderError};

#[derive(Serialize)]
struct View {
    name: String,
    fabric: String,
    profile: String,
    /// RDMA devices in the order of rails and planes, in the form of `NCCL_IB_HCA`.
    devices: String,
    /// Prefix of the addresses of all NICs, which selects the GIDs to use.
    reach: String,
    /// Whether NICs have IPv4 addresses.
    is_ipv4: bool,
    traffic_class: u8,
    /// Traffic class of clear-to-send messages, if the profile has a class for them.
    clear_to_send: Option<u8>,
    queue_pairs: u16,
    /// Whether switches reorder packets, and NICs accept them.
    reorders: bool,
    /// Whether the fabric is rail-optimised: through a T0 alone, NIC k reaches only NIC k of other nodes.
    rails: bool,
    /// Path of the topology file on the node; empty if no NIC is assigned to a GPU.
    topology: &'static str,
}

/// Pairs of ports as a file.
#[derive(Serialize)]
struct Backups<'a> {
    format: &'static str,
    node: &'a str,
    pairs: Vec<BackupPair>,
}

/// GPUs with their NICs, by NUMA node, for the topology file.
#[derive(Serialize)]
struct Machine {
    sockets: Vec<Socket>,
}

#[derive(Serialize)]
struct Socket {
    numa: u8,
    pairings: Vec<Pairing>,
}

/// A PCI switch with the devices below it.
///
/// NCCL detects the switches above a device only if the file does not contain the device. GPU and NIC communicate
/// directly only if there are only PCI switches between them. A file with both directly below the CPU would therefore
/// disable direct communication.
#[derive(Serialize)]
struct Pairing {
    /// An address that no device uses.
    switch: String,
    /// Rate of its links, as a PCI Express generation. NCCL cannot detect it, so it is the rate that the NICs below
    /// need.
    link_speed: &'static str,
    gpu: String,
    /// NICs, by the address that NCCL uses for all ports of one NIC. NCCL adds the contents of a NIC itself. With a
    /// `net` element in the file, NCCL would not detect the links of the device, and would fail if the file lacks
    /// them.
    nics: BTreeSet<String>,
}

pub(super) fn render(files: &Files<'_>) -> Result<Vec<Artefact>, RenderError> {
    let view = view(files);
    let backups =
        Backups { format: "closc-backup-ports/1", node: &files.intent.name, pairs: files.intent.backups() };
    let mut artefacts = vec![
        files.text("nccl.conf", "nccl.conf.j2", &view)?,
        files.text("vccl.conf", "vccl.conf.j2", &view)?,
        files.json("backup-ports.json", &backups),
    ];
    if !view.topology.is_empty() {
        artefacts.push(files.text("nccl-topology.xml", "nccl-topology.xml.j2", &machine(files))?);
    }
    Ok(artefacts)
}

fn view(files: &Files<'_>) -> View {
    let intent = files.intent;
    let marks = HostQos::of(intent.qos).rdma;
    let has_pairs = intent.nics.iter().any(|nic| nic.slot.as_ref().is_some_and(|slot| slot.gpu.is_some()));
    View {
        name: intent.name.to_string(),
        fabric: intent.fabric.to_owned(),
        profile: intent.qos.name().to_string(),
        devices: files.interfaces().join(","),
        reach: intent.reach.to_string(),
        is_ipv4: intent.reach.family() == Family::V4,
        traffic_class: marks.nccl_tc,
        clear_to_send: marks.nccl_fifo_tc,
        queue_pairs: intent.queue_pairs,
        reorders: intent.reorders,
        rails: intent.is_rail_optimised,
        topology: if has_pairs { "/etc/closc/nccl-topology.xml" } else { "" },
    }
}

/// Returns the topology. NICs without a GPU are omitted, because NCCL detects those itself.
fn machine(files: &Files<'_>) -> Machine {
    let mut pairings: BTreeMap<u8, BTreeMap<PciAddress, Vec<&NicIntent>>> = BTreeMap::new();
    for nic in &files.intent.nics {
        let Some((slot, gpu)) = nic.slot.as_ref().and_then(|slot| Some((slot, slot.gpu?))) else { continue };
        pairings.entry(slot.numa).or_default().entry(gpu).or_default().push(nic);
    }
    let mut number = 0;
    let mut pairing = |(gpu, nics): (PciAddress, Vec<&NicIntent>)| {
        number += 1;
        pairing(number, gpu, &nics)
    };
    let sockets = pairings
        .into_iter()
        .map(|(numa, pairings)| Socket { numa, pairings: pairings.into_iter().map(&mut pairing).collect() });
    Machine { sockets: sockets.collect() }
}

fn pairing(number: u8, gpu: PciAddress, nics: &[&NicIntent]) -> Pairing {
    let ports = || nics.iter().flat_map(|nic| &nic.ports);
    Pairing {
        switch: format!("ffff:ff:{number:02x}.0"),
        link_speed: link_speed(ports().map(|port| u64::from(port.speed.mbps())).sum()),
        gpu: gpu.to_string(),
        nics: ports().filter_map(|port| port.pci).map(|pci| pci.first_of_bus().to_string()).collect(),
    }
}

/// Returns the lane rate of the first PCI Express generation with this bandwidth over 16 lanes, in the form that the
/// kernel writes and NCCL reads.
fn link_speed(mbps: u64) -> &'static str {
    match mbps {
        0..=100_000 => "8.0 GT/s PCIe",
        100_001..=200_000 => "16.0 GT/s PCIe",
        200_001..=400_000 => "32.0 GT/s PCIe",
        _ => "64.0 GT/s PCIe",
    }
}
