//! The plan itself: a fabric, its addresses and its uSIDs.
//!
//! In: a fabric. Out: [`Plan`], of which the intents and tables are made, one at a time, each where it is described.
//! Invariants: a plan holds no list of devices.

use closc_fabric::Fabric;
use closc_topology::{Link, Node, Switch, Topology, ZoneId};

use crate::address::AddressPlan;
use crate::segment::Segments;

/// The fabric plan.
#[derive(Debug, Clone)]
pub struct Plan {
    fabric: Fabric,
}

impl Plan {
    /// Plans a fabric.
    pub fn new(fabric: Fabric) -> Self {
        Plan { fabric }
    }

    /// Returns the fabric it plans.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Returns the topology it started from.
    pub fn topology(&self) -> &Topology {
        self.fabric.topology()
    }

    /// Returns the addresses.
    pub fn addresses(&self) -> AddressPlan<'_> {
        AddressPlan::new(self.topology())
    }

    /// Returns the uSIDs.
    pub fn segments(&self) -> Segments<'_> {
        Segments::new(self.topology())
    }

    /// Returns the name of a cable that the numbers of the topology allow, there or not.
    pub fn link_name(&self, link: Link) -> String {
        self.topology().link_name(link).expect("the plan names planned cables only")
    }

    /// Tells whether hosts write the path into the packet.
    pub fn is_source_routed(&self) -> bool {
        self.topology().routing.is_source_routed()
    }

    /// Returns the switches that are there, in the order of all listings.
    pub fn switches(&self) -> impl Iterator<Item = Switch> + '_ {
        self.fabric.switches()
    }

    /// Returns the nodes that have at least one NIC.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.fabric.nodes()
    }

    /// Returns the T0 groups, each of which has one path table.
    pub fn groups(&self) -> impl Iterator<Item = (ZoneId, u16)> + '_ {
        let topology = self.topology();
        topology.zone_ids().flat_map(|zone| (0..topology.hosts.groups).map(move |group| (zone, group)))
    }
}
