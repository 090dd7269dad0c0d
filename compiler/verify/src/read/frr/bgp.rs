//! Reads what FRR is given for BGP: the process, its neighbours, and the filters between them.
//!
//! In: one command after the other, with the node of the command tree that it is in. Out: a [`Config`] in which
//! names are resolved. Invariants: a command that might change routes and is not known here is refused, whatever it says;
//! a name that nothing bears is a fault.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use ipnet::Ipv6Net;

use super::place::FILE;
use crate::model::bgp::{
    Bandwidth, Bfd, Clause, Config, Entry, LONGEST, Lengths, Matched, Neighbour, Policy, Process, Remote,
    Terms,
};
use crate::model::device::{Device, FaultKind};
use crate::read::value::parse;

/// A node of the command tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node<'a> {
    /// `bfd`.
    Bfd,
    /// `profile` below it.
    Profile(&'a str),
    /// A clause of a route map.
    Clause(&'a str, u32),
    /// `router bgp`.
    Process,
    /// `address-family ipv6 unicast`.
    Family,
}

/// Why a command is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Nobody here knows it.
    Unknown,
    /// A value in it is none.
    Value(String),
    /// It is behind the end of the configuration.
    Left,
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Refusal::Value(message)
    }
}

/// A command that is accepted opens a node, or none.
type Taken<'a> = Result<Option<Node<'a>>, Refusal>;

/// Everything that was said, by name.
#[derive(Debug, Default)]
pub(super) struct BgpReader<'a> {
    profiles: BTreeMap<&'a str, Bfd>,
    prefixes: BTreeMap<&'a str, BTreeMap<u32, Entry>>,
    paths: BTreeMap<&'a str, BTreeMap<u32, (bool, u8)>>,
    drained: BTreeSet<&'a str>,
    maps: BTreeMap<&'a str, BTreeMap<u32, Said<'a>>>,
    process: Option<Instance<'a>>,
}

/// A clause of a route map, with names.
#[derive(Debug, Default)]
struct Said<'a> {
    clause: Clause,
    prefixes: Option<&'a str>,
    path: Option<&'a str>,
    community: Option<&'a str>,
}

/// `router bgp`.
#[derive(Debug, Default)]
struct Instance<'a> {
    asn: u32,
    router_id: Option<Ipv4Addr>,
    process: Process,
    networks: Vec<Ipv6Net>,
    groups: BTreeMap<&'a str, Agreed<'a>>,
    neighbours: Vec<Known<'a>>,
    agreed: BTreeMap<&'a str, Agreed<'a>>,
}

/// A neighbour: its name, who it may be where that is said of itself, and whether it is known by its link-local address
/// alone.
#[derive(Debug, Clone, Copy)]
struct Known<'a> {
    name: &'a str,
    remote: Option<Remote>,
    link_local_only: bool,
}

/// What is said of a neighbour or a group, with names.
#[derive(Debug, Clone, Copy, Default)]
struct Agreed<'a> {
    remote: Option<Remote>,
    group: Option<&'a str>,
    active: bool,
    bfd: Option<&'a str>,
    interval_s: Option<u16>,
    connect_s: Option<u16>,
    accepted: Option<&'a str>,
    announced: Option<&'a str>,
    limit: Option<(u32, Option<u16>)>,
    accepts_own: bool,
}

impl<'a> BgpReader<'a> {
    /// Takes a command at the top of the file.
    pub(super) fn top(&mut self, words: &[&'a str]) -> Taken<'a> {
        match words {
            ["bfd"] => return Ok(Some(Node::Bfd)),
            ["ipv6", "prefix-list", name, "seq", number, action, prefix, rest @ ..] => {
                let entry = entry(action, parse(prefix)?, rest)?;
                self.prefixes.entry(name).or_default().insert(parse(number)?, entry);
            }
            ["bgp", "as-path", "access-list", name, "seq", number, action, pattern] => {
                let entry = (permit(action)?, length(pattern).ok_or(Refusal::Unknown)?);
                self.paths.entry(name).or_default().insert(parse(number)?, entry);
            }
            ["bgp", "community-list", "standard", name, "seq", _, "permit", "graceful-shutdown"] => {
                self.drained.insert(name);
            }
            ["route-map", name, action, number] => {
                let number: u32 = parse(number)?;
                let said = self.maps.entry(name).or_default().entry(number).or_default();
                said.clause.permit = permit(action)?;
                return Ok(Some(Node::Clause(name, number)));
            }
            ["router", "bgp", asn] if self.process.is_none() => {
                self.process = Some(Instance {
                    asn: parse(asn)?,
                    process: Process { ipv4: true, ..Process::default() },
                    ..Instance::default()
                });
                return Ok(Some(Node::Process));
            }
            _ => return Err(Refusal::Unknown),
        }
        Ok(None)
    }

    /// Takes a command inside a node.
    pub(super) fn inside(&mut self, node: Node<'a>, words: &[&'a str]) -> Taken<'a> {
        match (node, words) {
            (Node::Bfd, ["profile", name]) => {
                self.profiles.entry(name).or_default();
                return Ok(Some(Node::Profile(name)));
            }
            (Node::Profile(name), words) => {
                profile(self.profiles.entry(name).or_default(), words)?;
            }
            (Node::Clause(name, number), words) => {
                let said = self.maps.entry(name).or_default().entry(number).or_default();
                clause(said, words)?;
            }
            (Node::Process, ["address-family", "ipv6", "unicast"]) => return Ok(Some(Node::Family)),
            (Node::Process, words) => self.instance(words)?,
            (Node::Family, words) => self.family(words)?,
            (Node::Bfd, _) => return Err(Refusal::Unknown),
        }
        Ok(None)
    }

    fn instance(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        let bgp = self.process.as_mut().ok_or(Refusal::Unknown)?;
        match words {
            ["bgp", "router-id", id] => bgp.router_id = Some(parse(id)?),
            ["no", "bgp", "default", "ipv4-unicast"] => bgp.process.ipv4 = false,
            ["bgp", "log-neighbor-changes"] => {}
            ["bgp", "ebgp-requires-policy"] => bgp.process.strict = true,
            ["no", "bgp", "ebgp-requires-policy"] => bgp.process.strict = false,
            ["bgp", "graceful-restart"] => bgp.process.restart.graceful = true,
            ["bgp", "graceful-restart", "preserve-fw-state"] => bgp.process.restart.preserves = true,
            ["bgp", "graceful-restart", "stalepath-time", time] => {
                bgp.process.restart.stale_s = Some(parse(time)?);
            }
            ["bgp", "graceful-restart", "restart-time", time] => {
                bgp.process.restart.within_s = Some(parse(time)?);
            }
            ["bgp", "bestpath", "as-path", "multipath-relax"] => bgp.process.relaxed = true,
            ["timers", "bgp", keepalive, hold] => {
                bgp.process.timers = Some((parse(keepalive)?, parse(hold)?));
            }
            ["neighbor", name, "peer-group"] => {
                bgp.groups.entry(name).or_default();
            }
            ["neighbor", name, "interface", rest @ ..] => bgp.interface(name, rest)?,
            ["neighbor", name, "remote-as", asn] => bgp.remote(name, remote(asn)?),
            ["neighbor", name, rest @ ..] => bgp.agreed(name).process(rest)?,
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    fn family(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        let bgp = self.process.as_mut().ok_or(Refusal::Unknown)?;
        match words {
            ["network", prefix] => bgp.networks.push(parse(prefix)?),
            ["maximum-paths", paths] => {
                let width = parse(paths)?;
                // FRR refuses the line above what it is built for (`--enable-multipath=256`), and keeps one path.
                if !(1..=256).contains(&width) {
                    return Err(Refusal::Value(format!("`maximum-paths {width}` is refused: at most 256")));
                }
                bgp.process.width = Some(width);
            }
            ["neighbor", name, rest @ ..] => bgp.agreed(name).family(rest)?,
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    /// Resolves the names; what nothing bears is a fault of the device.
    pub(super) fn finish(mut self, device: &mut Device<'a>) {
        let Some(mut bgp) = self.process.take() else { return };
        // In whatever order they are written: filters name them by their place among them.
        bgp.networks.sort_unstable();
        let Instance { asn, router_id, process, networks, .. } = &bgp;
        let mut lost = BTreeSet::new();
        let neighbours = bgp.neighbours.iter().filter_map(|known| {
            let link_local_only = known.link_local_only;
            Some(Neighbour {
                name: Cow::Borrowed(known.name),
                // A session without a number does not come up.
                remote: known.remote.or_else(|| bgp.of_group(known.name))?,
                terms: Terms { link_local_only, ..self.terms(&bgp, known.name, &mut lost) },
            })
        });
        device.bgp = Some(Config {
            asn: *asn,
            router_id: *router_id,
            networks: networks.clone(),
            process: *process,
            neighbours: neighbours.collect(),
        });
        let known: BTreeSet<&str> = bgp.neighbours.iter().map(|known| known.name).collect();
        lost.extend(bgp.agreed.keys().filter(|name| !known.contains(*name)).map(|name| ("neighbour", *name)));
        for (kind, name) in lost {
            let message = format!("{kind} `{name}` is referred to and is not there");
            device.fault(FaultKind::Dangling, FILE, vec![format!(" {name}")], message);
        }
    }

    fn terms(&self, bgp: &Instance<'a>, name: &str, lost: &mut Lost<'a>) -> Terms {
        let own = bgp.agreed.get(name).copied().unwrap_or_default();
        let group = own.group.map_or_else(Agreed::default, |group| {
            bgp.groups.get(group).copied().unwrap_or_else(|| {
                lost.insert(("peer group", group));
                Agreed::default()
            })
        });
        let limit = own.limit.or(group.limit);
        let mut policy = |name: Option<&'a str>| {
            let name = name?;
            Some(self.policy(name, &bgp.networks, lost))
        };
        let accepted = policy(own.accepted.or(group.accepted));
        let announced = policy(own.announced.or(group.announced));
        let bfd = own.bfd.or(group.bfd).map(|profile| {
            self.profiles.get(profile).copied().unwrap_or_else(|| {
                if !profile.is_empty() {
                    lost.insert(("profile", profile));
                }
                Bfd::default()
            })
        });
        Terms {
            active: own.active || group.active,
            link_local_only: false,
            bfd,
            interval_s: own.interval_s.or(group.interval_s),
            connect_s: own.connect_s.or(group.connect_s),
            accepted,
            announced,
            limit: limit.map(|(limit, _)| limit),
            retry_min: limit.and_then(|(_, retry)| retry),
            accepts_own: own.accepts_own || group.accepts_own,
        }
    }

    /// A route map that is not there refuses everything.
    fn policy(&self, name: &'a str, own: &[Ipv6Net], lost: &mut Lost<'a>) -> Policy {
        let Some(map) = self.maps.get(name) else {
            lost.insert(("route map", name));
            return Policy::default();
        };
        Policy(map.values().map(|said| self.clause(said, own, lost)).collect())
    }

    /// What a clause refers to and is not there matches nothing.
    fn clause(&self, said: &Said<'a>, own: &[Ipv6Net], lost: &mut Lost<'a>) -> Clause {
        let prefixes = said.prefixes.map(|name| self.prefixes.get(name));
        let paths = said.path.map(|name| self.paths.get(name));
        let missing = [
            ("prefix list", said.prefixes.filter(|_| prefixes == Some(None))),
            ("list of paths", said.path.filter(|_| paths == Some(None))),
            ("list of communities", said.community.filter(|name| !self.drained.contains(name))),
        ];
        lost.extend(missing.into_iter().filter_map(|(kind, name)| Some((kind, name?))));
        let entries = |list: Option<&BTreeMap<u32, Entry>>| {
            list.into_iter().flat_map(BTreeMap::values).map(|entry| normal(*entry, own)).collect()
        };
        let prefixes = prefixes.map(entries);
        let lengths = paths.map(|list| lengths(list.into_iter().flat_map(BTreeMap::values)));
        Clause { prefixes, lengths, if_drained: said.community.is_some(), ..said.clause.clone() }
    }
}

/// What is referred to and is not there: its kind and name.
type Lost<'a> = BTreeSet<(&'static str, &'a str)>;

impl<'a> Instance<'a> {
    /// `neighbor NAME interface`: alone, or with a number or a group behind it.
    fn interface(&mut self, name: &'a str, words: &[&'a str]) -> Result<(), Refusal> {
        let (link_local_only, rest) = match words {
            ["v6only", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let remote = match rest {
            [] => None,
            ["remote-as", asn] => Some(remote(asn)?),
            ["peer-group", group] => {
                self.agreed(name).group = Some(group);
                None
            }
            _ => return Err(Refusal::Unknown),
        };
        self.neighbours.push(Known { name, remote, link_local_only });
        Ok(())
    }

    /// `neighbor NAME remote-as`: of a group, of a neighbour that is known, or of a new one.
    fn remote(&mut self, name: &'a str, remote: Remote) {
        if let Some(group) = self.groups.get_mut(name) {
            group.remote = Some(remote);
        } else if let Some(known) = self.neighbours.iter_mut().find(|known| known.name == name) {
            known.remote = Some(remote);
        } else {
            self.neighbours.push(Known { name, remote: Some(remote), link_local_only: false });
        }
    }

    /// Who a neighbour may be by its group.
    fn of_group(&self, name: &str) -> Option<Remote> {
        self.groups.get(self.agreed.get(name)?.group?)?.remote
    }

    /// Returns what is said of a neighbour or a group.
    fn agreed(&mut self, name: &'a str) -> &mut Agreed<'a> {
        let all = if self.groups.contains_key(name) { &mut self.groups } else { &mut self.agreed };
        all.entry(name).or_default()
    }
}

impl<'a> Agreed<'a> {
    fn process(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        match words {
            ["peer-group", group] => self.group = Some(group),
            ["description", ..] => {}
            ["bfd"] => self.bfd = Some(""),
            ["bfd", "profile", profile] => self.bfd = Some(profile),
            ["advertisement-interval", time] => self.interval_s = Some(parse(time)?),
            ["timers", "connect", time] => self.connect_s = Some(parse(time)?),
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    fn family(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        match words {
            ["activate"] => self.active = true,
            ["maximum-prefix", limit] => self.limit = Some((parse(limit)?, None)),
            ["maximum-prefix", limit, "restart", retry] => {
                self.limit = Some((parse(limit)?, Some(parse(retry)?)));
            }
            ["route-map", name, "in"] => self.accepted = Some(name),
            ["route-map", name, "out"] => self.announced = Some(name),
            ["allowas-in"] | ["allowas-in", _] => self.accepts_own = true,
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }
}

fn profile(bfd: &mut Bfd, words: &[&str]) -> Result<(), Refusal> {
    match words {
        ["detect-multiplier", number] => bfd.multiplier = parse(number)?,
        ["transmit-interval", time] => bfd.transmit_ms = parse(time)?,
        ["receive-interval", time] => bfd.receive_ms = parse(time)?,
        _ => return Err(Refusal::Unknown),
    }
    Ok(())
}

fn clause<'a>(said: &mut Said<'a>, words: &[&'a str]) -> Result<(), Refusal> {
    match words {
        ["description", ..] => {}
        ["match", "ipv6", "address", "prefix-list", name] => said.prefixes = Some(name),
        ["match", "as-path", name] => said.path = Some(name),
        ["match", "community", name] => said.community = Some(name),
        ["set", "local-preference", value] => said.clause.preference = Some(parse(value)?),
        ["set", "community", "graceful-shutdown", "additive"] => said.clause.drains = true,
        ["set", "extcommunity", "bandwidth", "cumulative"] => said.clause.bandwidth = Some(Bandwidth::Sum),
        ["set", "extcommunity", "bandwidth", value] => {
            said.clause.bandwidth = Some(Bandwidth::Mbps(parse(value)?));
        }
        _ => return Err(Refusal::Unknown),
    }
    Ok(())
}

fn permit(action: &str) -> Result<bool, Refusal> {
    match action {
        "permit" => Ok(true),
        "deny" => Ok(false),
        _ => Err(Refusal::Unknown),
    }
}

fn remote(asn: &str) -> Result<Remote, Refusal> {
    if asn == "external" { Ok(Remote::Any) } else { Ok(Remote::As(parse(asn)?)) }
}

/// Without `ge` and `le` a prefix matches itself; with one of them, the other end is its own length or 128.
fn entry(action: &str, net: Ipv6Net, rest: &[&str]) -> Result<Entry, Refusal> {
    let own = net.prefix_len();
    let (from, to) = match rest {
        [] => (own, own),
        ["ge", from] => (parse(from)?, 128),
        ["le", to] => (own, parse(to)?),
        ["ge", from, "le", to] => (parse(from)?, parse(to)?),
        _ => return Err(Refusal::Unknown),
    };
    Ok(Entry { permit: permit(action)?, matched: Matched::Within { net: net.trunc(), from, to } })
}

/// Says of a prefix that the switch announces of its own which of them it is.
fn normal(entry: Entry, own: &[Ipv6Net]) -> Entry {
    let Matched::Within { net, from, to } = entry.matched else { return entry };
    let place = own.iter().take(usize::from(u8::MAX)).position(|own| *own == net);
    match place.filter(|_| (from, to) == (net.prefix_len(), net.prefix_len())) {
        Some(at) => Entry { matched: Matched::Own(at as u8), ..entry },
        None => entry,
    }
}

/// Returns the number of autonomous systems that a pattern matches, where it matches by number alone.
fn length(pattern: &str) -> Option<u8> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    if inner.is_empty() {
        return Some(0);
    }
    let numbers: Vec<&str> = inner.split('_').collect();
    let any = numbers.iter().all(|number| *number == "[0-9]+");
    u8::try_from(numbers.len()).ok().filter(|count| any && *count <= LONGEST)
}

/// The first entry that matches decides.
fn lengths<'e>(entries: impl Iterator<Item = &'e (bool, u8)>) -> Lengths {
    let (mut seen, mut all) = (0u64, 0u64);
    for (permit, length) in entries {
        let bit = 1u64 << length;
        if seen & bit == 0 && *permit {
            all |= bit;
        }
        seen |= bit;
    }
    Lengths(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_count_numbers() {
        for (pattern, found) in [
            ("^$", Some(0)),
            ("^[0-9]+$", Some(1)),
            ("^[0-9]+_[0-9]+$", Some(2)),
            ("^65001_[0-9]+$", None),
            (".*", None),
            ("[0-9]+", None),
        ] {
            assert_eq!(length(pattern), found, "{pattern}");
        }
    }

    #[test]
    fn an_entry_without_lengths_is_one_prefix() {
        let net: Ipv6Net = "2001:db8::/32".parse().expect("a prefix");
        let of = |rest: &[&str]| match entry("permit", net, rest).expect("an entry").matched {
            Matched::Within { from, to, .. } => (from, to),
            Matched::Own(_) => unreachable!("nothing is announced"),
        };
        assert_eq!(of(&[]), (32, 32));
        assert_eq!(of(&["ge", "64"]), (64, 128));
        assert_eq!(of(&["le", "64"]), (32, 64));
        assert_eq!(of(&["ge", "48", "le", "64"]), (48, 64));
        assert!(entry("permit", net, &["eq", "64"]).is_err());
    }
}
