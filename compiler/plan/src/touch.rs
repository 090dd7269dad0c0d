//! The artefacts that an exception affects.
//!
//! In: an exception and a fabric with its subject. Out: [`ArtefactSet`] values. Invariants: an artefact that is not
//! affected has the same bytes with and without the exception. Values that depend on the delays of the fabric are not
//! covered (see [`crate::Plan::zone_delays`]). So after a change of a cable, two switches are rendered again instead
//! of six thousand.

use closc_artefacts::Routing;
use closc_fabric::{End, Fabric, PortUse};
use closc_topology::{Link, Nic, Node, PlaneId, Switch, ZoneId};
use serde::Serialize;

/// Subject of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Subject {
    /// A plane.
    Plane(PlaneId),
    /// A switch.
    Switch(Switch),
    /// A NIC.
    Nic(Nic),
    /// A cable.
    Link(Link),
}

/// Kind of exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ExceptionKind {
    /// The subject does not exist.
    Absent(Subject),
    /// The subject must not carry new traffic.
    Drained(Subject),
    /// The switch ports of the cable drop all IPv6 packets except ICMPv6.
    Isolated(Link),
    /// The cable differs from its kind.
    Cable(Link),
    /// The switch has other hardware or another operating system than its tier.
    Device(Switch),
}

/// A set of artefacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArtefactSet {
    /// All artefacts of a switch.
    Switch(Switch),
    /// All artefacts of all switches of a plane.
    Plane(PlaneId),
    /// All artefacts of a node, except the path table of its group.
    Host(Node),
    /// All artefacts of all nodes, except path tables.
    Hosts,
    /// The path table of a T0 group.
    Table(ZoneId, u16),
    /// Every path table.
    Tables,
    /// The cable list of a plane.
    List(PlaneId),
}

/// Calls `found` with every artefact that an exception affects, possibly more than once.
pub fn touch(exception: ExceptionKind, fabric: &Fabric, found: &mut impl FnMut(ArtefactSet)) {
    match exception {
        ExceptionKind::Absent(subject) => {
            weigh(subject, fabric, found);
            absent(subject, fabric, found);
        }
        // If NICs choose paths, a drain changes files of hosts, not of switches.
        ExceptionKind::Drained(subject) => {
            weigh(subject, fabric, found);
            found(ArtefactSet::Hosts);
            found(ArtefactSet::Tables);
            if let Some(plane) = plane_of(subject) {
                found(ArtefactSet::List(plane));
            }
        }
        ExceptionKind::Isolated(link) | ExceptionKind::Cable(link) => ends(link, fabric, found),
        ExceptionKind::Device(switch) => visit_switch(switch, fabric, found),
    }
}

fn absent(subject: Subject, fabric: &Fabric, found: &mut impl FnMut(ArtefactSet)) {
    if let Some(plane) = plane_of(subject) {
        found(ArtefactSet::List(plane));
    }
    match subject {
        Subject::Plane(_) => {}
        Subject::Switch(switch) => {
            visit_switch(switch, fabric, found);
            found(ArtefactSet::Hosts);
            found(ArtefactSet::Tables);
        }
        Subject::Link(link) => {
            ends(link, fabric, found);
            found(ArtefactSet::Hosts);
            found(ArtefactSet::Tables);
        }
        Subject::Nic(nic) => {
            found(ArtefactSet::Host(fabric.topology().node_of(nic).0));
            // In small fabrics, nodes have a route to every NIC.
            found(ArtefactSet::Hosts);
            found(ArtefactSet::Table(nic.zone, nic.group));
            for plane in fabric.topology().plane_ids() {
                found(ArtefactSet::Switch(nic.t0(plane)));
                found(ArtefactSet::List(plane));
            }
        }
    }
}

/// Switches whose weights depend on a drained or absent element.
fn weigh(subject: Subject, fabric: &Fabric, found: &mut impl FnMut(ArtefactSet)) {
    match (fabric.topology().routing, subject) {
        (Routing::Srv6Static, _) | (_, Subject::Nic(_)) => {}
        // Static weights depend on all missing elements of the plane.
        (Routing::EcmpStatic, Subject::Switch(Switch { plane, .. }))
        | (Routing::EcmpStatic | Routing::BgpUnnumbered, Subject::Plane(plane)) => {
            found(ArtefactSet::Plane(plane));
        }
        (Routing::EcmpStatic, Subject::Link(link)) => found(ArtefactSet::Plane(link.plane())),
        // BGP handles more distant losses at run time.
        (Routing::BgpUnnumbered, Subject::Switch(switch)) => neighbours(switch, fabric, found),
        (Routing::BgpUnnumbered, Subject::Link(link)) => ends(link, fabric, found),
    }
}

/// Visits a switch, and all switches that it has sessions with.
fn neighbours(switch: Switch, fabric: &Fabric, found: &mut impl FnMut(ArtefactSet)) {
    found(ArtefactSet::Switch(switch));
    if fabric.topology().tier(switch.tier).is_none() {
        return;
    }
    for port in fabric.ports(switch) {
        if let PortUse::Link { peer: End::Switch { switch, .. }, .. } = port.usage {
            found(ArtefactSet::Switch(switch));
        }
    }
}

/// Visits a switch, the cable list of its plane, and the devices at the other ends of its cables.
fn visit_switch(switch: Switch, fabric: &Fabric, found: &mut impl FnMut(ArtefactSet)) {
    found(ArtefactSet::Switch(switch));
    found(ArtefactSet::List(switch.plane));
    if fabric.topology().tier(switch.tier).is_none() {
        return;
    }
    for port in fabric.ports(switch) {
        match port.usage {
            PortUse::Link { peer: End::Switch { switch, .. }, .. } => found(ArtefactSet::Switch(switch)),
            PortUse::Link { link, .. } | PortUse::Absent { link } => ends(link, fabric, found),
            PortUse::Spare => {}
        }
    }
}

/// Visits both ends of a cable and the cable list of its plane.
fn ends(link: Link, fabric: &Fabric, found: &mut impl FnMut(ArtefactSet)) {
    found(ArtefactSet::List(link.plane()));
    if let Some((upper, _)) = fabric.upper_end(link) {
        found(ArtefactSet::Switch(upper));
    }
    match link {
        Link::Host(port) => found(ArtefactSet::Host(fabric.topology().node_of(port.nic).0)),
        Link::Fabric { lower, .. } => found(ArtefactSet::Switch(lower)),
    }
}

fn plane_of(subject: Subject) -> Option<PlaneId> {
    match subject {
        Subject::Plane(plane) => Some(plane),
        Subject::Switch(switch) => Some(switch.plane),
        Subject::Link(link) => Some(link.plane()),
        Subject::Nic(_) => None,
    }
}
