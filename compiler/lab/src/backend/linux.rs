//! The kernel's own SRv6: a network namespace for each device, a veth pair for each cable.
//!
//! In: a model and the namespaces of its devices. Out: packets carried and counters read. Always: devices are
//! configured by their own batch files alone; this module plugs cables, sends, listens and counts.

mod apply;
mod command;
mod counters;
mod features;
mod namespace;
mod netlink;
mod stations;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use features::{Feature, check as check_features};

pub(crate) use apply::{Files, configure, open_link_layer, spread_routes};
pub(crate) use namespace::{Namespace, create, delete, exists};
pub(crate) use wire::{Plug, plug, raise, unplug};

use super::{Backend, Counters, Packet, PortCounter, Sink};
use crate::LabError;
use crate::model::{Model, PortId};
use stations::Stations;

/// The kernel's own SRv6 in network namespaces.
#[derive(Debug)]
pub struct Linux {
    model: Arc<Model>,
    /// By device, in the order of the model.
    namespaces: Vec<Namespace>,
    udp_port: u16,
    jobs: usize,
    stations: Option<Stations>,
}

impl Linux {
    /// Takes the namespaces of a model's devices, and the port that nodes listen on.
    pub(crate) fn new(model: Arc<Model>, namespaces: Vec<Namespace>, udp_port: u16, jobs: usize) -> Self {
        Linux { model, namespaces, udp_port, jobs, stations: None }
    }

    /// Forgets open sockets: cables were moved, and with them interfaces.
    pub(crate) fn rewired(&mut self) {
        self.stations = None;
    }

    fn stations(&mut self) -> Result<&mut Stations, LabError> {
        if self.stations.is_none() {
            self.stations = Some(Stations::open(&self.model, &self.namespaces, self.udp_port)?);
        }
        Ok(self.stations.as_mut().expect("it was just opened"))
    }
}

impl Backend for Linux {
    fn exchange(&mut self, packets: &[Packet], sink: &mut dyn Sink) -> Result<(), LabError> {
        self.stations()?.exchange(packets, sink)
    }

    fn counters(&mut self) -> Result<Counters, LabError> {
        counters::read(&self.model, &self.namespaces, self.jobs)
    }

    fn port_counters(&mut self) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
        counters::read_ports(&self.model, &self.namespaces, self.jobs)
    }
}
