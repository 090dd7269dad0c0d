//! A complete switch, borrowed from its files.
//!
//! Every reader produces one [`Device`]. Values that a language cannot express are absent. Statements that the model
//! cannot represent are faults, because the proof must not ignore anything.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use closc_artefacts::{Address, Prefix};
use closc_platform::Balance;
use ipnet::IpNet;

use crate::model::bgp::Config;
use crate::model::language::Language;
use crate::model::peer::Peer;
use crate::model::place::Target;
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

/// A complete switch.
#[derive(Debug, Clone)]
pub(crate) struct Device<'a> {
    pub(crate) language: &'static Language,
    pub(crate) hostname: Option<Cow<'a, str>>,
    /// SONiC's `type`, which determines hash seeds.
    pub(crate) kind: Option<Cow<'a, str>>,
    /// Hardware, which determines table limits.
    pub(crate) hardware: Option<Cow<'a, str>>,
    /// Platform name, if any.
    pub(crate) platform: Option<Cow<'a, str>>,
    /// MAC address of the switch, if all ports share one.
    pub(crate) mac: Option<Mac>,
    /// Loopback addresses.
    pub(crate) loopbacks: Vec<Prefix>,
    /// Management addresses, each with its gateway.
    pub(crate) management: Vec<(IpNet, Option<IpAddr>)>,
    /// Configured values of its neighbours, besides their names.
    pub(crate) peers: Arc<[Peer]>,
    /// Own segments.
    pub(crate) segments: Vec<Segment<'a>>,
    pub(crate) routes: Vec<Route<'a>>,
    pub(crate) ports: Vec<Port<'a>>,
    /// Names of ports that drop all received IPv6 packets except ICMPv6.
    pub(crate) isolated_ports: BTreeSet<String>,
    /// AS number outside the BGP configuration, if there is one.
    pub(crate) asn: Option<u32>,
    /// BGP settings, if it uses BGP.
    pub(crate) bgp: Option<Config<'a>>,
    /// Whether routes are in a separate `frr.conf`.
    pub(crate) routes_in_frr: bool,
    /// Load balancing over next hops, if it does not use a hash.
    pub(crate) balance: Option<DeviceBalance>,
    /// QoS settings, if the language has any.
    pub(crate) qos: Option<Arc<QosConfig>>,
    /// Device-wide settings that are the same on all switches of its kind.
    pub(crate) settings: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Allowed and denied destinations of plain packets from NICs, if the language states them.
    pub(crate) plain: Option<(Vec<Prefix>, Vec<Prefix>)>,
    /// Enabled counters, if the language states them.
    pub(crate) counters: Vec<Cow<'a, str>>,
    /// Settings that do not affect the fabric, by name. Sites may set them freely.
    pub(crate) not_judged: Vec<String>,
    /// Forbidden and missing statements.
    pub(crate) faults: Vec<Fault>,
}

/// Load balancing of a switch over next hops, other than by hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceBalance {
    pub(crate) kind: Balance,
    /// Maximum number of next-hop groups, if the language states it.
    pub(crate) groups: Option<u64>,
}

/// A fault in a file that no rule about the fabric covers, such as an unknown keyword or a dangling reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Kind of error.
    pub(crate) kind: FaultKind,
    /// Message of one line.
    pub(crate) message: String,
    /// File in the folder of the switch.
    pub(crate) file: &'static str,
    /// Location of the fault in the file.
    pub(crate) target: Target,
}

/// Kind of error of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// A keyword or table that the verifier does not know.
    Unknown,
    /// A reference to a name that is not defined.
    Dangling,
    /// A segment that does not behave as a uN.
    Segment,
    /// A device-wide setting that affects forwarding.
    Setting,
    /// Quality of service.
    Qos,
    /// The list of isolated ports.
    Isolation,
    /// A file that belongs to another device.
    Identity,
}

/// An own segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment<'a> {
    /// Block and uSID, as a prefix.
    pub(crate) prefix: Prefix,
    /// The segment, as written in the file.
    pub(crate) text: Cow<'a, str>,
}

/// A route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route<'a> {
    /// Destination.
    pub(crate) prefix: Prefix,
    /// The prefix, as written in the file.
    pub(crate) text: Cow<'a, str>,
    pub(crate) via: Via,
}

/// Action of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Via {
    /// Drops packets.
    Blackhole,
    /// Forwards through one port.
    One(Hop),
    /// Forwards through several ports; never empty.
    Many(Vec<Hop>),
}

/// A next hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    /// Index in [`Device::ports`].
    pub(crate) port: u16,
    /// Address at the other end, if the language states it.
    pub(crate) gateway: Option<Address>,
    /// MAC address at the other end, if the route contains it.
    pub(crate) mac: Option<Mac>,
    /// Share of the traffic, relative to the other next hops.
    pub(crate) weight: u32,
}

/// A port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Port<'a> {
    pub(crate) name: Cow<'a, str>,
    /// Whether the port is configured, not only referenced.
    pub(crate) declared: bool,
    /// Whether a command refers to the port. Such a command fails if the port does not exist.
    pub(crate) commanded: bool,
    /// Whether the port is enabled.
    pub(crate) up: bool,
    /// Description.
    pub(crate) description: Option<Cow<'a, str>>,
    /// Addresses of the port.
    pub(crate) addresses: Vec<Prefix>,
    /// Device and port at the other end.
    pub(crate) peer: Option<(Cow<'a, str>, Cow<'a, str>)>,
    /// Static neighbours.
    pub(crate) neighbours: Vec<(Address, Mac)>,
    /// Values that both ends must share.
    pub(crate) wire: Wire,
    /// Number of serial lanes of the port, if the language states it along with the speed.
    pub(crate) lane_count: Option<u8>,
    /// Serial lanes of the port, if the language states them.
    pub(crate) lanes: Option<Cow<'a, str>>,
    /// Alias of the port, number of its cage and position in the cage, if the language states them.
    pub(crate) cage: Option<[Cow<'a, str>; 3]>,
    /// Cable length in whole metres, if buffers depend on it.
    pub(crate) length_m: Option<u32>,
    /// Its neighbour discovery.
    pub(crate) discovery: NeighbourDiscovery,
    /// MAC address of the port, if it is set.
    pub(crate) mac: Option<Mac>,
    /// Whether the port takes part in load balancing, if the language states this per port.
    pub(crate) balances: Option<bool>,
    /// Index in [`QosConfig::ports`].
    pub(crate) qos: Option<u16>,
    /// Whether NICs are expected at the other end, if the language states this.
    pub(crate) faces_nic: Option<bool>,
    /// Accepted outer source addresses, if the language checks them.
    pub(crate) sources: Vec<Address>,
    /// Accepted inner source addresses, if the language checks them.
    pub(crate) inner_sources: Vec<Address>,
}

/// Neighbour discovery of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct NeighbourDiscovery {
    /// Whether a link-local address is generated, if the language states this.
    pub(crate) link_local: bool,
    /// Whether the port sends router advertisements.
    pub(crate) advertises: bool,
}

/// Values that both ends of a cable must share; absent if the language does not state them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Wire {
    /// Speed in Mb/s.
    pub(crate) speed: Option<u32>,
    /// MTU in bytes.
    pub(crate) mtu: Option<u16>,
    /// Whether forward error correction is on.
    pub(crate) fec: Option<bool>,
    /// Whether the port negotiates the speed and trains the link.
    pub(crate) negotiates: Option<bool>,
}

impl<'a> Device<'a> {
    /// Creates an empty device.
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
            isolated_ports: BTreeSet::new(),
            asn: None,
            bgp: None,
            routes_in_frr: false,
            balance: None,
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
        target: impl Into<Target>,
        message: String,
    ) {
        self.faults.push(Fault { kind, message, file, target: target.into() });
    }

    /// Returns a port by index.
    pub(crate) fn port(&self, index: u16) -> &Port<'a> {
        &self.ports[usize::from(index)]
    }
}

/// The ports of a device under construction, by name.
#[derive(Debug, Default)]
pub(crate) struct Ports<'a> {
    list: Vec<Port<'a>>,
    by_name: hashbrown::HashMap<Cow<'a, str>, u16>,
    /// The port expected next: rows of one table usually follow the order of another.
    next: usize,
}

impl<'a> Ports<'a> {
    /// Returns the index of a port; adds the port if it is unknown.
    pub(crate) fn index(&mut self, name: Cow<'a, str>) -> u16 {
        self.find(&name).unwrap_or_else(|| self.push(name))
    }

    /// Returns a port for changes; adds it if it is unknown.
    pub(crate) fn port(&mut self, name: Cow<'a, str>) -> &mut Port<'a> {
        let index = self.index(name);
        &mut self.list[usize::from(index)]
    }

    /// As [`Ports::port`], with a borrowed name.
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

    /// Reserves memory for a number of ports.
    pub(crate) fn reserve(&mut self, ports: usize) {
        self.list.reserve(ports);
        self.by_name.reserve(ports);
    }

    /// Returns the number of ports.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns all ports.
    pub(crate) fn finish(self) -> Vec<Port<'a>> {
        self.list
    }
}

/// Returns the other address of a /127.
pub(crate) fn peer_address(address: Address) -> Address {
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
