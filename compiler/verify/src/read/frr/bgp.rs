//! Reads the BGP configuration of FRR: the process, its neighbours, and filters.
//!
//! In: commands with their nodes in the command tree. Out: [`Names`]. Invariants: unknown commands that could affect
//! routes are rejected.

use closc_artefacts::Prefix;

use crate::model::bgp::{Bandwidth, Bfd, Entry, PrefixMatch, Process, Remote};
use crate::read::bgp::{Instance, Names, NeighbourEntry, NeighbourTerms, RouteMapClause, length};
use crate::read::value::{self, family as family_of, parse};

/// A node of the command tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node<'a> {
    /// `bfd`.
    Bfd,
    /// `profile` in `bfd`.
    Profile(&'a str),
    /// A clause of a route map.
    Clause(&'a str, u32),
    /// `router bgp`.
    Process,
    /// `address-family ipv6 unicast` or `address-family ipv4 unicast`.
    Family,
}

/// Reason why a command is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The command is unknown.
    Unknown,
    /// A value is invalid.
    Value(String),
    /// The command follows the end of the configuration.
    Left,
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Refusal::Value(message)
    }
}

/// Result of an accepted command: the node that it opens, if any.
type NodeResult<'a> = Result<Option<Node<'a>>, Refusal>;

/// Reads commands one by one.
#[derive(Debug, Default)]
pub(super) struct BgpReader<'a> {
    pub(super) names: Names<'a>,
    /// Maximum number of next hops of a route in this build of FRR (`--enable-multipath`).
    pub(super) multipath_max: u16,
}

impl<'a> BgpReader<'a> {
    /// Processes a command at the top level.
    pub(super) fn top(&mut self, words: &[&'a str]) -> NodeResult<'a> {
        match words {
            ["bfd"] => return Ok(Some(Node::Bfd)),
            [command, "prefix-list", name, "seq", number, action, prefix, rest @ ..] => {
                let family = family_of(command).ok_or(Refusal::Unknown)?;
                let entry = entry(action, value::prefix(family, prefix)?, rest)?;
                self.names.prefixes.entry(name).or_default().insert(parse(number)?, entry);
            }
            ["bgp", "as-path", "access-list", name, "seq", number, action, pattern] => {
                let entry = (permit(action)?, length(pattern).ok_or(Refusal::Unknown)?);
                self.names.paths.entry(name).or_default().insert(parse(number)?, entry);
            }
            ["bgp", "community-list", "standard", name, "seq", _, "permit", "graceful-shutdown"] => {
                self.names.drained.insert(name);
            }
            ["route-map", name, action, number] => {
                let number: u32 = parse(number)?;
                let said = self.names.maps.entry(name).or_default().entry(number).or_default();
                said.clause.permit = permit(action)?;
                return Ok(Some(Node::Clause(name, number)));
            }
            ["router", "bgp", asn] if self.names.process.is_none() => {
                self.names.process = Some(Instance {
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

    /// Processes a command inside a node.
    pub(super) fn inside(&mut self, node: Node<'a>, words: &[&'a str]) -> NodeResult<'a> {
        match (node, words) {
            (Node::Bfd, ["profile", name]) => {
                self.names.profiles.entry(name).or_default();
                return Ok(Some(Node::Profile(name)));
            }
            (Node::Profile(name), words) => {
                profile(self.names.profiles.entry(name).or_default(), words)?;
            }
            (Node::Clause(name, number), words) => {
                let said = self.names.maps.entry(name).or_default().entry(number).or_default();
                clause(said, words)?;
            }
            (Node::Process, ["address-family", word, "unicast"]) => {
                let bgp = self.names.process.as_mut().ok_or(Refusal::Unknown)?;
                bgp.open_family(word).then_some(()).ok_or(Refusal::Unknown)?;
                return Ok(Some(Node::Family));
            }
            (Node::Process, words) => self.instance(words)?,
            (Node::Family, words) => self.family(words)?,
            (Node::Bfd, _) => return Err(Refusal::Unknown),
        }
        Ok(None)
    }

    fn instance(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        let bgp = self.names.process.as_mut().ok_or(Refusal::Unknown)?;
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
                bgp.process.restart.max_duration_s = Some(parse(time)?);
            }
            ["bgp", "bestpath", "as-path", "multipath-relax"] => bgp.process.relaxed = true,
            ["timers", "bgp", keepalive, hold] => {
                bgp.process.timers = Some((parse(keepalive)?, parse(hold)?));
            }
            ["neighbor", name, "peer-group"] => {
                bgp.groups.entry(name).or_default();
            }
            ["neighbor", name, "interface", rest @ ..] => interface(bgp, name, rest)?,
            ["neighbor", name, "remote-as", asn] => bgp.set_remote(name, remote(asn)?),
            ["neighbor", name, rest @ ..] => process(bgp.terms_mut(name), rest)?,
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    fn family(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        let bgp = self.names.process.as_mut().ok_or(Refusal::Unknown)?;
        match words {
            ["network", prefix] => {
                let family = bgp.process.family.ok_or(Refusal::Unknown)?;
                bgp.networks.push(value::prefix(family, prefix)?);
            }
            ["maximum-paths", paths] => {
                let width = parse(paths)?;
                // Above its limit, FRR rejects the line and uses a single path.
                let most = self.multipath_max;
                if !(1..=most).contains(&width) {
                    return Err(Refusal::Value(format!(
                        "`maximum-paths {width}` is out of range; expected at most {most}"
                    )));
                }
                bgp.process.width = Some(width);
            }
            ["neighbor", name, rest @ ..] => family(bgp.terms_mut(name), rest)?,
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }
}

/// Reads `neighbor NAME interface`, with optional `v6only`, remote AS and peer group.
fn interface<'a>(bgp: &mut Instance<'a>, name: &'a str, words: &[&'a str]) -> Result<(), Refusal> {
    let (link_local_only, rest) = match words {
        ["v6only", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let remote = match rest {
        [] => None,
        ["remote-as", asn] => Some(remote(asn)?),
        ["peer-group", group] => {
            bgp.terms_mut(name).group = Some(group);
            None
        }
        _ => return Err(Refusal::Unknown),
    };
    bgp.neighbours.push(NeighbourEntry { name, remote, link_local_only });
    Ok(())
}

/// Reads the terms of a neighbour or group outside an address family.
fn process<'a>(agreed: &mut NeighbourTerms<'a>, words: &[&'a str]) -> Result<(), Refusal> {
    match words {
        ["peer-group", group] => agreed.group = Some(group),
        ["description", ..] => {}
        ["bfd"] => agreed.bfd = Some(""),
        ["bfd", "profile", profile] => agreed.bfd = Some(profile),
        ["advertisement-interval", time] => agreed.interval_s = Some(parse(time)?),
        ["timers", "connect", time] => agreed.connect_s = Some(parse(time)?),
        _ => return Err(Refusal::Unknown),
    }
    Ok(())
}

/// Reads the terms of a neighbour or group for an address family.
fn family<'a>(agreed: &mut NeighbourTerms<'a>, words: &[&'a str]) -> Result<(), Refusal> {
    match words {
        ["activate"] => agreed.active = Some(true),
        ["maximum-prefix", limit] => agreed.limit = Some((parse(limit)?, None)),
        ["maximum-prefix", limit, "restart", retry] => {
            agreed.limit = Some((parse(limit)?, Some(parse(retry)?)));
        }
        ["route-map", name, "in"] => agreed.accepted = Some(name),
        ["route-map", name, "out"] => agreed.announced = Some(name),
        ["allowas-in"] | ["allowas-in", _] => agreed.accepts_own = true,
        _ => return Err(Refusal::Unknown),
    }
    Ok(())
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

fn clause<'a>(said: &mut RouteMapClause<'a>, words: &[&'a str]) -> Result<(), Refusal> {
    match words {
        ["description", ..] => {}
        ["match", command, "address", "prefix-list", name] => {
            said.set_prefix_list(family_of(command).ok_or(Refusal::Unknown)?, name);
        }
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

/// Parses an entry of a prefix list. Without `ge` and `le`, a prefix matches only itself. Without `ge`, the minimum is
/// the length of the prefix. With `ge` alone, the maximum is the full length.
fn entry(action: &str, net: Prefix, rest: &[&str]) -> Result<Entry, Refusal> {
    let own = net.prefix_len();
    let length = |text: &str| value::length(net.family(), text);
    let (from, to) = match rest {
        [] => (own, own),
        ["ge", from] => (length(from)?, 128),
        ["le", to] => (own, length(to)?),
        ["ge", from, "le", to] => (length(from)?, length(to)?),
        _ => return Err(Refusal::Unknown),
    };
    Ok(Entry { permit: permit(action)?, prefix_match: PrefixMatch::Within { net: net.trunc(), from, to } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_without_lengths_is_one_prefix() {
        let net: Prefix = "2001:db8::/32".parse().expect("a prefix");
        let of = |rest: &[&str]| match entry("permit", net, rest).expect("an entry").prefix_match {
            PrefixMatch::Within { from, to, .. } => (from, to),
            PrefixMatch::Own(_) => unreachable!("nothing is announced"),
        };
        assert_eq!(of(&[]), (32, 32));
        assert_eq!(of(&["ge", "64"]), (64, 128));
        assert_eq!(of(&["le", "64"]), (32, 64));
        assert_eq!(of(&["ge", "48", "le", "64"]), (48, 64));
        assert!(entry("permit", net, &["eq", "64"]).is_err());
    }
}
