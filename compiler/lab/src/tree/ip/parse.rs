//! Reads a line of a batch file.
//!
//! In: words. Out: a command, or the error. Invariants: words of a line are never skipped.

use std::fmt::Display;
use std::str::FromStr;

use closc_artefacts::{Address, Family, Prefix};

use super::{Action, AddressMode, Command, Hop, Route};
use crate::name::Interface;

/// Maximum length of a word in a message.
const WORD_MAX: usize = 40;
/// Permitted tables: above those of the kernel, and below the priority of its main rule.
const TABLES: std::ops::RangeInclusive<u16> = 256..=32_000;
/// MTUs that the kernel accepts at a port (`ETH_MIN_MTU` to `IP_MAX_MTU` of Linux).
const MTUS: std::ops::RangeInclusive<u32> = 68..=65535;

/// Parses a line; `None` for an empty one.
pub(super) fn line(line: &str) -> Result<Option<Command>, String> {
    let mut words = Words { rest: line.split_ascii_whitespace().collect(), at: 0 };
    if words.is_done() {
        return Ok(None);
    }
    let command = words.command()?;
    match words.peek() {
        None => Ok(Some(command)),
        Some(word) => Err(words.refuse(word)),
    }
}

/// The words of a line, and the number of words already parsed.
struct Words<'a> {
    rest: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    fn command(&mut self) -> Result<Command, String> {
        let command = match (self.next_word()?, self.next_word()?) {
            ("link", "add") => {
                self.expect(&["name"])?;
                let name = self.interface()?;
                self.expect(&["type", "bridge"])?;
                Command::AddBridge(name)
            }
            ("link", "set") => self.link()?,
            ("address", "replace") => {
                let address = self.prefix()?;
                let port = self.dev()?;
                if address.family() == Family::V6 {
                    self.expect(&["nodad"])?;
                }
                Command::Address { address, port }
            }
            ("neighbour" | "neigh", "replace") => {
                let address = self.value("an address")?;
                self.expect(&["lladdr"])?;
                let mac = self.value("a MAC address")?;
                let port = self.dev()?;
                self.expect(&["nud", "permanent"])?;
                Command::Neighbour { address, mac, port }
            }
            ("rule", "add") => self.rule()?,
            ("route", "replace") => Command::Route(self.route()?),
            ("nexthop", "replace") => self.next_hop()?,
            ("sr", "tunsrc") => {
                self.expect(&["set"])?;
                Command::TunnelSource(self.value("an address")?)
            }
            (first, second) => {
                return Err(format!("a lab does not run `{} {}`", short(first), short(second)));
            }
        };
        Ok(command)
    }

    fn link(&mut self) -> Result<Command, String> {
        let port = self.dev()?;
        let (mut mac, mut mtu, mut addresses, mut up) = (None, None, None, false);
        while let Some(word) = self.peek() {
            self.at += 1;
            match word {
                "address" => mac = Some(self.value("a MAC address")?),
                "mtu" => mtu = Some(self.mtu()?),
                "addrgenmode" => addresses = Some(self.address_mode()?),
                "up" => up = true,
                other => return Err(self.refuse(other)),
            }
        }
        Ok(Command::Link { port, mac, mtu, addresses, up })
    }

    fn address_mode(&mut self) -> Result<AddressMode, String> {
        match self.next_word()? {
            "none" => Ok(AddressMode::None),
            "eui64" => Ok(AddressMode::Eui64),
            other => Err(self.refuse(other)),
        }
    }

    fn route(&mut self) -> Result<Route, String> {
        let mut actions = Vec::new();
        if self.take("blackhole") {
            actions.push(Action::Blackhole);
        } else if self.take("unreachable") {
            actions.push(Action::Unreachable);
        }
        let to = self.prefix()?;
        let (mut from, mut source, mut metric, mut mtu, mut table) = (None, None, None, None, None);
        let mut hops = Vec::new();
        while let Some(word) = self.peek() {
            if ["via", "dev"].contains(&word) {
                actions.push(Action::Forward(vec![self.hop()?]));
                continue;
            }
            self.at += 1;
            match word {
                "from" => from = Some(self.prefix()?),
                "table" if to.family() == Family::V4 => table = Some(self.table()?),
                "src" => source = Some(self.value("an address")?),
                "metric" => metric = Some(self.value("a metric")?),
                "mtu" => mtu = Some(self.mtu()?),
                "nhid" => actions.push(Action::NextHop(self.value("a number")?)),
                "encap" => actions.push(self.segment()?),
                "nexthop" => hops.push(self.hop()?),
                other => return Err(self.refuse(other)),
            }
        }
        if !hops.is_empty() {
            actions.push(Action::Forward(hops));
        }
        let mut actions = actions.into_iter();
        match (actions.next(), actions.next()) {
            (Some(action), None) => Ok(Route { to, from, source, table, action, metric, mtu }),
            (None, _) => Err("a route without a next hop".to_owned()),
            (Some(_), Some(_)) => Err("a route with two kinds of next hops".to_owned()),
        }
    }

    /// Parses a rule with a source. Its priority equals the number of its table.
    fn rule(&mut self) -> Result<Command, String> {
        self.expect(&["from"])?;
        let from = self.prefix()?;
        self.expect(&["table"])?;
        let table = self.table()?;
        self.expect(&["priority"])?;
        match self.value::<u16>("a priority")? {
            priority if priority == table && from.family() == Family::V4 => Ok(Command::Rule { from, table }),
            _ => Err(format!("the rule of `{from}` is not IPv4, or its priority differs from its table")),
        }
    }

    /// Parses the number of a node's own table.
    fn table(&mut self) -> Result<u16, String> {
        let table = self.value("a table")?;
        if TABLES.contains(&table) { Ok(table) } else { Err(format!("`{table}` is not a table of a NIC")) }
    }

    /// Parses the action of an own segment, after `encap`.
    fn segment(&mut self) -> Result<Action, String> {
        self.expect(&["seg6local", "action"])?;
        match self.next_word()? {
            "End" => {
                self.expect(&["flavors", "next-csid", "lblen", "32", "nflen", "16", "count"])?;
                Ok(Action::Shift(self.dev()?))
            }
            "End.DT6" => {
                self.expect(&["table", "255", "count"])?;
                Ok(Action::Decapsulate(self.dev()?))
            }
            other => Err(self.refuse(other)),
        }
    }

    fn next_hop(&mut self) -> Result<Command, String> {
        self.expect(&["id"])?;
        let id = self.value("a number")?;
        if self.take("group") {
            let members = self.next_word()?.split('/').map(member).collect::<Result<_, _>>()?;
            return Ok(Command::Group { id, members });
        }
        self.expect(&["encap", "seg6", "mode", "encap.red", "segs"])?;
        let segments = self.value("an address")?;
        Ok(Command::NextHop { id, segments, hop: self.hop()? })
    }

    /// Parses a gateway and a link, in any order, and a weight.
    fn hop(&mut self) -> Result<Hop, String> {
        let (mut gateway, mut port, mut weight) = (None, None, 1);
        loop {
            if gateway.is_none() && self.take("via") {
                gateway = Some(self.value("an address")?);
            } else if port.is_none() && self.take("dev") {
                port = Some(self.interface()?);
            } else if self.take("weight") {
                weight = self.value("a weight")?;
            } else {
                let port = port.ok_or("a next hop without a port")?;
                return Ok(Hop { gateway, port, weight });
            }
        }
    }

    fn dev(&mut self) -> Result<Interface, String> {
        self.expect(&["dev"])?;
        self.interface()
    }

    fn interface(&mut self) -> Result<Interface, String> {
        self.next_word()?.parse().map_err(|error: crate::name::NameFault| error.to_string())
    }

    fn mtu(&mut self) -> Result<u32, String> {
        let mtu = self.value("an MTU")?;
        if MTUS.contains(&mtu) { Ok(mtu) } else { Err(format!("`{mtu}` is not a supported MTU")) }
    }

    /// Parses a prefix. An address is a prefix of full length.
    fn prefix(&mut self) -> Result<Prefix, String> {
        let word = self.next_word()?;
        let whole = || word.parse::<Address>().map(Prefix::from);
        word.parse().or_else(|_| whole()).map_err(|_| format!("`{}` is not a prefix", short(word)))
    }

    fn value<T: FromStr>(&mut self, what: impl Display) -> Result<T, String> {
        let word = self.next_word()?;
        word.parse().map_err(|_| format!("`{}` is not {what}", short(word)))
    }

    fn expect(&mut self, expected: &[&str]) -> Result<(), String> {
        expected.iter().try_for_each(|expected| match self.next_word()? {
            word if word == *expected => Ok(()),
            word => Err(format!("found `{}`; a lab supports only `{expected}`", short(word))),
        })
    }

    fn take(&mut self, word: &str) -> bool {
        let same = self.peek() == Some(word);
        self.at += usize::from(same);
        same
    }

    fn peek(&self) -> Option<&'a str> {
        self.rest.get(self.at).copied()
    }

    fn next_word(&mut self) -> Result<&'a str, String> {
        let word = self.peek().ok_or("the line is incomplete")?;
        self.at += 1;
        Ok(word)
    }

    fn is_done(&self) -> bool {
        self.at >= self.rest.len()
    }

    fn refuse(&self, word: &str) -> String {
        let first = self.rest.iter().take(2).map(|word| short(word)).collect::<Vec<_>>().join(" ");
        format!("a lab does not support `{}` in `{first}`", short(word))
    }
}

/// Parses a member of a group, with its weight.
fn member(text: &str) -> Result<(u32, u8), String> {
    let wrong = |_| format!("`{}` is not a member of a group", short(text));
    match text.split_once(',') {
        Some((id, weight)) => Ok((id.parse().map_err(wrong)?, weight.parse().map_err(wrong)?)),
        None => Ok((text.parse().map_err(wrong)?, 1)),
    }
}

/// Returns the beginning of a word, without terminal control characters.
fn short(word: &str) -> String {
    word.chars().take(WORD_MAX).flat_map(char::escape_debug).collect()
}
