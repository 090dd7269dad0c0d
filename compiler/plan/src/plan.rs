//! The plan itself: a fabric, and the functions that make intents from it.
//!
//! In: a fabric. Out: intents and tables, one at a time. Invariants: a plan holds no list of devices.

use closc_fabric::Fabric;
use closc_topology::{Link, Node, PortRef, Side, Switch, Topology, ZoneId};
use smol_str::SmolStr;

use crate::address::AddressPlan;
use crate::host::routes::NodeRoutes;
use crate::intent::{DeviceIntent, HostIntent};
use crate::segment::Segments;
use crate::table::PathTable;
use crate::{device, host, table};

/// Device and port at both ends of a cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CableEnds {
    /// The end nearer to the NICs.
    pub lower: (SmolStr, SmolStr),
    /// The other end.
    pub upper: (SmolStr, SmolStr),
}

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

    /// Returns device and port at both ends of a cable, as the devices name them.
    pub fn cable_ends(&self, link: Link) -> CableEnds {
        let topology = self.topology();
        let (upper, upper_port) = self.fabric.upper_end(link).expect("the plan names planned cables only");
        let lower = match link {
            Link::Host(port) => {
                let (node, number) = topology.node_of(port.nic);
                (topology.naming.node(node), host::interface(number, port.plane))
            }
            Link::Fabric { lower, up } => {
                let at = PortRef { side: Side::Up, index: up };
                (topology.naming.switch(lower), device::port_name(self, lower, at))
            }
        };
        let upper = (topology.naming.switch(upper), device::port_name(self, upper, upper_port));
        CableEnds { lower, upper }
    }

    /// Returns the name of a port, as the device has it.
    pub fn port_name(&self, switch: Switch, port: PortRef) -> SmolStr {
        device::port_name(self, switch, port)
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
        topology.zone_ids().flat_map(|zone| (0..topology.t0.count).map(move |group| (zone, group)))
    }

    /// Makes the intent of a switch.
    pub fn device(&self, switch: Switch) -> DeviceIntent<'_> {
        device::intent(self, switch)
    }

    /// Makes the intent of a node.
    pub fn host(&self, node: Node) -> HostIntent<'_> {
        host::intent(self, node)
    }

    /// Makes the routes of a node to every NIC elsewhere; nothing where hosts do not choose paths, or the fabric is too
    /// large to write them out.
    pub fn node_routes(&self, node: Node) -> Option<NodeRoutes> {
        host::routes::routes(self, node)
    }

    /// Makes the path table of a T0 group.
    pub fn path_table(&self, zone: ZoneId, group: u16) -> PathTable<'_> {
        table::table(self, zone, group)
    }
}
