//! The kernel's own SRv6: a network namespace for each device, a veth pair for each cable.
//!
//! In: a tree and the namespaces of its devices. Out: packets carried and counters read. Invariants: devices are
//! configured only by their own batch files. This module connects cables, sends and receives packets, and reads
//! counters.

mod apply;
mod carriers;
mod command;
pub(crate) mod connectivity;
mod counters;
mod faults;
mod features;
mod flows;
mod namespace;
mod netlink;
mod routers;
mod routes;
mod sightings;
mod site;
mod stations;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use features::{check as check_features, lacking_queues};

pub(crate) use command::ip_batch;
pub(crate) use namespace::{Namespace, create, delete, exists};
pub(crate) use routers::{end as end_routers, folder as routers_folder, have_exited as routers_are_gone};
pub(crate) use site::settle;
pub(crate) use wire::{MTU, Plug, plug, raise_all, silence};

use camino::Utf8PathBuf;

use super::{Backend, Counters, Flow, FlowObservations, PortCounter, QuietSink, RoutedBackend, Routes, Sink};
use crate::LabError;
use crate::model::{CableId, Model, PortId};
use crate::packet::Packet;
use crate::progress::Watch;
use crate::tree::{GroupTable, Tree};
use carriers::Carriers;
use flows::Watchers;
use sightings::Sightings;
use stations::Stations;

/// The kernel's own SRv6 in network namespaces.
#[derive(Debug)]
pub struct Linux {
    tree: Arc<Tree>,
    model: Arc<Model>,
    /// By device, in the order of the model.
    namespaces: Vec<Namespace>,
    /// The folder of the routers.
    folder: Utf8PathBuf,
    watchers: Option<Watchers>,
    /// Namespace for the unconnected ends of cut cables.
    nowhere: String,
    jobs: usize,
    carriers: Carriers,
    stations: Option<Stations>,
    sightings: Option<Sightings>,
}

impl Linux {
    /// Creates the lab from the namespaces of a model's devices, which need not exist yet. `nowhere` is the name of
    /// the namespace for the unconnected ends of cut cables.
    pub(crate) fn new(
        tree: Arc<Tree>,
        model: Arc<Model>,
        namespaces: Vec<Namespace>,
        nowhere: String,
        jobs: usize,
    ) -> Self {
        let folder = routers::folder(&tree.fabric);
        Linux {
            tree,
            model,
            namespaces,
            folder,
            watchers: None,
            nowhere,
            jobs,
            carriers: Carriers::default(),
            stations: None,
            sightings: None,
        }
    }

    /// Sets the arguments that identify the processes of switches.
    pub(crate) fn with_process_args(mut self, words: Vec<String>) -> Self {
        self.carriers.process_args = words;
        self
    }

    fn open(&mut self) -> Result<(&mut Stations, &Carriers), LabError> {
        if self.stations.is_none() {
            let udp_port = self.tree.tables.first().map_or(0, GroupTable::udp_port);
            self.stations = Some(Stations::open(&self.model, &self.namespaces, udp_port)?);
        }
        Ok((self.stations.as_mut().expect("it was just opened"), &self.carriers))
    }
}

impl RoutedBackend for Linux {
    fn routes(&mut self) -> Result<Vec<Routes>, LabError> {
        routes::read(&self.namespaces, self.jobs)
    }

    fn flows(&mut self, flows: &[Flow], watch: &Watch<'_>) -> Result<Vec<FlowObservations>, LabError> {
        let mut watchers = match self.watchers.take() {
            Some(watchers) => watchers,
            None => Watchers::open(&self.model, &self.namespaces)?,
        };
        let seen = watchers.exchange(&self.namespaces, flows, &self.carriers, watch);
        self.watchers = Some(watchers);
        seen
    }

    fn reroute(&mut self, dead: &BTreeSet<CableId>, watch: &Watch<'_>) -> Result<(), LabError> {
        self.find_ways(dead, watch)
    }
}

impl Backend for Linux {
    fn exchange(&mut self, packets: &[Packet], sink: &mut dyn Sink) -> Result<(), LabError> {
        let (stations, carriers) = self.open()?;
        stations.exchange(packets, sink, carriers)
    }

    fn follow(&mut self, packets: &[Packet]) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
        let mut sightings = match self.sightings.take() {
            Some(sightings) => sightings,
            None => Sightings::open(&self.model, &self.namespaces, self.jobs)?,
        };
        // Discard late packets of earlier exchanges.
        sightings.take()?;
        self.exchange(packets, &mut QuietSink)?;
        self.carriers.rest();
        let counted = sightings.take()?;
        self.sightings = Some(sightings);
        Ok(counted)
    }

    fn counters(&mut self) -> Result<Counters, LabError> {
        self.carriers.rest();
        counters::read(&self.model, &self.namespaces, self.jobs)
    }

    fn port_counters(&mut self) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
        self.carriers.rest();
        counters::read_ports(&self.model, &self.namespaces, self.jobs)
    }
}
