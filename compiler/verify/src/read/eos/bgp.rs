//! Reads the BGP configuration of EOS: lists, route maps, groups, and neighbours by port.
//!
//! In: commands with their modes. Out: [`Names`]. Invariants: unknown commands that could affect routes are rejected.
//! Missing settings have the defaults of EOS: a single path, multipath across different AS numbers, announcements
//! without delay, IPv4 on every session.

use closc_artefacts::{Family, Prefix};

use super::place::FILE;
use super::qos::Refusal;
use crate::model::bgp::{Bfd, Entry, LONGEST, Lengths, PrefixMatch, Process, Remote};
use crate::model::device::{Device, FaultKind};
use crate::read::bgp::{Instance, Names, NeighbourEntry, NeighbourTerms, RouteMapClause};
use crate::read::value::{self, parse};

/// Maximum of `maximum-paths` in EOS (pyavd's schema, `router_bgp.maximum_paths`).
const PATHS_MAX: u16 = 600;

/// A mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node<'a> {
    /// A prefix list.
    Prefixes(Family, &'a str),
    /// A clause of a route map.
    Clause(&'a str, u32),
    /// `router bgp`.
    Process,
    /// `address-family ipv6` or `address-family ipv4`.
    Family,
}

/// Reads commands one by one.
#[derive(Debug, Default)]
pub(super) struct BgpReader<'a> {
    names: Names<'a>,
}

/// Result of an accepted command: the mode that it opens, if any.
type ModeResult<'a> = Result<Option<Node<'a>>, Refusal>;

impl<'a> BgpReader<'a> {
    /// Processes a command at the top level.
    pub(super) fn top(&mut self, words: &[&'a str]) -> ModeResult<'a> {
        match words {
            ["ip", "community-list", name, "permit", "GSHUT" | "65535:0"] => {
                self.names.drained.insert(name);
            }
            [command @ ("ip" | "ipv6"), "prefix-list", name] => {
                self.names.prefixes.entry(name).or_default();
                return Ok(Some(Node::Prefixes(value::family(command).ok_or(Refusal::Unknown)?, name)));
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
                    process: Process { ipv4: true, relaxed: true, width: Some(1), ..Process::default() },
                    ..Instance::default()
                });
                return Ok(Some(Node::Process));
            }
            _ => return Err(Refusal::Unknown),
        }
        Ok(None)
    }

    /// Processes a command inside a mode.
    pub(super) fn inside(&mut self, node: Node<'a>, words: &[&'a str]) -> ModeResult<'a> {
        match (node, words) {
            (Node::Prefixes(family, name), ["seq", number, action, prefix, rest @ ..]) => {
                let entry = entry(action, value::prefix(family, prefix)?, rest)?;
                self.names.prefixes.entry(name).or_default().insert(parse(number)?, entry);
            }
            (Node::Clause(name, number), words) => {
                clause(self.names.maps.entry(name).or_default().entry(number).or_default(), words)?;
            }
            (Node::Process, ["address-family", word]) => {
                self.instance()?.open_family(word).then_some(()).ok_or(Refusal::Unknown)?;
                return Ok(Some(Node::Family));
            }
            (Node::Process, words) => self.process(words)?,
            (Node::Family, ["network", prefix]) => {
                let bgp = self.instance()?;
                let family = bgp.process.family.ok_or(Refusal::Unknown)?;
                bgp.networks.push(value::prefix(family, prefix)?);
            }
            (Node::Family, ["neighbor", name, rest @ ..]) => family(self.instance()?.terms_mut(name), rest)?,
            (Node::Prefixes(..) | Node::Family, _) => return Err(Refusal::Unknown),
        }
        Ok(None)
    }

    fn instance(&mut self) -> Result<&mut Instance<'a>, Refusal> {
        self.names.process.as_mut().ok_or(Refusal::Unknown)
    }

    fn process(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        let bgp = self.instance()?;
        match words {
            ["router-id", id] => bgp.router_id = Some(parse(id)?),
            ["bgp", "default", "ipv4-unicast"] => bgp.process.ipv4 = true,
            ["no", "bgp", "default", "ipv4-unicast"] => bgp.process.ipv4 = false,
            ["bgp", "log-neighbor-changes"] => {}
            ["bgp", "bestpath", "as-path", "multipath-relax"] => bgp.process.relaxed = true,
            ["no", "bgp", "bestpath", "as-path", "multipath-relax"] => bgp.process.relaxed = false,
            ["graceful-restart"] => bgp.process.restart.graceful = true,
            ["graceful-restart", "restart-time", time] => {
                bgp.process.restart.max_duration_s = Some(parse(time)?);
            }
            ["graceful-restart", "stalepath-time", time] => bgp.process.restart.stale_s = Some(parse(time)?),
            ["maximum-paths", paths] => bgp.process.width = Some(width(paths)?),
            ["maximum-paths", paths, "ecmp", hops] => {
                bgp.process.width = Some(width(paths)?.min(width(hops)?));
            }
            ["timers", "bgp", keepalive, hold] => {
                bgp.process.timers = Some((parse(keepalive)?, parse(hold)?));
            }
            ["neighbor", "interface", port, "peer-group", group, "remote-as", asn] => {
                bgp.terms_mut(port).group = Some(group);
                let remote = Some(Remote::As(parse(asn)?));
                bgp.neighbours.push(NeighbourEntry { name: port, remote, link_local_only: true });
            }
            ["neighbor", name, "peer", "group"] => {
                bgp.groups.entry(name).or_default();
            }
            ["neighbor", name, "remote-as", asn] => bgp.set_remote(name, Remote::As(parse(asn)?)),
            // These settings are read only from groups, so a neighbour must not override them.
            ["neighbor", name, "send-community" | "missing-policy" | "next-hop", ..]
                if !bgp.groups.contains_key(name) =>
            {
                return Err(Refusal::Unknown);
            }
            ["neighbor", name, rest @ ..] if *name != "interface" => session(bgp.terms_mut(name), rest)?,
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    /// Stores the configuration in a device.
    pub(super) fn finish(mut self, device: &mut Device<'a>) {
        if let Some(bgp) = &mut self.names.process {
            // The default of EOS is not documented, so a missing time counts as 0.
            bgp.process.restart.max_duration_s.get_or_insert(0);
            for agreed in bgp.groups.values_mut() {
                agreed.interval_s.get_or_insert(0);
            }
            bgp.process.strict = bgp.groups.values().all(|group| group.strict == [true; 2]);
            for (name, _) in bgp.groups.iter().filter(|(_, group)| !group.sends_communities) {
                let message = format!(
                    "group `{name}` sends no communities, so neighbours cannot recognise drained paths"
                );
                device.fault(FaultKind::Setting, FILE, vec![format!("neighbor {name} ")], message);
            }
            let is_ipv4 = bgp.process.family == Some(Family::V4);
            for (name, _) in
                bgp.groups.iter().filter(|(_, group)| is_ipv4 && group.next_hops != Some(Family::V6))
            {
                let message = format!(
                    "group `{name}` announces IPv4 routes with IPv4 next hops, which unnumbered ports do not have"
                );
                device.fault(FaultKind::Setting, FILE, vec![format!("neighbor {name} ")], message);
            }
        }
        self.names.store_in(device, FILE);
    }
}

/// Reads the terms of a neighbour or group outside an address family.
fn session<'a>(agreed: &mut NeighbourTerms<'a>, words: &[&'a str]) -> Result<(), Refusal> {
    match words {
        ["description", ..] => {}
        ["bfd"] => agreed.bfd = Some(""),
        ["bfd", "interval", transmit, "min-rx", receive, "multiplier", multiplier] => {
            agreed.bfd_times = Some(Bfd {
                multiplier: parse(multiplier)?,
                transmit_ms: parse(transmit)?,
                receive_ms: parse(receive)?,
            });
        }
        ["out-delay", time] => agreed.interval_s = Some(parse(time)?),
        ["idle-restart-timer", time] => agreed.rest_s = Some(parse(time)?),
        ["send-community"] => agreed.sends_communities = true,
        ["send-community", kinds @ ..] => agreed.sends_communities = kinds.contains(&"standard"),
        // 0 means no limit.
        ["maximum-routes", limit] => {
            agreed.limit = Some((parse(limit)?, None));
        }
        ["missing-policy", "address-family", "all", "direction", direction, "action", action] => {
            let at = usize::from(*direction == "out");
            agreed.strict[at] = *action == "deny";
        }
        ["allowas-in"] | ["allowas-in", _] => agreed.accepts_own = true,
        words => family(agreed, words)?,
    }
    Ok(())
}

/// Reads the terms of a neighbour or group for an address family.
fn family<'a>(agreed: &mut NeighbourTerms<'a>, words: &[&'a str]) -> Result<(), Refusal> {
    match words {
        ["activate"] => agreed.active = Some(true),
        ["route-map", name, "in"] => agreed.accepted = Some(name),
        ["route-map", name, "out"] => agreed.announced = Some(name),
        ["next-hop", "address-family", "ipv6", "originate"] => agreed.next_hops = Some(Family::V6),
        _ => return Err(Refusal::Unknown),
    }
    Ok(())
}

fn clause<'a>(said: &mut RouteMapClause<'a>, words: &[&'a str]) -> Result<(), Refusal> {
    match words {
        ["description", ..] => {}
        ["match", command @ ("ip" | "ipv6"), "address", "prefix-list", name] => {
            said.set_prefix_list(value::family(command).ok_or(Refusal::Unknown)?, name);
        }
        ["match", "community", name] => said.community = Some(name),
        ["match", "as-path", "length", "<=", most] => said.clause.lengths = Some(at_most(parse(most)?)?),
        ["set", "local-preference", value] => said.clause.preference = Some(parse(value)?),
        ["set", "community", "GSHUT" | "65535:0", "additive"] => said.clause.drains = true,
        _ => return Err(Refusal::Unknown),
    }
    Ok(())
}

/// Returns all AS path lengths up to a maximum.
fn at_most(most: u8) -> Result<Lengths, Refusal> {
    if most > LONGEST {
        return Err(Refusal::Unknown);
    }
    Ok(Lengths(u64::MAX >> (LONGEST - most)))
}

fn width(paths: &str) -> Result<u16, Refusal> {
    let width = parse(paths)?;
    if (1..=PATHS_MAX).contains(&width) {
        return Ok(width);
    }
    Err(Refusal::Value(format!("`maximum-paths {width}` is out of range; expected 1 to {PATHS_MAX}")))
}

fn permit(action: &str) -> Result<bool, Refusal> {
    match action {
        "permit" => Ok(true),
        "deny" => Ok(false),
        _ => Err(Refusal::Unknown),
    }
}

/// Parses an entry of a prefix list. Without lengths, a prefix matches only itself.
fn entry(action: &str, net: Prefix, rest: &[&str]) -> Result<Entry, Refusal> {
    let own = net.prefix_len();
    let length = |text: &str| value::length(net.family(), text);
    let (from, to) = match rest {
        [] => (own, own),
        ["eq", both] => (length(both)?, length(both)?),
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
        assert_eq!(of(&["eq", "64"]), (64, 64));
        assert_eq!(of(&["ge", "48", "le", "64"]), (48, 64));
    }

    #[test]
    fn paths_are_counted() {
        let of = |most| at_most(most).expect("few").longest();
        assert_eq!([of(0), of(1), of(LONGEST)], [Some(0), Some(1), Some(LONGEST)]);
        assert!(at_most(LONGEST + 1).is_err());
    }
}
