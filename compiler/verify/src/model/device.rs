//! One switch in full, as its files say, borrowed from them.
//!
//! Every reader fills this in. What a language does not say is absent; what it says and the model has no place
//! for is a fault, because a proof must not overlook anything.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use closc_artefacts::{Address, Prefix};
use ipnet::IpNet;

use crate::model::bgp::Config;
use crate::model::language::Language;
use crate::model::peer::Peer;
use crate::model::qos::QosConfig;

/// An Ethernet address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Mac(pub(crate) [u8; 6]);

impl std::fmt::Display for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02x}", if at == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Mac {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|part| part.len() == 2).ok_or("not six bytes")?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| "not hexadecimal")?;
        }
        if parts.next().is_some() { Err("more than six bytes") } else { Ok(Mac(bytes)) }
    }
}

/// One switch in full.
#[derive(Debug, Clone)]
pub(crate) struct Device<'a> {
    /// Its language.
    pub(crate) language: &'static Language,
    /// The name it gives itself.
    pub(crate) hostname: Option<Cow<'a, str>>,
    /// SONiC's `type`, by which hashes are seeded.
    pub(crate) kind: Option<Cow<'a, str>>,
    /// Hardware, by which limits are looked up.
    pub(crate) hardware: Option<Cow<'a, str>>,
    /// Its name of the box, if any.
    pub(crate) platform: Option<Cow<'a, str>>,
    /// MAC address of the switch, where it has one for all ports.
    pub(crate) mac: Option<Mac>,
    /// Loopback addresses.
    pub(crate) loopbacks: Vec<Prefix>,
    /// Management addresses, each with its gateway.
    pub(crate) management: Vec<(IpNet, Option<IpAddr>)>,
    /// Statements about its neighbours besides their names.
    pub(crate) peers: Arc<[Peer]>,
    /// Own segments.
    pub(crate) segments: Vec<Segment<'a>>,
    /// Routes.
    pub(crate) routes: Vec<Route<'a>>,
    /// Ports.
    pub(crate) ports: Vec<Port<'a>>,
    /// The autonomous system number that the configuration beside BGP's own gives, where it gives one.
    pub(crate) asn: Option<u32>,
    /// BGP, where it is spoken.
    pub(crate) bgp: Option<Config<'a>>,
    /// Whether routes are in an `frr.conf` beside the configuration.
    pub(crate) routes_in_frr: bool,
    /// Quality of service, where the language has any.
    pub(crate) qos: Option<Arc<QosConfig>>,
    /// Settings of the whole device that are the same on all of its kind.
    pub(crate) settings: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Destinations that NICs may send plain packets to, and those they may not, where the language says.
    pub(crate) plain: Option<(Vec<Prefix>, Vec<Prefix>)>,
    /// Counters that are switched on, where the language says.
    pub(crate) counters: Vec<Cow<'a, str>>,
    /// Settings outside the fabric, by name: a site sets them freely.
    pub(crate) not_judged: Vec<String>,
    /// Forbidden statements, and missing ones.
    pub(crate) faults: Vec<Fault>,
}

/// Something in a file that no rule about the fabric covers: unknown words, references that lead nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Kind of error.
    pub(crate) kind: FaultKind,
    /// One line.
    pub(crate) message: String,
    /// File in the switch's folder.
    pub(crate) file: &'static str,
    /// Text to look for to find the line.
    pub(crate) needles: Vec<String>,
}

/// Kind of error of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// A word or table that the proof does not know.
    Unknown,
    /// A name that nothing bears.
    Dangling,
    /// A segment that does not do what a uN does.
    Segment,
    /// A setting of the whole device that forwarding depends on.
    Setting,
    /// Quality of service.
    Qos,
    /// A file of another device.
    Identity,
}

/// An own segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment<'a> {
    /// Block and uSID.
    pub(crate) prefix: Prefix,
    /// As it is written.
    pub(crate) text: Cow<'a, str>,
}

/// A route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route<'a> {
    /// Where to.
    pub(crate) prefix: Prefix,
    /// As it is written.
    pub(crate) text: Cow<'a, str>,
    /// Event.
    pub(crate) via: Via,
}

/// Effect of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Via {
    /// Drops.
    Blackhole,
    /// Forwards over one port.
    One(Hop),
    /// Forwards over several; never empty.
    Many(Vec<Hop>),
}

/// A next hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    /// Index in [`Device::ports`].
    pub(crate) port: u16,
    /// Address at the other end, where the language names one.
    pub(crate) gateway: Option<Address>,
    /// MAC address at the other end, where the route carries one.
    pub(crate) mac: Option<Mac>,
    /// Share of the traffic.
    pub(crate) weight: u32,
}

/// A port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Port<'a> {
    /// Its name.
    pub(crate) name: Cow<'a, str>,
    /// Whether it is set up at all, and not only mentioned.
    pub(crate) declared: bool,
    /// Whether a command is about it, which fails where there is no such port.
    pub(crate) commanded: bool,
    /// Whether it is switched on.
    pub(crate) up: bool,
    /// Text for people.
    pub(crate) description: Option<Cow<'a, str>>,
    /// Own addresses.
    pub(crate) addresses: Vec<Prefix>,
    /// Device and port at the other end.
    pub(crate) peer: Option<(Cow<'a, str>, Cow<'a, str>)>,
    /// Static neighbours.
    pub(crate) neighbours: Vec<(Address, Mac)>,
    /// Values that both ends must share.
    pub(crate) wire: Wire,
    /// Number of serial lanes of the port, if the language states it beside the speed.
    pub(crate) lane_count: Option<u8>,
    /// Serial lanes behind the port, where the language says.
    pub(crate) lanes: Option<Cow<'a, str>>,
    /// Names of its cage: alias, number of the cage, part of it; where the language states them.
    pub(crate) cage: Option<[Cow<'a, str>; 3]>,
    /// Length of the cable in whole metres, where buffers depend on it.
    pub(crate) length_m: Option<u32>,
    /// Its neighbour discovery.
    pub(crate) discovery: NeighbourDiscovery,
    /// Own MAC address, where it is set.
    pub(crate) mac: Option<Mac>,
    /// Index in [`QosConfig::ports`].
    pub(crate) qos: Option<u16>,
    /// Whether NICs are expected at the other end, where the language says so.
    pub(crate) faces_nic: Option<bool>,
    /// Outer addresses that may come in, where the language checks them.
    pub(crate) sources: Vec<Address>,
    /// Inner addresses that may come in, where the language checks them.
    pub(crate) inner_sources: Vec<Address>,
}

/// Neighbour discovery of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct NeighbourDiscovery {
    /// Whether a link-local address is made, where the language says so.
    pub(crate) link_local: bool,
    /// Whether it tells its neighbour who it is by router advertisements.
    pub(crate) advertises: bool,
}

/// Values that both ends of a cable must share. Absent: not stated by the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Wire {
    /// Speed in Mb/s.
    pub(crate) speed: Option<u32>,
    /// Largest packet.
    pub(crate) mtu: Option<u16>,
    /// Whether forward error correction is on.
    pub(crate) fec: Option<bool>,
}

impl<'a> Device<'a> {
    /// Starts an empty device.
    pub(crate) fn new(language: &'static Language) -> Self {
        Device {
            language,
            hostname: None,
            kind: None,
            hardware: None,
            platform: None,
            mac: None,
            loopbacks: Vec::new(),
            management: Vec::new(),
            peers: Arc::default(),
            segments: Vec::new(),
            routes: Vec::new(),
            ports: Vec::new(),
            asn: None,
            bgp: None,
            routes_in_frr: false,
            qos: None,
            settings: Vec::new(),
            plain: None,
            counters: Vec::new(),
            not_judged: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Adds a fault.
    pub(crate) fn fault(
        &mut self,
        kind: FaultKind,
        file: &'static str,
        needles: Vec<String>,
        message: String,
    ) {
        self.faults.push(Fault { kind, message, file, needles });
    }

    /// Returns a port by index.
    pub(crate) fn port(&self, index: u16) -> &Port<'a> {
        &self.ports[usize::from(index)]
    }
}

/// The ports of a device under construction, found by name.
#[derive(Debug, Default)]
pub(crate) struct Ports<'a> {
    list: Vec<Port<'a>>,
    by_name: hashbrown::HashMap<Cow<'a, str>, u16>,
    /// The next port in the order of the list: rows of one table follow the order of another.
    next: usize,
}

impl<'a> Ports<'a> {
    /// Returns the index of a port, of a new one if it is not known.
    pub(crate) fn index(&mut self, name: Cow<'a, str>) -> u16 {
        self.find(&name).unwrap_or_else(|| self.push(name))
    }

    /// Returns a port to fill in.
    pub(crate) fn port(&mut self, name: Cow<'a, str>) -> &mut Port<'a> {
        let index = self.index(name);
        &mut self.list[usize::from(index)]
    }

    /// Returns a port to fill in, by a name that is not kept.
    pub(crate) fn port_named(&mut self, name: &str) -> &mut Port<'a> {
        let index = self.find(name).unwrap_or_else(|| self.push(Cow::Owned(name.to_owned())));
        &mut self.list[usize::from(index)]
    }

    fn find(&mut self, name: &str) -> Option<u16> {
        for at in [self.next.wrapping_sub(1), self.next] {
            if self.list.get(at).is_some_and(|port| port.name == name) {
                self.next = at + 1;
                return Some(at as u16);
            }
        }
        let known = *self.by_name.get(name)?;
        self.next = usize::from(known) + 1;
        Some(known)
    }

    fn push(&mut self, name: Cow<'a, str>) -> u16 {
        let index = self.list.len() as u16;
        self.by_name.insert(name.clone(), index);
        self.list.push(Port { name, ..Port::default() });
        self.next = self.list.len();
        index
    }

    /// Makes room for so many.
    pub(crate) fn reserve(&mut self, ports: usize) {
        self.list.reserve(ports);
        self.by_name.reserve(ports);
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Ends the construction.
    pub(crate) fn finish(self) -> Vec<Port<'a>> {
        self.list
    }
}

/// Returns the other address of a /127.
pub(crate) fn other_half(address: Address) -> Address {
    Address::from(u128::from(address) ^ 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_keep_their_number_in_whatever_order_they_are_named() {
        let mut ports = Ports::default();
        let all: Vec<u16> =
            ["a", "b", "c", "a", "b", "c", "c", "a"].iter().map(|n| ports.index(Cow::Borrowed(n))).collect();
        assert_eq!(all, [0, 1, 2, 0, 1, 2, 2, 0]);
        assert_eq!(ports.finish().len(), 3);
    }

    #[test]
    fn mac_addresses_have_six_bytes() {
        let mac: Mac = "02:c1:00:00:00:0a".parse().unwrap();
        assert_eq!(mac.to_string(), "02:c1:00:00:00:0a");
        for bad in ["", "02:c1:00:00:00", "02:c1:00:00:00:00:00", "2:c1:00:00:00:00", "02:c1:00:00:00:zz"] {
            assert!(bad.parse::<Mac>().is_err(), "{bad}");
        }
    }
}
