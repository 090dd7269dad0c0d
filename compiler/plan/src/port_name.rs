//! Names of ports on the devices at both ends of a cable.
//!
//! In: a plan and a port or a cable. Out: names. Invariants: intents, cable lists and diagnostics all use these
//! functions.

use closc_topology::{Link, PlaneId, PortRef, Side, Switch};
use smol_str::{SmolStr, format_smolstr};

use crate::plan::Plan;

/// Device and port at both ends of a cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CableEnds {
    /// The end nearer to the NICs.
    pub lower: (SmolStr, SmolStr),
    /// The other end.
    pub upper: (SmolStr, SmolStr),
}

impl Plan {
    /// Returns the name of a port on its device.
    pub fn port_name(&self, switch: Switch, port: PortRef) -> SmolStr {
        let topology = self.topology();
        topology.hardware(switch).0.port_name(topology.slot(switch, port))
    }

    /// Returns device and port name at both ends of a cable.
    pub fn cable_ends(&self, link: Link) -> CableEnds {
        let topology = self.topology();
        let (upper, upper_port) = self.fabric().upper_end(link).expect("the plan names planned cables only");
        let lower = match link {
            Link::Host(port) => {
                let (node, number) = topology.node_of(port.nic);
                (topology.naming.node(node), interface(number, port.plane))
            }
            Link::Fabric { lower, up } => {
                let at = PortRef { side: Side::Up, index: up };
                (topology.naming.switch(lower), self.port_name(lower, at))
            }
        };
        let upper = (topology.naming.switch(upper), self.port_name(upper, upper_port));
        CableEnds { lower, upper }
    }
}

/// Returns the name of a NIC port on Linux: NIC and plane, both from 0.
pub(crate) fn interface(number: u8, plane: PlaneId) -> SmolStr {
    format_smolstr!("nic{number}p{plane}")
}
