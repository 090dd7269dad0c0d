//! The contents of a device's batch file that determine expected results.
//!
//! In: the commands of an `ip.batch`. Out: [`Batch`]: own segments, routes to neighbours' segments, addresses of ports.
//! Invariants: this module only reads the commands; `ip` runs them.

use std::collections::BTreeMap;

use closc_artefacts::{Address, Prefix};

use super::ip::{Action, Command, Hop, Mac, Route};

/// The device that segments are bound to.
const BRIDGE: &str = "sr0";

/// Contents of a device's batch file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Own segments, in the order of the file.
    pub segments: Vec<Segment>,
    /// Egress port of each plain route; the first one if there are several.
    pub egress_ports: BTreeMap<Prefix, String>,
    /// MAC address of each port.
    pub macs: BTreeMap<String, Mac>,
    /// Host addresses of the device that segments are bound to: those of NICs, or of a loopback.
    pub addresses: Vec<Address>,
    /// Static neighbours by port.
    pub neighbours: BTreeMap<String, Neighbour>,
}

/// An own segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Block and uSID.
    pub prefix: Prefix,
    /// Whether it decapsulates; otherwise it shifts and forwards.
    pub decapsulates: bool,
}

/// A static neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// Its address; unspecified if a switch only has the MAC address.
    pub address: Address,
    /// Its MAC address.
    pub mac: Mac,
}

impl Batch {
    /// Reads commands.
    pub fn of(commands: &[Command]) -> Batch {
        let mut batch = Batch::default();
        for command in commands {
            batch.take(command);
        }
        batch
    }

    fn take(&mut self, command: &Command) {
        match command {
            Command::Link { port, mac: Some(mac), .. } => {
                self.macs.insert(port.to_string(), *mac);
            }
            Command::Neighbour { address, mac, port } => {
                self.neighbours.insert(port.to_string(), Neighbour { address: *address, mac: *mac });
            }
            Command::Route(route) => self.route(route),
            Command::Address { address, port } if &**port == BRIDGE && address.prefix_len() == 128 => {
                self.addresses.push(address.addr());
            }
            Command::AddBridge(_)
            | Command::Rule { .. }
            | Command::Link { mac: None, .. }
            | Command::Address { .. }
            | Command::NextHop { .. }
            | Command::Group { .. }
            | Command::TunnelSource(_) => {}
        }
    }

    fn route(&mut self, route: &Route) {
        let prefix = route.to;
        match &route.action {
            Action::Shift(_) => self.segments.push(Segment { prefix, decapsulates: false }),
            Action::Decapsulate(_) => self.segments.push(Segment { prefix, decapsulates: true }),
            Action::Forward(hops) => {
                let [Hop { port, .. }, ..] = hops.as_slice() else { return };
                self.egress_ports.entry(prefix).or_insert_with(|| port.to_string());
            }
            Action::Blackhole | Action::Unreachable | Action::NextHop(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_ways_and_neighbours_are_read() {
        let commands = Command::read_all(
            "# a comment\n\
             link set dev eth1 address 02:c1:00:00:00:01 mtu 9216 addrgenmode none\n\
             neighbour replace 2001:db8::a lladdr 02:d0:00:01:00:01 dev eth1 nud permanent\n\
             route replace fcbb:bbbb:1::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 count dev sr0\n\
             route replace fcbb:bbbb:8001::/48 encap seg6local action End.DT6 table 255 count dev sr0\n\
             route replace fcbb:bbbb:4001::/48 via 2001:db8::b dev eth3\n\
             route replace blackhole fcbb:bbbb::/32\n",
        )
        .unwrap();
        let batch = Batch::of(&commands);
        let segments: Vec<_> =
            batch.segments.iter().map(|s| (s.prefix.to_string(), s.decapsulates)).collect();
        assert_eq!(segments, [("fcbb:bbbb:1::/48".into(), false), ("fcbb:bbbb:8001::/48".into(), true)]);
        assert_eq!(batch.egress_ports.values().collect::<Vec<_>>(), ["eth3"]);
        assert_eq!(batch.macs["eth1"].to_string(), "02:c1:00:00:00:01");
        assert_eq!(batch.neighbours["eth1"].address, "2001:db8::a".parse::<Address>().unwrap());
    }
}
