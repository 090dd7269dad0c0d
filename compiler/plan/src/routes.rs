//! Static routes of a switch: a /48 for the uSID of every neighbour, and a blackhole for the block.
//!
//! In: a switch with its ports. Out: its routes. Invariants: there is no default route, and only neighbours have
//! routes. If a cable is swapped, its packets are therefore dropped at the first switch and never misdelivered. The
//! blackhole is last in a file. It is never removed, because removing a covering route deletes the SID on SONiC
//! (sonic-buildimage issue 23812).

use closc_topology::{Link, Switch, Topology};

use crate::intent::{Hop, Peer, PortIntent, Route, Target};
use crate::segment::Segments;

/// Returns the routes of a switch in a source-routed fabric.
pub(crate) fn srv6(topology: &Topology, switch: Switch, ports: &[PortIntent]) -> Vec<Route> {
    let segments = Segments::new(topology);
    let mut routes: Vec<Route> = ports
        .iter()
        .enumerate()
        .filter_map(|(port, intent)| {
            let connection = intent.connection.as_ref()?;
            let usid = match &connection.peer {
                Peer::Nic(nic) => segments.nic(switch.plane, nic.port.nic),
                Peer::Switch(peer) => segments.switch(peer.switch, cable_number(topology, connection.link)),
            };
            let target = Target::Ports(vec![Hop { port, weight: 1 }]);
            Some(Route { prefix: segments.prefix(switch.plane, usid).into(), target })
        })
        .collect();
    routes.push(Route { prefix: topology.srv6.block(switch.plane).into(), target: Target::Blackhole });
    routes
}

/// Returns the index of a link among the parallel cables between two switches, from 0.
pub(crate) fn cable_number(topology: &Topology, link: Link) -> u16 {
    match link {
        Link::Host(_) => 0,
        Link::Fabric { lower, up } => topology.tier(lower.tier).map_or(0, |tier| up % tier.parallel),
    }
}
