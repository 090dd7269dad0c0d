//! Binds the ports of a switch to cables and neighbours, and compares their settings with both.

use std::sync::Arc;

use closc_artefacts::Address;
use hashbrown::HashMap;

use super::binding::Binding;
use crate::model::cabling::{Cable, CableId, DeviceId, End, Side};
use crate::model::device::{Mac, Port, Via, peer_address};
use crate::model::fact::FactKind;
use crate::model::language::{LinkLocal, NeighbourResolution};
use crate::model::qos::PortQos;
use crate::model::switch::{EndState, Facts, FactsId, IngressFilter};
use crate::rules::cabling::{PEER, POWER, ROLE};
use crate::rules::files::KNOWN;
use crate::rules::ports::{HALVES, ISOLATION, LENGTH, NEIGHBOUR};

impl Binding<'_, '_> {
    /// Returns the ports with a cable, by slot.
    pub(crate) fn ends(&mut self) -> Vec<EndState> {
        let by_name: HashMap<&str, usize> =
            self.device.ports.iter().enumerate().map(|(at, port)| (&*port.name, at)).collect();
        let cabling = self.context.cabling;
        let qos: Vec<Arc<PortQos>> = match &self.device.qos {
            Some(config) => config.ports.iter().map(|port| self.context.qos.intern(port).1).collect(),
            None => Vec::new(),
        };
        let plugs = cabling.at_switch(self.id);
        let mut ends = Vec::with_capacity(plugs.len());
        for (slot, plug) in plugs.iter().enumerate() {
            let cable = cabling.cable(plug.cable());
            let (own, far) = cable.ends(plug.side());
            let name = cabling.names.text(own.port);
            self.findings.count_facts(&POWER, 1);
            let called = (self.device.language.port)(name);
            let Some(at) = by_name.get(called).copied().filter(|at| self.device.ports[*at].declared) else {
                let message =
                    format!("port `{name}` has a cable to `{}`, but is not configured", cabling.end(far));
                self.unlike(&POWER, FactKind::Port(name), Some(plug.cable()), &message);
                ends.push(EndState::default());
                continue;
            };
            self.slots[at] = Some(slot as u16);
            let device = self.device;
            self.role(&device.ports[at], far, plug.cable());
            ends.push(self.end(&device.ports[at], plug.cable(), plug.side(), &qos));
        }
        ends
    }

    fn end(&mut self, port: &Port<'_>, id: CableId, side: Side, qos: &[Arc<PortQos>]) -> EndState {
        let cable = self.context.cabling.cable(id);
        let (_, far) = cable.ends(side);
        let name = &*port.name;
        if !port.up {
            let message =
                format!("port `{name}` has a cable to `{}`, but is off", self.context.cabling.end(far));
            self.unlike(&POWER, FactKind::Port(name), Some(id), &message);
        }
        self.peer(port, id, &cable, far);
        self.isolation(port, id, &cable);
        if port.length_m.is_none() && self.lengths {
            self.findings.count_facts(&LENGTH, 1);
            self.report(&LENGTH, FactKind::Length(name), &format!("port `{name}` has no cable length"));
        }
        let mut state = EndState::of(self.facts(port, qos), port.mac.or(self.device.mac));
        state.address = self.address(port, far);
        self.neighbour(port, far, &mut state);
        state
    }

    /// Compares the list of isolated ports with the cable list.
    fn isolation(&mut self, port: &Port<'_>, id: CableId, cable: &Cable) {
        if self.context.isolates {
            self.findings.count_facts(&ISOLATION, 1);
        }
        let message = match (self.device.isolated_ports.contains(&*port.name), cable.isolated) {
            (true, false) => {
                format!("port `{}` is isolated, but the cable list does not isolate its cable", port.name)
            }
            (false, true) => {
                format!("port `{}` is not isolated, but the cable list isolates its cable", port.name)
            }
            (true, true) | (false, false) => return,
        };
        self.unlike(&ISOLATION, FactKind::Global("isolation"), Some(id), &message);
    }

    fn facts(&mut self, port: &Port<'_>, qos: &[Arc<PortQos>]) -> FactsId {
        let key =
            (port.up, port.wire, port.lane_count, port.length_m, port.faces_nic, port.balances, port.qos);
        if let Some((_, id)) = self.distinct_facts.iter().find(|(seen, _)| *seen == key) {
            return *id;
        }
        let id = self.context.facts.facts(&Facts {
            up: port.up,
            wire: port.wire,
            lane_count: port.lane_count,
            length_m: port.length_m,
            faces_nic: port.faces_nic,
            balances: port.balances,
            qos: port.qos.and_then(|at| qos.get(usize::from(at)).cloned()),
        });
        self.distinct_facts.push((key, id));
        id
    }

    /// Compares the neighbour that the device expects, in whatever form its language states it, with the cable list.
    fn peer(&mut self, port: &Port<'_>, id: CableId, cable: &Cable, far: End) {
        let cabling = self.context.cabling;
        let (device, far_port) = (cabling.party(far.party), cabling.names.text(far.port));
        if let Some((expected, expected_port)) = &port.peer {
            self.findings.count_facts(&PEER, 1);
            if expected != device || expected_port != far_port {
                let message = format!(
                    "port `{}` expects `{expected}:{expected_port}`, but its cable leads to \
                     `{device}:{far_port}`",
                    port.name
                );
                self.unlike(&PEER, FactKind::Peer(&port.name), Some(id), &message);
            }
        } else if self.device.language.states_peers {
            self.findings.count_facts(&PEER, 1);
            self.report(
                &PEER,
                FactKind::Peer(&port.name),
                &format!("port `{}` expects no neighbour", port.name),
            );
        }
        if let Some(description) = &port.description {
            self.findings.count_facts(&PEER, 1);
            if !describes(description, device, far_port, far.party, cable.plane) {
                let message = format!(
                    "port `{}` is described as `{description}`, but its cable leads to `{device}:{far_port}`",
                    port.name
                );
                self.unlike(&PEER, FactKind::Description(&port.name), Some(id), &message);
            }
        }
    }

    /// Checks that ingress filters fit the connected device, if the language has filters.
    fn role(&mut self, port: &Port<'_>, far: End, cable: CableId) {
        let Some(faces_nic) = port.faces_nic else { return };
        self.findings.count_facts(&ROLE, 1);
        let DeviceId::Node(node) = far.party else {
            if faces_nic {
                let message = format!("port `{}` is a NIC port, but its cable leads to a switch", port.name);
                self.report(&ROLE, FactKind::Port(&port.name), &message);
            }
            return;
        };
        if !faces_nic {
            let message = format!("port `{}` is a fabric port, but its cable leads to a NIC", port.name);
            self.report(&ROLE, FactKind::Port(&port.name), &message);
        }
        let Some(inner) = self.context.nics.inner(cable) else { return };
        let foreign = |source: &Address| self.context.nics.node(*source).is_some_and(|other| other != node);
        if port.inner_sources != [inner] || !port.sources.contains(&inner) || port.sources.iter().any(foreign)
        {
            let message =
                format!("the source filter of port `{}` does not match its NIC, {inner}", port.name);
            self.report(&ROLE, FactKind::Port(&port.name), &message);
        }
    }

    fn address(&mut self, port: &Port<'_>, far: End) -> Option<Address> {
        // A P4 target has no addresses: next hops carry the MAC address instead.
        if !self.device.language.addresses {
            return None;
        }
        self.findings.count_facts(&HALVES, 1);
        let about = FactKind::Address(&port.name);
        if port.discovery.link_local
            && self.device.language.link_local == LinkLocal::Forwards
            && !self.finds_itself(far)
        {
            let message = format!("port `{}` forwards packets with link-local addresses", port.name);
            self.report(&KNOWN, about, &message);
        }
        if self.finds_itself(far) {
            if let Some(address) = port.addresses.first() {
                let message =
                    format!("port `{}` has address `{address}`, but BGP finds the other end", port.name);
                self.report(&HALVES, about, &message);
            }
            return None;
        }
        match port.addresses.as_slice() {
            [] => self.report(&HALVES, about, &format!("port `{}` has no address", port.name)),
            [address] if address.prefix_len() == 127 => return Some(address.addr()),
            [address] => {
                let message = format!("the address of port `{}`, `{address}`, is not a /127", port.name);
                self.report(&HALVES, about, &message);
                return Some(address.addr());
            }
            [first, ..] => {
                let message = format!("port `{}` has {} addresses", port.name, port.addresses.len());
                self.report(&HALVES, about, &message);
                return Some(first.addr());
            }
        }
        None
    }

    fn neighbour(&mut self, port: &Port<'_>, far: End, state: &mut EndState) {
        let about = FactKind::Neighbour(&port.name);
        let is_asked = |party: DeviceId| match party {
            DeviceId::Switch(id) => self.context.factory_macs[id.0 as usize],
            DeviceId::Node(_) => false,
        };
        let needed = match self.device.language.asks {
            NeighbourResolution::None => !is_asked(far.party),
            NeighbourResolution::Nics => matches!(far.party, DeviceId::Switch(_)) && !is_asked(far.party),
            NeighbourResolution::All => false,
        };
        if !self.device.language.addresses {
            return;
        }
        self.findings.count_facts(&NEIGHBOUR, 1);
        match port.neighbours.as_slice() {
            found if self.finds_itself(far) => {
                if let [(address, _), ..] = found {
                    let message =
                        format!("port `{}` has static neighbour {address}, but BGP finds it", port.name);
                    self.report(&NEIGHBOUR, about, &message);
                }
            }
            [] if needed => {
                self.report(&NEIGHBOUR, about, &format!("port `{}` has no static neighbour", port.name));
            }
            [] => {}
            [(address, mac), ..] if is_asked(far.party) => {
                let message = format!(
                    "port `{}` has static neighbour {address} at {mac}, but the switch there uses its \
                     factory MAC address",
                    port.name
                );
                self.report(&NEIGHBOUR, about, &message);
            }
            [(address, mac)] => {
                let expected = state.address.map(peer_address);
                if expected == Some(*address) {
                    state.neighbour = Some(*mac);
                } else {
                    let message = format!(
                        "the static neighbour of port `{}` is {address} and not the other end of its cable",
                        port.name
                    );
                    self.report(&NEIGHBOUR, about, &message);
                }
            }
            several => {
                let message = format!("port `{}` has {} static neighbours", port.name, several.len());
                self.report(&NEIGHBOUR, about, &message);
            }
        }
    }

    /// Returns whether the ends of a cable find each other by their link-local addresses.
    fn finds_itself(&self, far: End) -> bool {
        self.context.routing.speaks_bgp() && matches!(far.party, DeviceId::Switch(_))
    }

    /// Checks that ports without a cable are disabled, and have no addresses and neighbours.
    pub(crate) fn spare_ports(&mut self) {
        let device = self.device;
        for (port, slot) in device.ports.iter().zip(self.slots.clone()) {
            if slot.is_some() {
                continue;
            }
            self.findings.count_facts(&POWER, 1);
            let alive = port.commanded
                || port.up
                || !port.addresses.is_empty()
                || !port.neighbours.is_empty()
                || port.peer.is_some()
                || device.isolated_ports.contains(&*port.name)
                || port.balances == Some(true);
            if alive {
                let message = format!("port `{}` is in use, but no cable list has a cable for it", port.name);
                self.unlike(&POWER, FactKind::Port(&port.name), None, &message);
            }
        }
    }

    /// Returns the MAC addresses in routes, by slot.
    pub(crate) fn route_macs(&self) -> Vec<(u16, Mac)> {
        let hops = self.device.routes.iter().flat_map(|route| match &route.via {
            Via::Blackhole => &[],
            Via::One(hop) => std::slice::from_ref(hop),
            Via::Many(hops) => hops.as_slice(),
        });
        hops.filter_map(|hop| Some((self.slots[usize::from(hop.port)]?, hop.mac?))).collect()
    }

    /// Returns the ingress filter for packets from NICs.
    pub(crate) fn ingress(&self) -> Option<Box<IngressFilter>> {
        let (plain, denied) = self.device.plain.clone()?;
        let ports = self.device.ports.iter().zip(&self.slots);
        let sources = ports.filter_map(|(port, slot)| Some(((*slot)?, port.sources.clone()))).collect();
        Some(Box::new(IngressFilter { plain, denied, sources }))
    }
}

/// Returns whether a description names a device and port. It must be `DEVICE:PORT` for a switch, and `NODE/nicN.pP` for
/// interface `nicNpP` of a node.
fn describes(description: &str, device: &str, port: &str, party: DeviceId, plane: u8) -> bool {
    let Some(rest) = description.strip_prefix(device) else { return false };
    match party {
        DeviceId::Switch(_) => rest.strip_prefix(':') == Some(port),
        DeviceId::Node(_) => {
            let nic = port.strip_suffix(&plane.to_string()).and_then(|nic| nic.strip_suffix('p'));
            let described = rest.strip_prefix('/').and_then(|rest| rest.strip_suffix(&plane.to_string()));
            nic.is_some() && described.and_then(|rest| rest.strip_suffix(".p")) == nic
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cabling::{NodeId, SwitchId};

    #[test]
    fn descriptions_name_the_other_end() {
        let switch = DeviceId::Switch(SwitchId(0));
        let node = DeviceId::Node(NodeId(0));
        assert!(describes("p3-t1-002:Ethernet8", "p3-t1-002", "Ethernet8", switch, 3));
        assert!(!describes("p3-t1-002:Ethernet80", "p3-t1-002", "Ethernet8", switch, 3));
        assert!(describes("su001-n004/nic2.p13", "su001-n004", "nic2p13", node, 13));
        assert!(!describes("su001-n004/nic2.p3", "su001-n004", "nic2p13", node, 13));
        assert!(!describes("su001-n004/nic1.p13", "su001-n004", "nic2p13", node, 13));
    }
}
