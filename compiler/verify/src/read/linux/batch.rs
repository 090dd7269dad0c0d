//! Reads files for `ip -batch`.
//!
//! In: the text. Out: the resulting state of the kernel, as commands with their lines. Invariants: a line with an
//! unknown word is an error, so nothing in a file can affect forwarding without being modelled. If two commands concern
//! the same object, the last one counts.

use closc_artefacts::{Address, Family, Prefix};
use hashbrown::HashMap;

use crate::model::device::Mac;
use crate::read::error::ReadError;

/// A command and its line.
pub(crate) type Line<'a> = (usize, Command<'a>);

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command<'a> {
    /// `link add`: creates a device.
    Add { device: &'a str, kind: &'a str },
    /// `rule add`: the routing table for packets from certain addresses.
    Rule { from: Prefix, table: u32, priority: u32 },
    /// `link set ... up`.
    Up { port: &'a str },
    /// `link set` with a MAC address, an MTU, or the generation of link-local addresses.
    Set { port: &'a str, mac: Option<Mac>, mtu: Option<u16>, link_local: Option<bool> },
    /// `address replace`.
    Address { address: Prefix, port: &'a str },
    /// `neighbour replace`.
    Neighbour { address: Address, mac: Mac, port: &'a str },
    /// `route replace ... encap seg6local`.
    Segment { prefix: Prefix, text: &'a str, action: Action<'a>, port: &'a str },
    /// `route replace blackhole`.
    Blackhole { prefix: Prefix, text: &'a str, scope: Scope },
    /// `route replace` over one or several ports.
    Route { prefix: Prefix, text: &'a str, hops: Vec<BatchHop<'a>>, scope: Scope },
    /// `sr tunsrc set`.
    Source { address: Address },
    /// `nexthop replace` that encapsulates.
    Member { id: u32, segments: Address, gateway: Address, port: &'a str },
    /// `nexthop replace` of a group.
    Group { id: u32, members: Vec<(u32, u32)> },
    /// `route replace` over a next-hop group.
    Encapsulate { prefix: Prefix, id: u32, source: Option<Address>, mtu: Option<u32> },
}

/// Options of a route that, besides its prefix, select its packets or determine its precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Source addresses.
    pub(crate) from: Option<Prefix>,
    /// Source address of packets from sockets that are not bound to an address.
    pub(crate) source: Option<Address>,
    /// Routing table, if it is not the main one.
    pub(crate) table: Option<u32>,
    /// Metric; the route with the lowest counts.
    pub(crate) metric: u32,
}

impl Default for Scope {
    fn default() -> Self {
        Scope { from: None, source: None, table: None, metric: METRIC }
    }
}

/// A next hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BatchHop<'a> {
    pub(crate) gateway: Option<Address>,
    pub(crate) port: &'a str,
    pub(crate) weight: u32,
}

/// Behaviour of an own segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action<'a> {
    /// Shifts the uSIDs and forwards: `End` with `next-csid`, with the lengths of block and uSID.
    Un { block: &'a str, node: &'a str },
    /// Decapsulates packets and looks them up in a table.
    Decapsulate { table: &'a str },
    /// Any other behaviour.
    Other(String),
}

/// Default metric of a route.
const METRIC: u32 = 1024;

/// Identity of a kernel object: a command replaces an earlier one for the same object.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Object<'a> {
    /// An address of a device. The same address with a different prefix length counts as a second one, because the
    /// kernel keeps the first (`inet6_rtm_newaddr`).
    Address(Prefix, &'a str),
    Neighbour(Address, &'a str),
    /// Destination, source, table and metric.
    Route(Prefix, Option<Prefix>, Option<u32>, u32),
    /// The source address of tunnels.
    Source,
    /// A next hop or a next-hop group; both share the same IDs.
    NextHop(u32),
}

impl<'a> Command<'a> {
    /// Returns the object that the command replaces; `None` if it adds to earlier settings.
    fn object(&self) -> Option<Object<'a>> {
        Some(match self {
            Command::Add { .. } | Command::Rule { .. } | Command::Up { .. } | Command::Set { .. } => {
                return None;
            }
            Command::Address { address, port } => Object::Address(*address, port),
            Command::Neighbour { address, port, .. } => Object::Neighbour(*address, port),
            Command::Segment { prefix, .. } | Command::Encapsulate { prefix, .. } => {
                Object::Route(*prefix, None, None, METRIC)
            }
            Command::Blackhole { prefix, scope, .. } | Command::Route { prefix, scope, .. } => {
                Object::Route(*prefix, scope.from, scope.table, scope.metric)
            }
            Command::Source { .. } => Object::Source,
            Command::Member { id, .. } | Command::Group { id, .. } => Object::NextHop(*id),
        })
    }
}

/// Reads a file.
pub(crate) fn read(text: &str) -> Result<Vec<Line<'_>>, ReadError> {
    let mut batch = Batch::default();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words: Vec<&str> = line.split_ascii_whitespace().collect();
        if words.first() == Some(&"-6") {
            words.remove(0);
        }
        let Some(first) = words.first_mut() else { continue };
        *first = full_keyword(first);
        command(&words, &mut |command| batch.take((at + 1, command)))
            .map_err(|message| ReadError::at(at + 1, message))?;
    }
    Ok(batch.commands)
}

/// Commands, in the order of execution.
#[derive(Default)]
struct Batch<'a> {
    commands: Vec<Line<'a>>,
    /// Index of the command for each object.
    indices: HashMap<Object<'a>, usize>,
}

impl<'a> Batch<'a> {
    /// Adds a command. An object keeps the position of its first command, but has the state of the last one.
    fn take(&mut self, line: Line<'a>) {
        let end = self.commands.len();
        let place = line.1.object().map_or(end, |object| *self.indices.entry(object).or_insert(end));
        match self.commands.get_mut(place) {
            Some(replaced) => *replaced = line,
            None => self.commands.push(line),
        }
    }
}

/// Returns the full keyword of an object: `ip` accepts abbreviations, and both spellings of neighbour.
fn full_keyword(word: &str) -> &str {
    match word {
        "n" | "neigh" | "neighbor" => "neighbour",
        "a" | "addr" => "address",
        "l" => "link",
        "r" | "ro" => "route",
        other => other,
    }
}

/// Parses `address replace`. The options after the address may be in any order.
fn address<'a>(text: &str, mut rest: &[&'a str]) -> Result<Command<'a>, String> {
    let (mut port, mut nodad) = (None, false);
    while !rest.is_empty() {
        rest = match rest {
            ["dev", name, rest @ ..] => {
                port = Some(*name);
                rest
            }
            ["nodad", rest @ ..] => {
                nodad = true;
                rest
            }
            ["scope", "global", rest @ ..] => rest,
            _ => {
                return Err(format!(
                    "`{}` is not a part of an address that the proof models",
                    rest.join(" ")
                ));
            }
        };
    }
    let address = prefix(text)?;
    // Duplicate address detection exists only in IPv6, so `ip` accepts `nodad` only for IPv6.
    let is_ready = nodad == (address.family() == Family::V6);
    let port = port
        .filter(|_| is_ready)
        .ok_or_else(|| format!("`{text}` has no port, or waits for duplicate address detection"))?;
    Ok(Command::Address { address, port })
}

/// Parses `neighbour replace`. The options after the address may be in any order.
fn neighbour<'a>(text: &str, mut rest: &[&'a str]) -> Result<Command<'a>, String> {
    let (mut port, mut mac, mut permanent) = (None, None, false);
    while !rest.is_empty() {
        rest = match rest {
            ["dev", name, rest @ ..] => {
                port = Some(*name);
                rest
            }
            ["lladdr", address, rest @ ..] => {
                mac = Some(value(address)?);
                rest
            }
            ["nud", "permanent", rest @ ..] => {
                permanent = true;
                rest
            }
            _ => {
                return Err(format!(
                    "`{}` is not a part of a neighbour that the proof models",
                    rest.join(" ")
                ));
            }
        };
    }
    match (port, mac, permanent) {
        (Some(port), Some(mac), true) => Ok(Command::Neighbour { address: value(text)?, mac, port }),
        _ => Err(format!("neighbour `{text}` has no port or address, or is not permanent")),
    }
}

fn command<'a>(words: &[&'a str], push: &mut dyn FnMut(Command<'a>)) -> Result<(), String> {
    match words {
        ["link", "add", "name" | "dev", device, "type", kind] | ["link", "add", device, "type", kind] => {
            push(Command::Add { device, kind });
        }
        ["link", "set", "dev", port, rest @ ..] | ["link", "set", port, rest @ ..] => link(port, rest, push)?,
        ["rule", "add", "from", from, "table", table, "priority", priority] => {
            push(Command::Rule { from: prefix(from)?, table: value(table)?, priority: value(priority)? });
        }
        ["address", "replace", address, rest @ ..] => push(self::address(address, rest)?),
        ["neighbour", "replace", address, rest @ ..] => push(neighbour(address, rest)?),
        // Both drop packets; the latter also sends an ICMP error.
        ["route", "replace", "blackhole" | "unreachable", text, rest @ ..] => {
            let mut scope = Scope::default();
            let mut left = rest;
            while !left.is_empty() {
                left = self::scope(left, &mut scope)?;
            }
            push(Command::Blackhole { prefix: prefix(text)?, text, scope });
        }
        ["route", "replace", text, "encap", "seg6local", "action", rest @ ..] => {
            push(segment(text, rest)?);
        }
        ["route", "replace", text, "nhid", id, rest @ ..] => push(encapsulate(text, id, rest)?),
        ["route", "replace", text, rest @ ..] => push(route(text, rest)?),
        ["sr", "tunsrc", "set", address] => push(Command::Source { address: value(address)? }),
        ["nexthop", "replace", "id", id, "group", members] => {
            push(Command::Group { id: value(id)?, members: self::members(members)? });
        }
        [
            "nexthop",
            "replace",
            "id",
            id,
            "encap",
            "seg6",
            "mode",
            "encap.red",
            "segs",
            segments,
            "via",
            gateway,
            "dev",
            port,
        ] => {
            push(Command::Member {
                id: value(id)?,
                segments: value(segments)?,
                gateway: value(gateway)?,
                port,
            });
        }
        _ => return Err(format!("`{}` is not a command that the proof models", words.join(" "))),
    }
    Ok(())
}

fn link<'a>(port: &'a str, mut rest: &[&'a str], push: &mut dyn FnMut(Command<'a>)) -> Result<(), String> {
    let (mut mac, mut mtu, mut link_local, mut up) = (None, None, None, false);
    while !rest.is_empty() {
        rest = match rest {
            ["up", rest @ ..] => {
                up = true;
                rest
            }
            // Whether link-local addresses are generated: no route of the fabric uses them, but BGP does.
            ["addrgenmode", mode @ ("none" | "eui64"), rest @ ..] => {
                link_local = Some(*mode == "eui64");
                rest
            }
            ["address", text, rest @ ..] => {
                mac = Some(value(text)?);
                rest
            }
            ["mtu", text, rest @ ..] => {
                mtu = Some(value(text)?);
                rest
            }
            _ => {
                return Err(format!("`{}` is not a setting of a port that the proof models", rest.join(" ")));
            }
        };
    }
    // Every setting requires that the device exists; otherwise the batch stops.
    if mac.is_some() || mtu.is_some() || link_local.is_some() || !up {
        push(Command::Set { port, mac, mtu, link_local });
    }
    if up {
        push(Command::Up { port });
    }
    Ok(())
}

fn segment<'a>(text: &'a str, words: &[&'a str]) -> Result<Command<'a>, String> {
    let (action, rest) = match words {
        ["End", "flavors", "next-csid", "lblen", block, "nflen", node, rest @ ..] => {
            (Action::Un { block, node }, rest)
        }
        ["End.DT6", "table", table, rest @ ..] => (Action::Decapsulate { table }, rest),
        _ => {
            let end = words.iter().position(|word| *word == "dev").unwrap_or(words.len());
            (Action::Other(words[..end].join(" ")), &words[end..])
        }
    };
    let (["count", "dev", port] | ["dev", port]) = rest else {
        return Err(format!("segment `{text}` is bound to no device"));
    };
    Ok(Command::Segment { prefix: prefix(text)?, text, action, port })
}

fn route<'a>(text: &'a str, mut rest: &[&'a str]) -> Result<Command<'a>, String> {
    let mut hops: Vec<BatchHop<'a>> = Vec::new();
    let mut scope = Scope::default();
    while !rest.is_empty() {
        rest = match rest {
            ["nexthop", rest @ ..] => rest,
            ["via", gateway, "dev", port, rest @ ..] | ["dev", port, "via", gateway, rest @ ..] => {
                hops.push(BatchHop { gateway: Some(value(gateway)?), port, weight: 1 });
                rest
            }
            ["dev", port, rest @ ..] => {
                hops.push(BatchHop { gateway: None, port, weight: 1 });
                rest
            }
            ["weight", weight, rest @ ..] => {
                let hop = hops.last_mut().ok_or_else(|| format!("`weight {weight}` without a next hop"))?;
                hop.weight = value(weight)?;
                rest
            }
            _ => self::scope(rest, &mut scope)?,
        };
    }
    if hops.is_empty() {
        return Err(format!("route `{text}` has no next hop"));
    }
    Ok(Command::Route { prefix: prefix(text)?, text, hops, scope })
}

/// Parses the options that select packets of a route, and returns the rest.
fn scope<'r, 'a>(rest: &'r [&'a str], scope: &mut Scope) -> Result<&'r [&'a str], String> {
    Ok(match rest {
        ["from", text, rest @ ..] => {
            scope.from = Some(prefix(text)?);
            rest
        }
        ["src", text, rest @ ..] => {
            scope.source = Some(value(text)?);
            rest
        }
        ["metric", text, rest @ ..] => {
            scope.metric = value(text)?;
            rest
        }
        ["table", text, rest @ ..] if !["main", "254"].contains(text) => {
            scope.table = Some(value(text)?);
            rest
        }
        // These are the defaults of a route.
        ["table", "main" | "254", rest @ ..] | ["proto", "boot" | "static", rest @ ..] => rest,
        _ => return Err(format!("`{}` is not a part of a route that the proof models", rest.join(" "))),
    })
}

fn encapsulate<'a>(text: &'a str, id: &str, mut rest: &[&'a str]) -> Result<Command<'a>, String> {
    let (mut source, mut mtu) = (None, None);
    while !rest.is_empty() {
        rest = match rest {
            ["src", address, rest @ ..] => {
                source = Some(value(address)?);
                rest
            }
            ["mtu", number, rest @ ..] => {
                mtu = Some(value(number)?);
                rest
            }
            _ => return Err(format!("`{}` is not a part of a route that the proof models", rest.join(" "))),
        };
    }
    Ok(Command::Encapsulate { prefix: prefix(text)?, id: value(id)?, source, mtu })
}

/// Parses members of a group with their weights: `17,2/18`.
fn members(text: &str) -> Result<Vec<(u32, u32)>, String> {
    text.split('/')
        .map(|member| match member.split_once(',') {
            Some((id, weight)) => Ok((value(id)?, value(weight)?)),
            None => Ok((value(member)?, 1)),
        })
        .collect()
}

/// Parses a prefix. An address alone has full length; `default` has length 0.
fn prefix(text: &str) -> Result<Prefix, String> {
    if text == "default" {
        return Ok(Prefix::default());
    }
    text.parse()
        .or_else(|_| text.parse().map(|address: Address| Prefix::from(address)))
        .map_err(|_| format!("`{text}` is not a prefix"))
}

fn value<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    crate::read::value::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_understood() {
        let commands = read(
            "# a comment\n\
             link set dev eth1 address 02:c1:00:00:00:01 mtu 9216 addrgenmode none\n\
             link set dev eth1 up\n\
             route replace fcbb:bbbb:1::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 count dev sr0\n\
             route replace fcbb:bbbb:4001::/48 via 2001:db8::b dev eth3\n\
             route replace default dev eth3 metric 5\n\
             nexthop replace id 7 group 1,2/3\n",
        )
        .unwrap();
        assert_eq!(commands.len(), 6);
        assert_eq!(commands[0].0, 2);
        assert_eq!(commands[1], (3, Command::Up { port: "eth1" }));
        let un = Action::Un { block: "32", node: "16" };
        assert!(matches!(&commands[2].1, Command::Segment { action, port: "sr0", .. } if *action == un));
        assert!(
            matches!(&commands[4].1, Command::Route { prefix, scope, .. } if prefix.prefix_len() == 0 && scope.metric == 5)
        );
        assert_eq!(commands[5].1, Command::Group { id: 7, members: vec![(1, 2), (3, 1)] });
    }

    #[test]
    fn the_last_of_two_commands_about_one_object_counts() {
        for (first, second) in [
            ("address replace fd00::a/127 dev eth1 nodad", "address replace fd00::a/127 nodad dev eth1"),
            (
                "neighbour replace fd00::b lladdr 02:00:00:00:00:01 dev eth1 nud permanent",
                "neighbour replace fd00::b lladdr 02:00:00:00:00:02 dev eth1 nud permanent",
            ),
            ("route replace fd00::/64 via fd00::b dev eth1", "route replace blackhole fd00::/64"),
            (
                "route replace fd00::/64 via fd00::b dev eth1 metric 9",
                "route replace fd00::/64 dev eth2 metric 9",
            ),
            ("sr tunsrc set fd00::1", "sr tunsrc set fd00::2"),
            ("nexthop replace id 7 group 1/2", "nexthop replace id 7 group 3"),
        ] {
            let both = format!("{first}\nlink set dev eth1 up\n{second}\n");
            let commands = read(&both).expect("both are known");
            let alone = read(second).expect("it is known");
            assert_eq!(commands.len(), 2, "{both}");
            assert_eq!((commands[0].0, &commands[0].1), (3, &alone[0].1), "{both}");
        }
        for both in [
            "route replace fd00::/64 dev eth1 metric 9\nroute replace fd00::/64 dev eth1\n",
            "route replace fd00::/64 from fd00::1 dev eth1\nroute replace fd00::/64 dev eth1\n",
            "neighbour replace fd00::b lladdr 02:00:00:00:00:01 dev eth1 nud permanent\n\
             neighbour replace fd00::b lladdr 02:00:00:00:00:01 dev eth2 nud permanent\n",
        ] {
            assert_eq!(read(both).expect("both are known").len(), 2, "{both}");
        }
    }

    #[test]
    fn what_is_not_understood_has_a_line() {
        for (text, message) in [
            ("\nroute replace nowhere via ::1 dev eth1\n", "`nowhere` is not a prefix"),
            ("\nrule add from all\n", "`rule add from all` is not a command that the proof models"),
            ("\nroute replace ::/0 realm 7\n", "`realm 7` is not a part of a route that the proof models"),
        ] {
            assert_eq!(read(text), Err(ReadError::at(2, message)));
        }
    }
}
