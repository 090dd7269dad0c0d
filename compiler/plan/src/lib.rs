//! The fabric plan: addresses, uSIDs, routes and path tables as functions of position.
//!
//! In: a [`closc_fabric::Fabric`]. Out: [`Plan`], which creates a [`DeviceIntent`], a [`HostIntent`] or a
//! [`PathTable`] on demand. Invariants: a plan is small. Its results depend only on the coordinate and the topology,
//! so growth renumbers nothing and the same input gives the same plan.

mod address;
mod backup;
mod bgp;
mod cage_media;
mod cluster;
mod delay;
mod device;
mod ecmp;
mod entropy;
mod host;
mod intent;
mod kinds;
mod mac;
mod path;
mod placement;
mod plan;
mod port_name;
mod qos;
mod routes;
mod segment;
mod stated;
mod table;
mod touch;
mod usable_values;
mod zone_delay;

pub mod checks;

pub use address::{AddressPlan, CableEnd};
pub use backup::{BackupPair, PortName, SharedComponent};
pub use cluster::{Allocation, ClusterIntent, ClusterNic, ClusterPort};
pub use delay::{NIC_LATENCY, SWITCH_LATENCY};
pub use ecmp::{NextHop, NextHops};
pub use entropy::{EntropyFormat, EntropySets};
pub use host::route_counts::HostRoutes;
pub use host::routes::{NodeDestination, NodeRoutes, PortPaths};
pub use intent::bgp::{AcceptedPrefixes, BgpBandwidth, BgpDirection, BgpIntent, BgpNeighbour, BgpSide};
pub use intent::{
    BalanceIntent, Connection, DeviceIntent, Hop, HostIntent, Locator, Management, NicIntent, NicPeer,
    NicPortIntent, NicRoute, Peer, PortIntent, Route, Srv6Intent, SwitchPeer, System, Target,
};
pub use mac::Mac;
pub use path::{Path, PathError, PathHop, PathKind};
pub use placement::{Crossing, Job, JobError, PlacedNode, Placement, Traffic, UnitNodes};
pub use plan::Plan;
pub use port_name::CableEnds;
pub use qos::{PortKind, SwitchBuffers, SwitchQos};
pub use segment::{Segments, UplinkChoice};
pub use table::{
    DeniedPaths, Destination, PathTable, Probe, ProbeKind, Reason, Scope, TableNic, TablePlane,
    TableSegments, TableSize,
};
pub use touch::{ArtefactSet, ExceptionKind, Subject, touch};
pub use zone_delay::ZoneDelay;
