//! BGP statements of a configuration (lists, filters, groups, neighbours), and the resolution of their names.
//!
//! In: statements from the readers of each language. Out: a [`Config`] in which names are resolved. Invariants:
//! undefined names are reported.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use closc_artefacts::{Family, Prefix};

use crate::model::bgp::{
    Bfd, Clause, Config, Entry, LONGEST, Lengths, Neighbour, Policy, PrefixMatch, Process, Remote, Terms,
};
use crate::model::device::{Device, FaultKind};
use crate::model::place::Target;
use crate::read::undefined;

/// All statements, by the name that they define.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    /// BFD profiles.
    pub(crate) profiles: BTreeMap<&'a str, Bfd>,
    /// Prefix lists, with entries by sequence number.
    pub(crate) prefixes: BTreeMap<&'a str, BTreeMap<u32, Entry>>,
    /// AS path lists: by sequence number, whether the entry permits and the path length that it matches.
    pub(crate) paths: BTreeMap<&'a str, BTreeMap<u32, (bool, u8)>>,
    /// Names of community lists that match the community of drained paths (GRACEFUL_SHUTDOWN, RFC 8326).
    pub(crate) drained: BTreeSet<&'a str>,
    /// Route maps, with clauses by sequence number.
    pub(crate) maps: BTreeMap<&'a str, BTreeMap<u32, RouteMapClause<'a>>>,
    /// The BGP process.
    pub(crate) process: Option<Instance<'a>>,
    /// Address family of the process, once it is resolved.
    family: Option<Family>,
}

/// A clause of a route map, with unresolved names.
#[derive(Debug, Default)]
pub(crate) struct RouteMapClause<'a> {
    pub(crate) clause: Clause,
    pub(crate) prefixes: Option<&'a str>,
    /// Address family of the prefixes that the clause matches.
    pub(crate) family: Option<Family>,
    pub(crate) path: Option<&'a str>,
    pub(crate) community: Option<&'a str>,
}

impl<'a> RouteMapClause<'a> {
    /// Adds a prefix list that routes of an address family must match.
    pub(crate) fn set_prefix_list(&mut self, family: Family, name: &'a str) {
        self.family = Some(family);
        self.prefixes = Some(name);
    }
}

/// `router bgp`.
#[derive(Debug, Default)]
pub(crate) struct Instance<'a> {
    pub(crate) asn: u32,
    pub(crate) router_id: Option<Ipv4Addr>,
    pub(crate) process: Process,
    pub(crate) networks: Vec<Prefix>,
    pub(crate) groups: BTreeMap<&'a str, NeighbourTerms<'a>>,
    pub(crate) neighbours: Vec<NeighbourEntry<'a>>,
    pub(crate) neighbour_terms: BTreeMap<&'a str, NeighbourTerms<'a>>,
}

/// A neighbour: its name, its own remote AS if any, and whether it is restricted to its link-local address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NeighbourEntry<'a> {
    pub(crate) name: &'a str,
    pub(crate) remote: Option<Remote>,
    pub(crate) link_local_only: bool,
}

/// Terms of a neighbour or a group, with unresolved names.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NeighbourTerms<'a> {
    pub(crate) remote: Option<Remote>,
    pub(crate) group: Option<&'a str>,
    /// Whether the address family of the fabric is activated, if stated.
    pub(crate) active: Option<bool>,
    /// The BFD profile; `None` without BFD. If the name is empty, the times are those of `bfd_times`, or the defaults.
    pub(crate) bfd: Option<&'a str>,
    pub(crate) bfd_times: Option<Bfd>,
    pub(crate) interval_s: Option<u16>,
    pub(crate) connect_s: Option<u16>,
    pub(crate) accepted: Option<&'a str>,
    pub(crate) announced: Option<&'a str>,
    pub(crate) limit: Option<(u32, Option<u16>)>,
    /// Seconds until a session that exceeded its prefix limit is restarted, if stated.
    pub(crate) rest_s: Option<u16>,
    pub(crate) accepts_own: bool,
    /// Address family of the next hops of IPv4 routes (RFC 8950), if the language states it.
    pub(crate) next_hops: Option<Family>,
    /// Whether communities are sent, if the language requires a command for that.
    pub(crate) sends_communities: bool,
    /// Whether all routes are denied without a filter, inbound and outbound. Only groups have this setting.
    pub(crate) strict: [bool; 2],
}

/// Undefined references: the kind and name of each.
pub(crate) type UndefinedReferences<'a> = BTreeSet<(&'static str, &'a str)>;

impl<'a> Names<'a> {
    /// Resolves all names. Also returns the undefined references; `None` without a BGP process.
    pub(crate) fn resolve(mut self) -> Option<(Config<'a>, UndefinedReferences<'a>)> {
        let mut bgp = self.process.take()?;
        self.family = bgp.process.family;
        // The prefixes are sorted, because filters refer to them by index.
        bgp.networks.sort_unstable();
        let mut lost = BTreeSet::new();
        let neighbours = bgp.neighbours.iter().filter_map(|known| {
            let link_local_only = known.link_local_only;
            Some(Neighbour {
                name: Cow::Borrowed(known.name),
                // A session without a remote AS does not come up.
                remote: known.remote.or_else(|| bgp.of_group(known.name))?,
                terms: Terms { link_local_only, ..self.terms(&bgp, known.name, &mut lost) },
            })
        });
        let neighbours = neighbours.collect();
        let known: BTreeSet<&str> = bgp.neighbours.iter().map(|known| known.name).collect();
        lost.extend(
            bgp.neighbour_terms.keys().filter(|name| !known.contains(*name)).map(|name| ("neighbour", *name)),
        );
        let Instance { asn, router_id, process, networks, .. } = bgp;
        Some((Config { asn, router_id, networks, process, neighbours }, lost))
    }

    /// Stores the resolved configuration in a device, and adds faults for undefined references.
    pub(crate) fn store_in(self, device: &mut Device<'a>, file: &'static str) {
        let Some((config, lost)) = self.resolve() else { return };
        device.bgp = Some(config);
        faults(device, file, &lost, undefined::target);
    }

    fn terms(&self, bgp: &Instance<'a>, name: &str, lost: &mut UndefinedReferences<'a>) -> Terms {
        let own = bgp.neighbour_terms.get(name).copied().unwrap_or_default();
        let group = own.group.map_or_else(NeighbourTerms::default, |group| {
            bgp.groups.get(group).copied().unwrap_or_else(|| {
                lost.insert(("peer group", group));
                NeighbourTerms::default()
            })
        });
        let limit = own.limit.or(group.limit).filter(|(limit, _)| *limit > 0);
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
                own.bfd_times.or(group.bfd_times).unwrap_or_default()
            })
        });
        // Only whole minutes can be compared.
        let rest = || own.rest_s.or(group.rest_s).filter(|rest| rest % 60 == 0).map(|rest| rest / 60);
        Terms {
            active: own.active.or(group.active).unwrap_or(false),
            link_local_only: false,
            bfd,
            interval_s: own.interval_s.or(group.interval_s),
            connect_s: own.connect_s.or(group.connect_s),
            accepted,
            announced,
            limit: limit.map(|(limit, _)| limit),
            retry_min: limit.and_then(|(_, retry)| retry).or_else(rest),
            accepts_own: own.accepts_own || group.accepts_own,
        }
    }

    /// Resolves a route map. An undefined one rejects all routes.
    fn policy(&self, name: &'a str, own: &[Prefix], lost: &mut UndefinedReferences<'a>) -> Policy {
        let Some(map) = self.maps.get(name) else {
            lost.insert(("route map", name));
            return Policy::default();
        };
        Policy(map.values().map(|said| self.clause(said, own, lost)).collect())
    }

    /// Resolves the names in a clause. A clause with an undefined prefix list or AS path list matches nothing. An
    /// undefined community list counts as that of drained paths. All undefined lists are reported.
    fn clause(
        &self,
        said: &RouteMapClause<'a>,
        own: &[Prefix],
        lost: &mut UndefinedReferences<'a>,
    ) -> Clause {
        // A list of the other address family contains no prefix of this one.
        let fits = said.family.is_none_or(|family| Some(family) == self.family);
        let prefixes = said.prefixes.map(|name| self.prefixes.get(name).filter(|_| fits));
        let paths = said.path.map(|name| self.paths.get(name));
        let missing = [
            ("prefix list", said.prefixes.filter(|_| prefixes == Some(None))),
            ("list of paths", said.path.filter(|_| paths == Some(None))),
            ("list of communities", said.community.filter(|name| !self.drained.contains(name))),
        ];
        lost.extend(missing.into_iter().filter_map(|(kind, name)| Some((kind, name?))));
        let entries = |list: Option<&BTreeMap<u32, Entry>>| {
            list.into_iter().flat_map(BTreeMap::values).map(|entry| to_own_index(*entry, own)).collect()
        };
        let prefixes = prefixes.map(entries);
        let listed = paths.map(|list| lengths(list.into_iter().flat_map(BTreeMap::values)));
        let lengths = listed.or(said.clause.lengths);
        Clause { prefixes, lengths, if_drained: said.community.is_some(), ..said.clause.clone() }
    }
}

/// Adds faults for undefined references.
pub(crate) fn faults(
    device: &mut Device<'_>,
    file: &'static str,
    lost: &UndefinedReferences<'_>,
    target: fn(&str, &str) -> Target,
) {
    for (kind, name) in lost {
        let message = format!("{kind} `{name}` is referenced but not defined");
        device.fault(FaultKind::Dangling, file, target(kind, name), message);
    }
}

impl<'a> Instance<'a> {
    /// Opens an address family by its keyword; returns false if the other family is already open.
    pub(crate) fn open_family(&mut self, word: &str) -> bool {
        let named = [Family::V4, Family::V6].into_iter().find(|family| family.config_keyword() == word);
        named.is_some_and(|named| *self.process.family.get_or_insert(named) == named)
    }

    /// Processes `neighbor NAME remote-as` for a group or a neighbour. An unknown name becomes a neighbour.
    pub(crate) fn set_remote(&mut self, name: &'a str, remote: Remote) {
        if let Some(group) = self.groups.get_mut(name) {
            group.remote = Some(remote);
        } else if let Some(known) = self.neighbours.iter_mut().find(|known| known.name == name) {
            known.remote = Some(remote);
        } else {
            self.neighbours.push(NeighbourEntry { name, remote: Some(remote), link_local_only: false });
        }
    }

    /// Returns the remote AS that a neighbour inherits from its group.
    fn of_group(&self, name: &str) -> Option<Remote> {
        self.groups.get(self.neighbour_terms.get(name)?.group?)?.remote
    }

    /// Returns the terms of a neighbour or group for changes.
    pub(crate) fn terms_mut(&mut self, name: &'a str) -> &mut NeighbourTerms<'a> {
        let all = if self.groups.contains_key(name) { &mut self.groups } else { &mut self.neighbour_terms };
        all.entry(name).or_default()
    }
}

/// Replaces an exact match of a prefix that the switch originates with the index of that prefix.
fn to_own_index(entry: Entry, own: &[Prefix]) -> Entry {
    let PrefixMatch::Within { net, from, to } = entry.prefix_match else { return entry };
    let place = own.iter().take(usize::from(u8::MAX)).position(|own| *own == net);
    match place.filter(|_| (from, to) == (net.prefix_len(), net.prefix_len())) {
        Some(at) => Entry { prefix_match: PrefixMatch::Own(at as u8), ..entry },
        None => entry,
    }
}

/// Returns the AS path lengths that a list permits. The first matching entry decides.
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

/// Returns the AS path length that an FRR pattern matches, if it matches by length alone.
pub(crate) fn length(pattern: &str) -> Option<u8> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    if inner.is_empty() {
        return Some(0);
    }
    let numbers: Vec<&str> = inner.split('_').collect();
    let any = numbers.iter().all(|number| *number == "[0-9]+");
    u8::try_from(numbers.len()).ok().filter(|count| any && *count <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::length;

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
}
