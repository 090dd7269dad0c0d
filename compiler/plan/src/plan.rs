//! The plan: a fabric with its addresses and uSIDs.
//!
//! In: a fabric. Out: [`Plan`], from which intents and tables are created one at a time, each in its own module.
//! Invariants: a plan contains no list of devices.

use std::sync::OnceLock;

use closc_artefacts::Routing;
use closc_fabric::{Fabric, Port, PortUse};
use closc_platform::Os;
use closc_topology::{Link, Node, PlaneId, Switch, Topology, ZoneId};
use smol_str::SmolStr;

use crate::address::AddressPlan;
use crate::segment::Segments;
use crate::zone_delay::{UnloadedDelays, ZoneDelay};

/// The fabric plan.
#[derive(Debug, Clone)]
pub struct Plan {
    fabric: Fabric,
    /// Computed once on first use, because hundreds of thousands of nodes and tables contain the delays of their zone.
    pub(crate) delays: OnceLock<Vec<ZoneDelay>>,
    /// Delays of the idle network, also computed on first use. The ECN thresholds of switches depend on them.
    pub(crate) empty: OnceLock<UnloadedDelays>,
}

impl Plan {
    /// Plans a fabric.
    pub fn new(fabric: Fabric) -> Self {
        Plan { fabric, delays: OnceLock::new(), empty: OnceLock::new() }
    }

    /// Returns the underlying fabric.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Returns the underlying topology.
    pub fn topology(&self) -> &Topology {
        self.fabric.topology()
    }

    /// Returns the name of the fabric.
    pub fn name(&self) -> &str {
        &self.topology().name
    }

    /// Returns the name of a switch.
    pub fn switch_name(&self, switch: Switch) -> SmolStr {
        self.topology().naming.switch(switch)
    }

    /// Returns the name of a node.
    pub fn node_name(&self, node: Node) -> SmolStr {
        self.topology().naming.node(node)
    }

    /// Returns the planes that exist.
    pub fn planes(&self) -> impl Iterator<Item = PlaneId> + use<> {
        let absent = self.topology().absent_planes();
        self.topology().plane_ids().filter(move |plane| !absent.contains(plane))
    }

    /// Returns the routing mode.
    pub fn routing(&self) -> Routing {
        self.topology().routing
    }

    /// Returns the operating system of a switch.
    pub fn os(&self, switch: Switch) -> Os {
        self.topology().hardware(switch).1
    }

    /// Returns the addresses.
    pub fn addresses(&self) -> AddressPlan<'_> {
        AddressPlan::new(self.topology())
    }

    /// Returns the uSIDs.
    pub fn segments(&self) -> Segments<'_> {
        Segments::new(self.topology())
    }

    /// Returns the name of a cable with valid coordinates, even if it is absent.
    pub fn link_name(&self, link: Link) -> String {
        self.topology().link_name(link).expect("the plan names planned cables only")
    }

    /// Returns whether hosts write the path into the packet.
    pub fn is_source_routed(&self) -> bool {
        self.topology().routing.is_source_routed()
    }

    /// Returns the existing switches, in the order of all lists.
    pub fn switches(&self) -> impl Iterator<Item = Switch> + '_ {
        self.fabric.switches()
    }

    /// Returns the switches without any cable.
    pub fn uncabled_switches(&self) -> impl Iterator<Item = Switch> + '_ {
        let exceptions = &self.topology().exceptions;
        let whole = exceptions.absent_switches.is_empty()
            && exceptions.absent_links.is_empty()
            && exceptions.absent_nics.is_empty();
        let is_cabled = |port: Port| matches!(port.usage, PortUse::Link { .. });
        let lone = move |switch: &Switch| !self.fabric().ports(*switch).any(is_cabled);
        (!whole).then(|| self.switches().filter(lone)).into_iter().flatten()
    }

    /// Returns the nodes that have at least one NIC.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.fabric.nodes()
    }

    /// Returns the nodes that have files of their own.
    pub fn nodes_with_files(&self) -> impl Iterator<Item = Node> + '_ {
        self.topology().hosts.has_files().then(|| self.nodes()).into_iter().flatten()
    }

    /// Returns the T0 groups; each has one path table.
    pub fn groups(&self) -> impl Iterator<Item = (ZoneId, u16)> + '_ {
        let topology = self.topology();
        topology.zone_ids().flat_map(|zone| (0..topology.hosts.groups).map(move |group| (zone, group)))
    }
}
