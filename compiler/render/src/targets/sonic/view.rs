//! Common inputs of a switch's tables: its ports in the order of the device, addresses as text.
//!
//! In: an intent. Out: [`View`]. Invariants: ports are in natural order of their names (`Ethernet8` before
//! `Ethernet16`), as in `show` commands and `config save`. Text is created once and used in every table.

use closc_plan::{Connection, DeviceIntent, Peer, PortIntent, SwitchPeer};

use super::RouteWriter;
use crate::targets::order::natural;
use crate::targets::text::{address, net};

/// A switch, for the tables.
pub(super) struct View<'a> {
    /// The intent.
    pub(super) intent: &'a DeviceIntent<'a>,
    /// Writer of its routes.
    pub(super) route_writer: RouteWriter,
    /// The ports in natural order of their names.
    pub(super) ports: Vec<PortView<'a>>,
    /// Position in `ports`, by index in [`DeviceIntent::ports`].
    places: Vec<usize>,
}

/// A port, for the tables.
pub(super) struct PortView<'a> {
    /// The port.
    pub(super) port: &'a PortIntent,
    /// Index in [`DeviceIntent::ports`].
    pub(super) index: usize,
    /// Name of the port.
    pub(super) name: &'a str,
    /// Connection; absent for a port without a cable.
    pub(super) link: Option<LinkView<'a>>,
}

/// Connection of a port, for the tables.
pub(super) struct LinkView<'a> {
    /// The link.
    pub(super) connection: &'a Connection,
    /// Own address with prefix length.
    pub(super) address: String,
    /// Address at the other end.
    pub(super) peer: String,
}

impl<'a> View<'a> {
    /// Sorts the ports and formats their addresses.
    pub(super) fn of(intent: &'a DeviceIntent<'a>, routed: RouteWriter) -> Self {
        let mut order: Vec<usize> = (0..intent.ports.len()).collect();
        let name = |at: usize| &*intent.ports[at].physical.name;
        order.sort_by(|one, other| natural(name(*one), name(*other)));
        let mut places = vec![0; order.len()];
        for (place, at) in order.iter().enumerate() {
            places[*at] = place;
        }
        let ports = order.into_iter().map(|at| PortView::of(at, &intent.ports[at])).collect();
        View { intent, route_writer: routed, ports, places }
    }

    /// Returns the port with an index in [`DeviceIntent::ports`].
    pub(super) fn port(&self, index: usize) -> &PortView<'a> {
        &self.ports[self.places[index]]
    }

    /// Returns the ports with a cable, in order.
    pub(super) fn links(&self) -> impl Iterator<Item = (&PortView<'a>, &LinkView<'a>)> {
        self.ports.iter().filter_map(|port| Some((port, port.link.as_ref()?)))
    }
}

impl<'a> PortView<'a> {
    fn of(index: usize, port: &'a PortIntent) -> Self {
        let link = port.connection.as_ref().map(|connection| LinkView {
            connection,
            address: net(connection.address),
            peer: address(connection.peer.address()),
        });
        PortView { port, index, name: &port.physical.name, link }
    }
}

impl LinkView<'_> {
    /// Returns the switch at the other end, if there is one.
    pub(super) fn switch(&self) -> Option<&SwitchPeer> {
        match &self.connection.peer {
            Peer::Switch(peer) => Some(peer),
            Peer::Nic(_) => None,
        }
    }
}
