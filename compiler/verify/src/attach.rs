//! Lays a switch over the cable lists: what its ports, routes and segments are about.
//!
//! In: a [`Device`] as its files say, and the cables. Out: a [`Switch`] without text, and what of the device
//! alone can already be seen to be wrong. Always: nothing of the device is passed over: a port, route or
//! segment is either kept or reported.

use std::net::Ipv6Addr;
use std::sync::Arc;

use closc_diagnostics::Rule;
use hashbrown::HashMap;
use smol_str::SmolStr;

use crate::check::cabling::{PEER, POWER, ROLE};
use crate::check::files::{COMPLETE, KNOWN};
use crate::check::nics::NicCables;
use crate::check::ports::{HALVES, LENGTH, NEIGHBOUR};
use crate::check::{bgp, files, routes, segments};
use crate::finding::{Findings, Violation};
use crate::model::bgp::{Process, Terms};
use crate::model::cabling::{Cable, CableId, Cabling, End, Party, Side, SwitchId};
use crate::model::device::{Device, Mac, Os, Port, Via, Wire};
use crate::model::fabric::{About, place};
use crate::model::qos::PortQos;
use crate::model::segment::{Layout, Tier};
use crate::model::switch::{Admits, EndState, Facts, FactsId, Pairs, Pool, Sizes, Switch};

/// What is needed to lay switches over the cable lists.
pub(crate) struct Context<'a> {
    /// The cable lists.
    pub(crate) cabling: &'a Cabling,
    /// Tier and plane of each switch, by its cables.
    pub(crate) positions: &'a std::collections::HashMap<SwitchId, (Tier, u8)>,
    /// How uSIDs are cut up; absent where hosts do not write the path.
    pub(crate) layout: Option<&'a Layout>,
    /// What many ports share.
    pub(crate) facts: &'a Pool<Facts>,
    /// Quality of service that many ports share.
    pub(crate) qos: &'a Pool<PortQos>,
    /// Settings and lanes that many switches share.
    pub(crate) pairs: &'a Pool<Pairs>,
    /// What holds for all sessions of a switch, shared.
    pub(crate) processes: &'a Pool<Process>,
    /// What is agreed with neighbours, shared.
    pub(crate) terms: &'a Pool<Terms>,
    /// Whether ports to switches find their neighbours themselves and have no addresses.
    pub(crate) unnumbered: bool,
    /// The NIC at the lower end of each cable: its node and inner address.
    pub(crate) nics: &'a NicCables,
}

/// Lays a switch over the cable lists.
pub(crate) fn attach(
    context: &Context<'_>,
    id: SwitchId,
    device: Device<'_>,
    findings: &mut Findings,
) -> Switch {
    let mut this = Attach {
        context,
        id,
        device: &device,
        slots: vec![None; device.ports.len()],
        lengths: device.ports.iter().any(|port| port.length_m.is_some()),
        seen: Vec::new(),
        findings,
    };
    this.identity();
    let mut ends = this.ends();
    this.spare_ports();
    let (segments, routes) = (this.segments(), this.routes());
    let speaker = bgp::speaker(&mut this);
    for (slot, mac) in this.written_macs() {
        ends[usize::from(slot)].neighbour = Some(mac);
    }
    let mut over = vec![None; ends.len()];
    for route in &routes.segments {
        over[usize::from(route.slot)] = Some(route.usid);
    }
    let position = context.positions.get(&id);
    let by_segment = || segments.first().and_then(|usid| context.layout?.tier(*usid));
    let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(SmolStr::from);
    let switch = Switch {
        os: device.os,
        tier: position.map(|(tier, _)| *tier).or_else(by_segment),
        plane: position.map(|(_, plane)| *plane),
        usids: segments,
        blackhole: routes.blackhole,
        routes: routes.segments,
        over,
        odd: routes.odd,
        speaker,
        ends,
        mac: device.mac,
        kind: text(&device.kind),
        hardware: text(&device.hardware),
        loopbacks: device.loopbacks.clone(),
        management: device.management.clone(),
        sizes: Sizes {
            segments: device.segments.len(),
            routes: device.routes.len(),
            neighbours: device.ports.iter().map(|port| port.neighbours.len()).sum(),
        },
        pools: device.qos.as_ref().and_then(|qos| qos.pools),
        settings: pairs(context, device.settings.iter().map(|(name, value)| (&**name, &**value))),
        lanes: pairs(
            context,
            device.ports.iter().filter_map(|port| Some((&*port.name, port.lanes.as_deref()?))),
        ),
        admits: this.admits(),
    };
    if context.layout.is_none() && !device.segments.is_empty() {
        let (device, slots) = (&device, Vec::new());
        let mut this = Attach { context, id, device, slots, lengths: false, seen: Vec::new(), findings };
        for segment in &device.segments {
            let message = format!("segment `{}` stands where hosts do not write the path", segment.text);
            this.broken(&files::KNOWN, About::Segment(&segment.text), &message);
        }
    }
    for fault in device.faults {
        files::fault(context.cabling.switch(id), fault, findings);
    }
    switch
}

/// Sorts names with values, and shares them with switches that have the same.
fn pairs<'a>(context: &Context<'_>, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Arc<Pairs> {
    let mut pairs: Pairs = pairs.map(|(name, value)| (name.into(), value.into())).collect();
    pairs.sort_unstable();
    context.pairs.intern(&pairs).1
}

/// What facts of a port are made of, quality of service by its number on the switch.
type FactsKey = (bool, Wire, Option<u32>, Option<bool>, Option<u16>);

/// The work on one switch.
pub(crate) struct Attach<'c, 'd> {
    pub(crate) context: &'c Context<'c>,
    pub(crate) id: SwitchId,
    pub(crate) device: &'d Device<'d>,
    /// Slot of each port of the device that has a cable.
    pub(crate) slots: Vec<Option<u16>>,
    /// Whether any port is told the length of its cable.
    lengths: bool,
    /// Facts of ports that were seen, with their number: a switch has a handful.
    seen: Vec<(FactsKey, FactsId)>,
    pub(crate) findings: &'c mut Findings,
}

impl Attach<'_, '_> {
    /// Returns the name of the switch.
    pub(crate) fn name(&self) -> &str {
        self.context.cabling.switch(self.id)
    }

    /// Reports something about the switch.
    pub(crate) fn broken(&mut self, rule: &'static Rule, about: About<'_>, message: &str) {
        let violation = self.violation(rule, about, message);
        self.findings.broken(violation);
    }

    /// Reports that the switch and the list of its plane's cables do not fit.
    pub(crate) fn unlike(
        &mut self,
        rule: &'static Rule,
        about: About<'_>,
        cable: Option<CableId>,
        message: &str,
    ) {
        let cabling = self.context.cabling;
        let list = match cable {
            Some(cable) => Some(cabling.place(cable)),
            None => cabling.list_of(self.context.positions.get(&self.id).map(|(_, plane)| *plane)),
        };
        let violation = self.violation(rule, about, message);
        self.findings.broken(list.into_iter().fold(violation, Violation::and));
    }

    fn violation(&self, rule: &'static Rule, about: About<'_>, message: &str) -> Violation {
        let name = self.context.cabling.switch(self.id);
        Violation::new(
            rule,
            place(name, self.device.os, self.device.routes_in_frr, about),
            format!("`{name}`: {message}"),
        )
    }

    fn identity(&mut self) {
        // Batch files and entries name no device: which one they are for is said by their folder alone.
        let Some(hostname) = &self.device.hostname else { return };
        self.findings.checked(&COMPLETE, 1);
        if hostname != self.name() {
            self.broken(&COMPLETE, About::Device, &format!("it calls itself `{hostname}`"));
        }
    }

    /// The ports with a cable, by slot.
    fn ends(&mut self) -> Vec<EndState> {
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
            let cable = cabling.cable(plug.cable);
            let (own, far) = cable.ends(plug.side);
            let name = cabling.names.text(own.port);
            self.findings.checked(&POWER, 1);
            let called = called(self.device.os, name);
            let Some(at) = by_name.get(called).copied().filter(|at| self.device.ports[*at].declared) else {
                let message =
                    format!("port `{name}` has a cable to `{}` and is not set up", cabling.end(far));
                self.unlike(&POWER, About::Port(name), Some(plug.cable), &message);
                ends.push(EndState::default());
                continue;
            };
            self.slots[at] = Some(slot as u16);
            let device = self.device;
            self.role(&device.ports[at], far, plug.cable);
            ends.push(self.end(&device.ports[at], plug.cable, plug.side, &qos));
        }
        ends
    }

    fn end(&mut self, port: &Port<'_>, id: CableId, side: Side, qos: &[Arc<PortQos>]) -> EndState {
        let cable = self.context.cabling.cable(id);
        let (_, far) = cable.ends(side);
        let name = &*port.name;
        if !port.up {
            let message =
                format!("port `{name}` has a cable to `{}` and is off", self.context.cabling.end(far));
            self.unlike(&POWER, About::Port(name), Some(id), &message);
        }
        self.peer(port, id, cable, far);
        if port.length_m.is_none() && self.lengths {
            self.findings.checked(&LENGTH, 1);
            self.broken(&LENGTH, About::Length(name), &format!("port `{name}` is told no cable length"));
        }
        let mut state = EndState::of(self.facts(port, qos), port.mac.or(self.device.mac));
        let address = self.address(port, far);
        if let Some(address) = address {
            state.set_address(address);
        }
        self.neighbour(port, far, address, &mut state);
        state
    }

    fn facts(&mut self, port: &Port<'_>, qos: &[Arc<PortQos>]) -> FactsId {
        let key = (port.up, port.wire, port.length_m, port.faces_nic, port.qos);
        if let Some((_, id)) = self.seen.iter().find(|(seen, _)| *seen == key) {
            return *id;
        }
        let id = self.context.facts.facts(&Facts {
            up: port.up,
            wire: port.wire,
            length_m: port.length_m,
            faces_nic: port.faces_nic,
            qos: port.qos.and_then(|at| qos.get(usize::from(at)).cloned()),
        });
        self.seen.push((key, id));
        id
    }

    /// The neighbour that the device expects, in whatever way its language says so.
    fn peer(&mut self, port: &Port<'_>, id: CableId, cable: &Cable, far: End) {
        let cabling = self.context.cabling;
        let (device, far_port) = (cabling.party(far.party), cabling.names.text(far.port));
        if let Some((expected, expected_port)) = &port.peer {
            self.findings.checked(&PEER, 1);
            if expected != device || expected_port != far_port {
                let message = format!(
                    "port `{}` expects `{expected}:{expected_port}`, and its cable leads to `{device}:{far_port}`",
                    port.name
                );
                self.unlike(&PEER, About::Peer(&port.name), Some(id), &message);
            }
        } else if self.device.os == Os::Sonic {
            self.findings.checked(&PEER, 1);
            self.broken(
                &PEER,
                About::Peer(&port.name),
                &format!("port `{}` expects no neighbour", port.name),
            );
        }
        if let Some(description) = &port.description {
            self.findings.checked(&PEER, 1);
            if !describes(description, device, far_port, far.party, cable.plane) {
                let message = format!(
                    "port `{}` is described as `{description}`, and its cable leads to `{device}:{far_port}`",
                    port.name
                );
                self.unlike(&PEER, About::Description(&port.name), Some(id), &message);
            }
        }
    }

    /// What comes in is checked as fits what is plugged, where the language checks it.
    fn role(&mut self, port: &Port<'_>, far: End, cable: CableId) {
        let Some(faces_nic) = port.faces_nic else { return };
        self.findings.checked(&ROLE, 1);
        let Party::Node(node) = far.party else {
            if faces_nic {
                let message = format!("port `{}` is a NIC port, and a switch is plugged", port.name);
                self.broken(&ROLE, About::Port(&port.name), &message);
            }
            return;
        };
        if !faces_nic {
            let message = format!("port `{}` is a fabric port, and a NIC is plugged", port.name);
            self.broken(&ROLE, About::Port(&port.name), &message);
        }
        let Some(inner) = self.context.nics.inner(cable) else { return };
        let foreign = |source: &Ipv6Addr| self.context.nics.node(*source).is_some_and(|other| other != node);
        if port.inner_sources != [inner] || !port.sources.contains(&inner) || port.sources.iter().any(foreign)
        {
            let message =
                format!("port `{}` does not admit exactly what its NIC sends, from {inner}", port.name);
            self.broken(&ROLE, About::Port(&port.name), &message);
        }
    }

    fn address(&mut self, port: &Port<'_>, far: End) -> Option<Ipv6Addr> {
        // A P4 target has no addresses: next hops carry the MAC address instead.
        if self.device.os == Os::P4 {
            return None;
        }
        self.findings.checked(&HALVES, 1);
        let about = About::Address(&port.name);
        if port.hello.link_local && self.device.os == Os::Sonic && !self.finds_itself(far) {
            let message = format!("port `{}` forwards by link-local addresses", port.name);
            self.broken(&KNOWN, about, &message);
        }
        if self.finds_itself(far) {
            if let Some(address) = port.addresses.first() {
                let message =
                    format!("port `{}` has address `{address}`, and BGP finds the other end", port.name);
                self.broken(&HALVES, about, &message);
            }
            return None;
        }
        match port.addresses.as_slice() {
            [] => self.broken(&HALVES, about, &format!("port `{}` has no address", port.name)),
            [address] if address.prefix_len() == 127 => return Some(address.addr()),
            [address] => {
                let message = format!("the address of port `{}`, `{address}`, is no /127", port.name);
                self.broken(&HALVES, about, &message);
                return Some(address.addr());
            }
            [first, ..] => {
                let message = format!("port `{}` has {} addresses", port.name, port.addresses.len());
                self.broken(&HALVES, about, &message);
                return Some(first.addr());
            }
        }
        None
    }

    fn neighbour(&mut self, port: &Port<'_>, far: End, own: Option<Ipv6Addr>, state: &mut EndState) {
        let about = About::Neighbour(&port.name);
        let needed = matches!(far.party, Party::Switch(_)) || self.device.os != Os::Sonic;
        if self.device.os == Os::P4 {
            return;
        }
        self.findings.checked(&NEIGHBOUR, 1);
        match port.neighbours.as_slice() {
            found if self.finds_itself(far) => {
                if let [(address, _), ..] = found {
                    let message =
                        format!("port `{}` has static neighbour {address}, and BGP finds it", port.name);
                    self.broken(&NEIGHBOUR, about, &message);
                }
            }
            [] if needed => {
                self.broken(&NEIGHBOUR, about, &format!("port `{}` has no static neighbour", port.name));
            }
            [] => {}
            [(address, mac)] => {
                let expected = own.map(other_half);
                if expected == Some(*address) {
                    state.neighbour = Some(*mac);
                } else {
                    let message = format!(
                        "the static neighbour of port `{}` is {address} and not the other end of its cable",
                        port.name
                    );
                    self.broken(&NEIGHBOUR, about, &message);
                }
            }
            several => {
                let message = format!("port `{}` has {} static neighbours", port.name, several.len());
                self.broken(&NEIGHBOUR, about, &message);
            }
        }
    }

    /// Tells whether the ends of a cable find each other by their link-local addresses.
    fn finds_itself(&self, far: End) -> bool {
        self.context.unnumbered && matches!(far.party, Party::Switch(_))
    }

    /// Ports without a cable are off and know nobody.
    fn spare_ports(&mut self) {
        let device = self.device;
        for (port, slot) in device.ports.iter().zip(self.slots.clone()) {
            if slot.is_some() {
                continue;
            }
            self.findings.checked(&POWER, 1);
            let alive =
                port.up || !port.addresses.is_empty() || !port.neighbours.is_empty() || port.peer.is_some();
            if alive {
                let message = format!("port `{}` is in use, and no cable list has a cable in it", port.name);
                self.unlike(&POWER, About::Port(&port.name), None, &message);
            }
        }
    }

    /// MAC addresses that routes carry themselves.
    fn written_macs(&self) -> Vec<(u16, Mac)> {
        let hops = self.device.routes.iter().flat_map(|route| match &route.via {
            Via::Blackhole => &[],
            Via::One(hop) => std::slice::from_ref(hop),
            Via::Many(hops) => hops.as_slice(),
        });
        hops.filter_map(|hop| Some((self.slots[usize::from(hop.port)]?, hop.mac?))).collect()
    }

    /// What NICs may send.
    fn admits(&self) -> Option<Box<Admits>> {
        let (plain, denied) = self.device.plain.clone()?;
        let ports = self.device.ports.iter().zip(&self.slots);
        let sources = ports.filter_map(|(port, slot)| Some(((*slot)?, port.sources.clone()))).collect();
        Some(Box::new(Admits { plain, denied, sources }))
    }

    fn segments(&mut self) -> Vec<crate::model::segment::Usid> {
        segments::own(self)
    }

    fn routes(&mut self) -> routes::Routes {
        routes::sort(self)
    }
}

/// Returns what the device calls a port of the cable list: P4 targets know numbers only.
fn called(os: Os, name: &str) -> &str {
    match os {
        Os::P4 => &name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..],
        Os::Sonic | Os::Frr | Os::Linux => name,
    }
}

/// Returns the other address of a /127.
pub(crate) fn other_half(address: Ipv6Addr) -> Ipv6Addr {
    Ipv6Addr::from(u128::from(address) ^ 1)
}

/// Tells whether a description names a device and port: `DEVICE:PORT` for switches, and for NICs
/// `NODE/nicN.pP` for interface `nicNpP`.
fn describes(description: &str, device: &str, port: &str, party: Party, plane: u8) -> bool {
    let Some(rest) = description.strip_prefix(device) else { return false };
    match party {
        Party::Switch(_) => rest.strip_prefix(':') == Some(port),
        Party::Node(_) => {
            let nic = port.strip_suffix(&plane.to_string()).and_then(|nic| nic.strip_suffix('p'));
            let described = rest.strip_prefix('/').and_then(|rest| rest.strip_suffix(&plane.to_string()));
            nic.is_some() && described.and_then(|rest| rest.strip_suffix(".p")) == nic
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cabling::NodeId;

    #[test]
    fn descriptions_name_the_other_end() {
        let switch = Party::Switch(SwitchId(0));
        let node = Party::Node(NodeId(0));
        assert!(describes("p3-t1-002:Ethernet8", "p3-t1-002", "Ethernet8", switch, 3));
        assert!(!describes("p3-t1-002:Ethernet80", "p3-t1-002", "Ethernet8", switch, 3));
        assert!(describes("su001-n004/nic2.p13", "su001-n004", "nic2p13", node, 13));
        assert!(!describes("su001-n004/nic2.p3", "su001-n004", "nic2p13", node, 13));
        assert!(!describes("su001-n004/nic1.p13", "su001-n004", "nic2p13", node, 13));
    }
}
