//! The commands of batch files that a lab allows for `ip`.
//!
//! In: a line of `ip.batch`, `devices.batch` or `routes.batch`. Out: a [`Command`], and its text for `ip`. Invariants:
//! the input of `ip` is written from the [`Command`], never copied from the file. Every command affects only links,
//! addresses, neighbours and routes of one namespace.

mod parse;

use std::fmt;

use closc_artefacts::{Address, Family, Prefix};

use crate::error::TreeFault;
use crate::name::Interface;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Creates the bridge to which segments are bound.
    AddBridge(Interface),
    /// Selects a routing table for packets from an IPv4 address.
    Rule {
        /// The address.
        from: Prefix,
        /// The table, and the priority of the rule.
        table: u16,
    },
    /// Changes a link.
    Link {
        /// The link.
        port: Interface,
        /// Its MAC address.
        mac: Option<Mac>,
        /// The MTU.
        mtu: Option<u32>,
        /// Generation of its link-local address.
        addresses: Option<AddressMode>,
        /// Whether to set it up.
        up: bool,
    },
    /// Adds an address to a link, without duplicate address detection.
    Address {
        /// The address, with the length of its prefix.
        address: Prefix,
        /// The link.
        port: Interface,
    },
    /// Adds a static neighbour.
    Neighbour {
        /// Its address.
        address: Address,
        /// Its MAC address.
        mac: Mac,
        /// The link.
        port: Interface,
    },
    /// Adds a route.
    Route(Route),
    /// Adds a next hop that encapsulates.
    NextHop {
        /// Its number.
        id: u32,
        /// The segment list, which is the outer destination address.
        segments: Address,
        /// The gateway and the link.
        hop: Hop,
    },
    /// Adds a group of next hops.
    Group {
        /// Its number.
        id: u32,
        /// Its members, by number, with their weights.
        members: Vec<(u32, u8)>,
    },
    /// Sets the source address of outer headers.
    TunnelSource(Address),
}

/// Generation of a link-local address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressMode {
    /// Not generated.
    None,
    /// From the MAC address.
    Eui64,
}

/// A route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Destination.
    pub to: Prefix,
    /// Sources to which it applies; `None` for all.
    pub from: Option<Prefix>,
    /// Source address of sockets that are not bound to an address.
    pub source: Option<Address>,
    /// The table of an IPv4 route; `None` for the main table.
    pub table: Option<u16>,
    /// Treatment of packets.
    pub action: Action,
    /// Metric; the lowest wins.
    pub metric: Option<u32>,
    /// The MTU.
    pub mtu: Option<u32>,
}

/// Treatment of packets by a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Drops them.
    Blackhole,
    /// Drops them, and sends an ICMP error.
    Unreachable,
    /// Forwards them to one of these next hops.
    Forward(Vec<Hop>),
    /// Forwards them to a next hop or next-hop group, by id.
    NextHop(u32),
    /// Shifts the segment list and forwards by the next segment.
    Shift(Interface),
    /// Decapsulates them.
    Decapsulate(Interface),
}

/// A next hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// The neighbour.
    pub gateway: Option<Address>,
    /// The link.
    pub port: Interface,
    /// Its weight.
    pub weight: u16,
}

/// A MAC address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mac(pub [u8; 6]);

impl Command {
    /// Reads the commands of a file.
    pub(crate) fn read_all(text: &str) -> Result<Vec<Command>, TreeFault> {
        let mut commands = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let words = line.split('#').next().unwrap_or("");
            let command =
                parse::line(words).map_err(|what| TreeFault::Line { line: number + 1, message: what })?;
            commands.extend(command);
        }
        Ok(commands)
    }

    /// Writes commands for `ip -batch`, one per line.
    pub(crate) fn write_all(commands: &[Command]) -> String {
        commands.iter().map(|command| command.to_string() + "\n").collect()
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Rule { from, table } => write!(f, "rule add from {from} table {table} priority {table}"),
            Command::AddBridge(name) => write!(f, "link add name {name} type bridge"),
            Command::Link { port, mac, mtu, addresses, up } => {
                write!(f, "link set dev {port}")?;
                option(f, "address", mac.as_ref())?;
                option(f, "mtu", mtu.as_ref())?;
                option(f, "addrgenmode", addresses.as_ref())?;
                f.write_str(if *up { " up" } else { "" })
            }
            Command::Address { address, port } => {
                write!(f, "address replace {address} dev {port}")?;
                f.write_str(if address.family() == Family::V6 { " nodad" } else { "" })
            }
            Command::Neighbour { address, mac, port } => {
                write!(f, "neighbour replace {address} lladdr {mac} dev {port} nud permanent")
            }
            Command::Route(route) => write!(f, "{route}"),
            Command::NextHop { id, segments, hop: Hop { gateway, port, weight: _ } } => {
                write!(f, "nexthop replace id {id} encap seg6 mode encap.red segs {segments}")?;
                option(f, "via", gateway.as_ref())?;
                write!(f, " dev {port}")
            }
            Command::Group { id, members } => {
                write!(f, "nexthop replace id {id} group ")?;
                for (at, (member, weight)) in members.iter().enumerate() {
                    write!(f, "{}{member},{weight}", if at == 0 { "" } else { "/" })?;
                }
                Ok(())
            }
            Command::TunnelSource(address) => write!(f, "sr tunsrc set {address}"),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.action {
            Action::Blackhole => "blackhole ",
            Action::Unreachable => "unreachable ",
            Action::Forward(_) | Action::NextHop(_) | Action::Shift(_) | Action::Decapsulate(_) => "",
        };
        write!(f, "route replace {kind}{}", self.to)?;
        option(f, "from", self.from.as_ref())?;
        match &self.action {
            Action::NextHop(id) => write!(f, " nhid {id}")?,
            Action::Shift(port) => {
                write!(
                    f,
                    " encap seg6local action End flavors next-csid lblen 32 nflen 16 count dev {port}"
                )?;
            }
            Action::Decapsulate(port) => {
                write!(f, " encap seg6local action End.DT6 table 255 count dev {port}")?;
            }
            Action::Blackhole | Action::Unreachable | Action::Forward(_) => {}
        }
        option(f, "table", self.table.as_ref())?;
        option(f, "src", self.source.as_ref())?;
        option(f, "metric", self.metric.as_ref())?;
        option(f, "mtu", self.mtu.as_ref())?;
        match &self.action {
            Action::Forward(hops) if hops.len() == 1 => hops.iter().try_for_each(|hop| hop.write(f)),
            Action::Forward(hops) => hops.iter().try_for_each(|hop| {
                f.write_str(" nexthop")?;
                hop.write(f)?;
                write!(f, " weight {}", hop.weight)
            }),
            Action::Blackhole
            | Action::Unreachable
            | Action::NextHop(_)
            | Action::Shift(_)
            | Action::Decapsulate(_) => Ok(()),
        }
    }
}

impl Hop {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        option(f, "via", self.gateway.as_ref())?;
        write!(f, " dev {}", self.port)
    }
}

fn option<T: fmt::Display>(f: &mut fmt::Formatter<'_>, word: &str, value: Option<&T>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, " {word} {value}"))
}

impl fmt::Display for AddressMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddressMode::None => "none",
            AddressMode::Eui64 => "eui64",
        })
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.map(|byte| format!("{byte:02x}"));
        f.write_str(&bytes.join(":"))
    }
}

impl Mac {
    /// Returns the address in the lower 48 bits of a number. Higher bits are ignored.
    pub(crate) fn from_number(number: u128) -> Mac {
        Mac(*number.to_be_bytes().last_chunk().expect("128 bits hold the 48 of an address"))
    }
}

impl std::str::FromStr for Mac {
    type Err = TreeFault;

    fn from_str(text: &str) -> Result<Mac, TreeFault> {
        let byte = |text: &str| {
            let digits = text.len() == 2 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
            u8::from_str_radix(text, 16).ok().filter(|_| digits)
        };
        let bytes: Option<Vec<u8>> = text.split(':').map(byte).collect();
        let mac = bytes.and_then(|bytes| bytes.try_into().ok());
        mac.map(Mac).ok_or_else(|| TreeFault::Mac(text.chars().take(32).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command of the compiler is parsed and written again without a change.
    #[test]
    fn commands_are_written_as_they_were_read() {
        let lines = [
            "link add name sr0 type bridge",
            "link set dev lo up",
            "link set dev eth1 address 02:c1:00:00:00:01 mtu 9216 addrgenmode none",
            "link set dev eth501 address 02:c1:00:00:00:01 mtu 9216 addrgenmode eui64",
            "address replace fd00:c105:2:0:1:1:0:b/127 dev eth1 nodad",
            "neighbour replace fd00::a lladdr 02:d0:00:01:00:01 dev eth1 nud permanent",
            "route replace fcbb:bbbb:1::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 count dev sr0",
            "route replace fcbb:bbbb:8001::/48 encap seg6local action End.DT6 table 255 count dev sr0",
            "route replace fcbb:bbbb:4001::/48 via 2001:db8::b dev eth3",
            "route replace fcbb:bbbb:1::/48 metric 10 via fd00::b dev nic0p0",
            "route replace fd00::/48 nexthop via fd00::1 dev eth1 weight 1 nexthop via fd00::2 dev eth2 weight 255",
            "route replace fd00::/48 from fd00::1/128 via fd00::b dev nic0p0",
            "route replace blackhole fd00::/48 from fd00::1/128 metric 4096",
            "route replace unreachable fd00::/48 src fd00::1",
            "route replace fd00::2/128 nhid 1056768 src fd00::1 mtu 9000",
            "nexthop replace id 7 encap seg6 mode encap.red segs fcbb:bbbb:1:8002:: via fd00::b dev nic0p0",
            "nexthop replace id 8 group 7,2/9,1",
            "sr tunsrc set fd00::1",
            "rule add from 10.0.0.1/32 table 500 priority 500",
            "address replace 10.0.0.1/32 dev sr0",
            "route replace 10.0.0.0/8 table 500 nexthop via 100.64.0.1 dev eth1 weight 1 nexthop via 100.64.0.3 dev eth2 weight 1",
            "route replace blackhole 10.0.0.0/8 table 500 metric 4096",
        ];
        let commands = Command::read_all(&lines.join("\n")).unwrap();
        assert_eq!(Command::write_all(&commands), lines.join("\n") + "\n");
    }

    #[test]
    fn other_spellings_mean_the_same() {
        let text = "neigh replace fd00::a lladdr 02:D0:00:01:00:01 dev eth1 nud permanent # far\n\
                    route replace fd00::/48 dev eth3 via fd00::b\n\n";
        let written = Command::write_all(&Command::read_all(text).unwrap());
        assert_eq!(
            written,
            "neighbour replace fd00::a lladdr 02:d0:00:01:00:01 dev eth1 nud permanent\n\
             route replace fd00::/48 via fd00::b dev eth3\n"
        );
    }

    #[test]
    fn a_bad_prefix_has_a_line() {
        let error = Command::read_all("\nroute replace nowhere via ::1 dev eth1\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2: `nowhere` is not a prefix");
    }

    #[test]
    fn nothing_else_is_a_command() {
        for line in [
            "netns exec x touch /tmp/x",
            "netns add x",
            "netns del closc-a-b",
            "-batch /etc/passwd",
            "vrf exec default id",
            "link add name x type dummy",
            "link add name sr0 type bridge; id",
            "link set dev eth1 netns 1",
            "link set dev eth1 up netns 1",
            "link set dev eth1 alias $(id)",
            "link set dev eth1 xdp object /tmp/x.o",
            "link del dev eth1",
            "link property add dev eth1 altname x",
            "link set dev ../../x up",
            "link set dev eth1 mtu 4294967295",
            "address replace fd00::1/64 dev eth1",
            "address replace 10.0.0.1/32 dev eth1 nodad",
            "rule add from fd00::1/128 table 500 priority 500",
            "rule add from 10.0.0.1/32 table 255 priority 255",
            "rule add from 10.0.0.1/32 table 500 priority 40000",
            "rule del from 10.0.0.1/32",
            "route replace 10.0.0.0/8 table 255 via 100.64.0.1 dev eth1",
            "route replace ::/0 encap bpf in obj /tmp/x.o dev eth1",
            "route replace fd00::/48 encap seg6local action End.BPF endpoint obj x dev sr0",
            "route replace fd00::/48 table 7 via fd00::1 dev eth1",
            "route replace fd00::/48",
            "route replace fd00::/48 via fd00::1 dev eth1 nhid 3",
            "route flush table all",
            "-6 route replace blackhole ::/0",
            "netconf",
            "monitor",
            "fou add port 5 ipproto 41",
            "l2tp add tunnel",
            "tuntap add dev x mode tun",
            "xfrm state add",
            "sr hmac set 1 sha1",
            "nexthop replace id 1 blackhole",
            "nexthop replace id 1 group 1,300",
            "route",
        ] {
            let error = Command::read_all(line).unwrap_err();
            assert!(matches!(error, TreeFault::Line { line: 1, .. }), "{line}: {error}");
        }
    }
}
