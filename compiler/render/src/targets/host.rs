//! Files of a node, for the tools that configure its kernel, NICs and NCCL.
//!
//! In: a [`HostIntent`]. Out: below `hosts/<node>/`, by kind:
//!
//! - `nic`: `nic-qos.sh`, which configures the QoS classes of the switches on each NIC port, `delay.json` with the
//!   round-trip time of the longest path, and `sysctl.conf`;
//! - `netplan`: `netplan.yaml`, addresses, tables and rules of every port;
//! - `networkd`: `networkd/*.network`, with the same settings. If the slots are known, also `*.link` and a
//!   udev rule, which name interfaces and RDMA devices by their slot;
//! - `agent`: `closc/nicN.env`, the start options of the agent of each NIC;
//! - `nccl`: `nccl.conf`, `vccl.conf`, `backup-ports.json` and, if the slots are known, `nccl-topology.xml`.
//!
//! Invariants: interface, RDMA device and RDMA resource of a port have the same name, `nic0p3`, a function of NIC and
//! plane.

mod agent;
mod nccl;
mod network;
mod nic;

use camino::Utf8PathBuf;
use closc_artefacts::paths;
use closc_plan::HostIntent;
use closc_topology::HostOutput;
use serde::Serialize;

use crate::{Artefact, RenderError, Templates};

/// Renders the files of one kind.
pub fn render(
    intent: &HostIntent<'_>,
    output: HostOutput,
    templates: &Templates,
) -> Result<Vec<Artefact>, RenderError> {
    let files = Files { intent, templates };
    match output {
        HostOutput::Nic => nic::render(&files),
        HostOutput::Netplan => network::netplan(&files),
        HostOutput::Networkd => network::networkd(&files),
        HostOutput::Nccl => nccl::render(&files),
        HostOutput::Agent => agent::render(&files),
    }
}

/// Renders files of one node.
struct Files<'a> {
    intent: &'a HostIntent<'a>,
    templates: &'a Templates,
}

impl Files<'_> {
    /// Renders a file from its template, a path below `templates/host/`.
    fn text<V: Serialize>(&self, file: &str, template: &str, view: &V) -> Result<Artefact, RenderError> {
        let template = format!("host/{template}");
        let text = self.templates.render(&template, &self.intent.name, view)?;
        Ok(Artefact::new(self.path(file), text))
    }

    /// Writes a value as JSON.
    fn json<V: Serialize>(&self, file: &str, value: &V) -> Artefact {
        let mut bytes = serde_json::to_vec_pretty(value).expect("views have text keys and no floats");
        bytes.push(b'\n');
        Artefact::new(self.path(file), bytes)
    }

    fn path(&self, file: &str) -> Utf8PathBuf {
        paths::host(&self.intent.name, file)
    }

    /// Returns interfaces in the order of NICs, then planes. NIC k is on rail k modulo the number of rails.
    fn interfaces(&self) -> Vec<String> {
        let ports = self.intent.nics.iter().flat_map(|nic| &nic.ports);
        ports.map(|port| port.interface.to_string()).collect()
    }
}
