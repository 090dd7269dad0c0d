//! One process per switch, in network namespaces: BMv2's `simple_switch_grpc`, or any program with its command line.
//!
//! In: a tree, a folder, a program. Out: packets carried and counters read. Invariants: the kernel runs the nodes,
//! configured by their own files. Switches are programmed and their counters read over P4Runtime, at sockets in the
//! folder of the lab. So there are no listeners outside of its namespaces.
//!
//! A switch process keeps its interfaces open, so a cable cannot be moved by removing and creating its veth pair.
//! Instead, every port is a veth pair to a patch panel: a namespace with a bridge for each cable. Moving a cable means
//! moving ports between bridges.

mod panel;
mod switches;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

pub(crate) use switches::{end, is_alive, socket};

use super::linux::{self, Linux, Namespace};
use super::p4::{self, Readers, Reading};
use super::{
    Backend, Counters, Flow, FlowObservations, PortCounter, RoutedBackend, Routes, Sink, send_with_retries,
};
use crate::LabError;
use crate::backend::site::{LinkLayer, Moves, Site};
use crate::model::{Model, PortId};
use crate::packet::Packet;
use crate::progress::Watch;
use crate::tree::{DeviceKind, Neighbour, Tree};
use panel::Panel;

/// A lab of switch processes.
#[derive(Debug)]
pub struct Bmv2 {
    tree: Arc<Tree>,
    model: Arc<Model>,
    /// By device, in the order of the model.
    namespaces: Vec<Namespace>,
    panel: Panel,
    /// The kernel's part: nodes, and the interfaces of all devices.
    kernel: Linux,
    folder: Utf8PathBuf,
    /// The program that runs a switch, with its first arguments.
    program: Vec<String>,
    readers: Option<Readers>,
}

impl Bmv2 {
    /// Creates the lab from the namespaces of a model's devices and the name of the patch panel's namespace. They
    /// need not exist yet.
    pub(crate) fn new(
        (tree, model): (Arc<Tree>, Arc<Model>),
        namespaces: Vec<Namespace>,
        panel: String,
        folder: Utf8PathBuf,
        program: Vec<String>,
        jobs: usize,
    ) -> Self {
        let nowhere = panel.clone();
        let kernel = Linux::new(Arc::clone(&tree), Arc::clone(&model), namespaces.clone(), nowhere, jobs)
            .with_process_args(switches::process_args(&folder, p4::device_ids(&tree).map(|(name, _)| name)));
        let panel = Panel::new(Arc::clone(&model), panel);
        Bmv2 { tree, model, namespaces, panel, kernel, folder, program, readers: None }
    }

    fn readers(&mut self) -> Result<&Readers, LabError> {
        let readers = match self.readers.take() {
            Some(readers) => readers,
            None => Readers::open(&self.tree, &self.model, &self.folder.join(p4::INVENTORY))?,
        };
        Ok(self.readers.insert(readers))
    }

    /// The indices of switches, or of nodes.
    fn places(&self, kind: DeviceKind) -> Vec<usize> {
        (0..self.model.devices.len()).filter(|at| self.model.devices[*at].kind == kind).collect()
    }

    fn nodes(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        self.kernel.configure_some(&self.places(DeviceKind::Node), watch)
    }

    /// Sets the MAC addresses of NIC ports at moved cables. With an open link layer, a port gets the address that the
    /// switch at the other end sends to. Otherwise it keeps its own.
    fn name_ports(&self, moves: &Moves) -> Result<(), LabError> {
        let met = |port: PortId| {
            let found = moves.pairs.iter().find_map(|(a, b)| match (*a == port, *b == Some(port)) {
                (true, _) => *b,
                (_, true) => Some(*a),
                (false, false) => None,
            });
            found.filter(|_| moves.link_layer == LinkLayer::Open)
        };
        for port in moves.ends.iter().filter(|port| self.model.nic_segment(**port).is_some()) {
            let (node, name) = self.model.end(*port);
            let batch = |device: usize| &self.tree.devices[&self.model.devices[device].name].batch;
            let own = batch(node.0).macs.get(name);
            let sent_to = met(*port).and_then(|far| {
                let (switch, port) = self.model.end(far);
                batch(switch.0).neighbours.get(port).map(|neighbour| &neighbour.mac)
            });
            let Some(mac) = sent_to.or(own) else { continue };
            let mut lines = format!("link set dev {name} address {mac}\n");
            // After a change of the address, the kernel forgets every neighbour of the port, including static ones.
            if let Some(Neighbour { address, mac }) = batch(node.0).neighbours.get(name) {
                let _ = writeln!(lines, "neighbour replace {address} lladdr {mac} dev {name} nud permanent");
            }
            let namespace = &self.namespaces[node.0];
            namespace.run(|| linux::ip_batch(&lines, &namespace.device))?;
        }
        Ok(())
    }
}

impl Backend for Bmv2 {
    fn exchange(&mut self, packets: &[Packet], sink: &mut dyn Sink) -> Result<(), LabError> {
        self.kernel.exchange(packets, sink)
    }

    /// Port counters are read from the kernel's interfaces. Segment counters of switches are read over P4Runtime,
    /// those of nodes from the kernel.
    fn counters(&mut self) -> Result<Counters, LabError> {
        let mut counters = self.kernel.counters()?;
        counters.segments.extend(self.readers()?.read(Reading::Segments)?.segments);
        Ok(counters)
    }

    fn port_counters(&mut self) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
        self.kernel.port_counters()
    }

    fn drops_under_load(&self) -> bool {
        true
    }

    fn answers_losses(&self) -> bool {
        false
    }
}

impl RoutedBackend for Bmv2 {
    /// Routes of nodes are read from the kernel, routes of switches from their P4 tables.
    fn routes(&mut self) -> Result<Vec<Routes>, LabError> {
        let mut routes = self.kernel.routes()?;
        let model = Arc::clone(&self.model);
        for (device, found) in self.readers()?.routes(&model)? {
            routes[device.0] = found;
        }
        Ok(routes)
    }

    fn flows(&mut self, flows: &[Flow], watch: &Watch<'_>) -> Result<Vec<FlowObservations>, LabError> {
        send_with_retries(flows, |flows| self.kernel.flows(flows, watch))
    }
}

impl Site for Bmv2 {
    fn foreign(&self) -> Vec<String> {
        self.kernel.foreign()
    }

    fn make(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        switches::check(&self.program, &self.tree)?;
        super::make_folder(&self.folder)?;
        self.kernel.make_namespaces(watch)?;
        self.panel.make(&self.namespaces, watch)?;
        let switches = self.places(DeviceKind::Switch);
        for at in &switches {
            let names: Vec<&str> =
                self.model.devices[*at].ports.iter().map(|port| self.model.end(*port).1).collect();
            self.namespaces[*at].run(|| linux::raise_all(&names, &self.namespaces[*at].device))?;
        }
        self.nodes(watch)?;
        let all = switches.iter().map(|at| &self.namespaces[*at]);
        switches::start(&self.program, &self.tree, all, &self.folder, watch)?;
        p4::write_inventory(&self.tree, &self.folder, |name| format!("unix:{}", socket(&self.folder, name)))?;
        linux::settle(&mut self.kernel, watch)
    }

    fn configure(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        self.nodes(watch)?;
        linux::settle(&mut self.kernel, watch)
    }

    fn routed_backend(&mut self) -> Option<&mut dyn RoutedBackend> {
        Some(self)
    }

    fn leave(&mut self) {
        self.readers = None;
        self.kernel.leave();
    }

    fn rewire(&mut self, moves: &Moves, watch: &Watch<'_>) -> Result<(), LabError> {
        watch.check()?;
        self.panel.rewire(&moves.ends, &moves.pairs)?;
        self.name_ports(moves)?;
        linux::settle(&mut self.kernel, watch)
    }
}

/// Returns the switches of a lab that do not respond.
pub(crate) fn missing<'a>(folder: &Utf8Path, switches: impl Iterator<Item = &'a String>) -> Vec<String> {
    let gone = switches.filter(|name| !is_alive(&socket(folder, name)));
    gone.map(|name| format!("the process of {name}")).collect()
}
