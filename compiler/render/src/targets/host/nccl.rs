//! What NCCL and VCCL are told: which devices in which order, marks, queue pairs, where GPUs and NICs are plugged in.
//!
//! In: the intent of a node. Out: `nccl.conf`, `vccl.conf`, `backup-ports.json`, `nccl-topology.xml`. Always: marks are
//! read off the profile that the switches are rendered from; values that are NCCL's defaults are written only where
//! the fabric depends on them.

use std::collections::BTreeMap;

use closc_plan::{BackupPair, NicIntent};
use closc_qos::host::HostQos;
use serde::Serialize;

use super::Files;
use crate::{Artefact, RenderError};

#[derive(Serialize)]
struct View {
    name: String,
    fabric: String,
    profile: String,
    /// RDMA devices in the order of rails and planes, as `NCCL_IB_HCA` takes them.
    devices: String,
    /// Addresses of all NICs: which GIDs are taken.
    reach: String,
    traffic_class: u8,
    /// Traffic class of clear-to-send messages; 0 where the profile has no class for them.
    clear_to_send: u8,
    queue_pairs: u16,
    /// Whether NIC k only meets NICs k of other nodes without passing the second tier.
    rails: bool,
    /// Where the topology file belongs; empty text where the slots are not known.
    topology: &'static str,
}

/// Pairs of ports as a file.
#[derive(Serialize)]
struct Backups<'a> {
    format: &'static str,
    node: &'a str,
    pairs: Vec<BackupPair>,
}

/// NICs by NUMA node, as the topology file has them.
#[derive(Serialize)]
struct Machine {
    sockets: Vec<Socket>,
}

#[derive(Serialize)]
struct Socket {
    numa: u8,
    /// Addresses of GPUs, each once.
    gpus: Vec<String>,
    ports: Vec<Port>,
}

#[derive(Serialize)]
struct Port {
    pci: String,
    name: String,
    /// In Mb/s, as NCCL counts.
    speed: u32,
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
    let has_slots = intent.nics.iter().any(|nic| nic.slot.is_some());
    View {
        name: intent.name.to_string(),
        fabric: intent.fabric.to_owned(),
        profile: intent.qos.name().to_string(),
        devices: files.interfaces().join(","),
        reach: intent.reach.to_string(),
        traffic_class: marks.nccl_tc,
        clear_to_send: marks.nccl_fifo_tc.unwrap_or(0),
        queue_pairs: intent.queue_pairs,
        rails: intent.is_rail_optimised,
        topology: if has_slots { "/etc/closc/nccl-topology.xml" } else { "" },
    }
}

fn machine(files: &Files<'_>) -> Machine {
    let mut sockets: BTreeMap<u8, Vec<&NicIntent>> = BTreeMap::new();
    for nic in &files.intent.nics {
        sockets.entry(nic.slot.as_ref().map_or(0, |slot| slot.numa)).or_default().push(nic);
    }
    Machine { sockets: sockets.into_iter().map(|(numa, nics)| socket(numa, &nics)).collect() }
}

fn socket(numa: u8, nics: &[&NicIntent]) -> Socket {
    let mut gpus: Vec<String> = Vec::new();
    for gpu in nics.iter().filter_map(|nic| nic.slot.as_ref()?.gpu) {
        let gpu = gpu.to_string();
        if !gpus.contains(&gpu) {
            gpus.push(gpu);
        }
    }
    let port = |port: &closc_plan::NicPortIntent| {
        Some(Port { pci: port.pci?.to_string(), name: port.interface.to_string(), speed: port.speed.mbps() })
    };
    Socket { numa, gpus, ports: nics.iter().flat_map(|nic| &nic.ports).filter_map(port).collect() }
}
