//! The stable state of BGP: the routes that every switch receives, computed from all announcements.
//!
//! In: sessions, filters and announcements of a plane. Out: routes as if they were configured, and violations of
//! filters and limits. Invariants: the stable state is unique. Switches prefer paths without the drained mark, then
//! shorter ones (checked by V1813), and a path never becomes better when it is passed on. The best paths of all
//! switches are therefore found in this order, each once, as in Dijkstra's algorithm. The order of BGP messages does
//! not affect the result.
//!
//! The prefixes of an announcement are a bitset. A switch treats most prefixes equally, so there are few bitsets. Paths
//! omit the originating AS, so many prefixes share a path.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use closc_artefacts::Prefix;
use rayon::prelude::*;

use super::bandwidth;
use super::bits::Bits;
use crate::check::bgp::{comes_up, speakers};
use crate::finding::{Findings, Violation};
use crate::model::bgp::{Bandwidth, Entry, Policy, PrefixMatch, Speaker, Terms, is_listed};
use crate::model::cabling::{DeviceId, Side, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::language::UnsupportedSetting;
use crate::model::switch::{Gateway, NextHop, NextHopSet, ReceivedRoutes};
use crate::rules::bgp::{LIMIT, STABLE, TRANSIT, WIDTH};

/// FRR's default for `maximum-paths`.
const DEFAULT_WIDTH: usize = 256;

/// Computes the routes that each switch receives, and adds them to the switch. Routes to loopbacks are only
/// counted, because they lead to a switch and not to a NIC.
pub(crate) fn converge(fabric: &mut Fabric) -> Findings {
    let loopbacks: HashSet<Prefix> =
        fabric.switches.iter().flatten().flat_map(|switch| switch.loopbacks.iter().copied()).collect();
    let (converged, findings) = settle(fabric, &|prefix| !loopbacks.contains(prefix));
    for (id, received) in converged {
        let Some(switch) = fabric.switches[id.0 as usize].as_mut() else { continue };
        switch.sizes.routes += received.count;
        switch.other_routes.receive(received.routes);
    }
    findings
}

/// Returns the routes that every switch receives.
pub(crate) fn routes(fabric: &Fabric) -> (SwitchRoutes, Findings) {
    let (all, findings) = settle(fabric, &|_| true);
    (all.into_iter().map(|(id, received)| (id, received.routes)).collect(), findings)
}

/// Computes the stable state of every plane. Routes to prefixes that `keep` rejects are only counted. Every switch has
/// such a route to the loopback of each other switch of its plane.
fn settle(fabric: &Fabric, keep: &RouteFilter<'_>) -> (Vec<(SwitchId, RouteCounts)>, Findings) {
    let mut planes: BTreeMap<Option<u8>, Vec<SwitchId>> = BTreeMap::new();
    for (id, _) in speakers(fabric) {
        planes.entry(fabric.switch(id).and_then(|switch| switch.plane)).or_default().push(id);
    }
    let planes: Vec<Vec<SwitchId>> = planes.into_values().collect();
    let settled: Vec<(Vec<(SwitchId, RouteCounts)>, Findings)> =
        planes.par_iter().map(|ids| Plane::new(fabric, ids, keep).settle()).collect();
    let (mut all, mut findings) = (Vec::new(), Findings::default());
    for (converged, found) in settled {
        all.extend(converged);
        findings = findings.merge(found);
    }
    (all, findings)
}

/// Received routes by switch.
pub(crate) type SwitchRoutes = Vec<(SwitchId, ReceivedRoutes)>;

/// A filter that returns whether routes to a prefix are stored.
type RouteFilter<'k> = dyn Fn(&Prefix) -> bool + Sync + 'k;

/// Routes that a switch receives.
struct RouteCounts {
    /// Number of routes, stored or not.
    count: usize,
    /// Stored routes.
    routes: ReceivedRoutes,
}

/// Rank of a path: the drained mark, then the AS path length. Lower is better.
type Rank = (bool, u8);

/// The AS numbers of a path after the first one: those that are always in it, and those that may be in it. The latter
/// depend on which of several equal paths was received first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Transit {
    surely: Vec<u32>,
    maybe: Vec<u32>,
}

impl Transit {
    /// Returns the path extended by one switch.
    fn through(&self, asn: u32) -> Transit {
        let with = |list: &[u32]| {
            let mut list = list.to_vec();
            if let Err(at) = list.binary_search(&asn) {
                list.insert(at, asn);
            }
            list
        };
        Transit { surely: with(&self.surely), maybe: with(&self.maybe) }
    }

    /// Merges another path into this one. Either may be the announced path.
    fn or(&mut self, other: &Transit) {
        self.surely.retain(|asn| other.surely.contains(asn));
        for asn in &other.maybe {
            if let Err(at) = self.maybe.binary_search(asn) {
                self.maybe.insert(at, *asn);
            }
        }
    }
}

/// An announcement of a switch to its neighbours.
#[derive(Debug, Clone)]
struct Announcement {
    prefixes: Bits,
    rank: Rank,
    transit: Arc<Transit>,
    bandwidth: Option<u64>,
    /// Whether the switch received it from the tier above.
    from_above: bool,
}

/// Prefixes that a switch receives together over a cable, filtered by both ends.
#[derive(Debug, Clone)]
struct Offer {
    /// The receiving switch by its index in the plane, and its slot for the cable.
    to: usize,
    slot: u16,
    prefixes: Arc<Bits>,
    transit: Arc<Transit>,
    bandwidth: Option<u64>,
    /// Whether the sending switch received it from the tier above.
    from_above: bool,
}

/// Prefixes that pass a filter.
#[derive(Debug, Clone)]
struct PassedPrefixes {
    prefixes: Bits,
    drained: bool,
    bandwidth: Option<Bandwidth>,
}

/// Paths that pass the filters of both ends: their rank, prefixes and bandwidth.
type ReceivedPath = (Rank, Arc<Bits>, Option<u64>);

/// Indices of prefixes, and the next hops that they share.
type Class = (Box<[u32]>, Arc<[NextHop]>);

/// Routes that a switch has received so far.
#[derive(Debug, Clone, Default)]
struct State {
    /// Prefixes whose best paths are known.
    settled_prefixes: Bits,
    /// Best paths to prefixes whose routes are stored.
    classes: Vec<Class>,
    /// Number of prefixes received over each cable.
    received: Vec<u64>,
    /// The largest number of next hops of a prefix.
    widest: usize,
}

/// One plane.
struct Plane<'a> {
    fabric: &'a Fabric,
    ids: &'a [SwitchId],
    speakers: Vec<&'a Speaker>,
    /// Index of each switch.
    places: HashMap<SwitchId, usize>,
    /// All announced prefixes.
    prefixes: Arc<[Prefix]>,
    /// Whether routes to each prefix are stored.
    kept: Vec<bool>,
    /// The prefixes that each AS originates.
    origins: HashMap<u32, Bits>,
    states: Vec<State>,
    /// The other end of each established session, by switch and slot. It is computed once, because every announcement
    /// needs it.
    up: Vec<Vec<Option<(usize, u16)>>>,
    offers: BTreeMap<Rank, Vec<Offer>>,
    findings: Findings,
}

impl<'a> Plane<'a> {
    fn new(fabric: &'a Fabric, ids: &'a [SwitchId], keep: &RouteFilter<'_>) -> Self {
        let speakers: Vec<&Speaker> =
            ids.iter().filter_map(|id| fabric.switch(*id)?.speaker.as_ref()).collect();
        let mut prefixes: Vec<Prefix> =
            speakers.iter().flat_map(|speaker| speaker.networks.iter().copied()).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let state = |speaker: &&Speaker| State {
            settled_prefixes: Bits::new(prefixes.len()),
            classes: Vec::new(),
            received: vec![0; speaker.sessions.len()],
            widest: 0,
        };
        Plane {
            states: speakers.iter().map(state).collect(),
            places: ids.iter().enumerate().map(|(at, id)| (*id, at)).collect(),
            fabric,
            ids,
            speakers,
            kept: prefixes.iter().map(keep).collect(),
            prefixes: prefixes.into(),
            origins: HashMap::new(),
            up: Vec::new(),
            offers: BTreeMap::new(),
            findings: Findings::default(),
        }
    }

    fn settle(mut self) -> (Vec<(SwitchId, RouteCounts)>, Findings) {
        let mut own = Vec::with_capacity(self.ids.len());
        for (at, speaker) in self.speakers.clone().into_iter().enumerate() {
            let networks = self.places_of(speaker.networks.iter().copied());
            let empty = || Bits::new(self.prefixes.len());
            self.origins.entry(speaker.asn).or_insert_with(empty).add(&networks);
            self.states[at].settled_prefixes = networks.clone();
            own.push(networks);
        }
        let slots = |at: usize| 0..self.speakers[at].sessions.len() as u16;
        let up = |at: usize| slots(at).map(|slot| self.up(self.ids[at], slot)).collect();
        self.up = (0..self.ids.len()).map(up).collect();
        let transit = Arc::new(Transit::default());
        for (at, prefixes) in own.into_iter().enumerate() {
            let transit = Arc::clone(&transit);
            let own =
                Announcement { prefixes, rank: (false, 0), transit, bandwidth: None, from_above: false };
            self.announce(at, &own);
        }
        while let Some((rank, mut offers)) = self.offers.pop_first() {
            offers.sort_by_key(|offer| (offer.to, offer.slot));
            for received in offers.chunk_by(|a, b| a.to == b.to) {
                for announcement in self.receive(rank, received) {
                    self.announce(received[0].to, &announcement);
                }
            }
        }
        self.limits();
        let converged = (0..self.ids.len()).map(|at| (self.ids[at], self.routes(at))).collect();
        (converged, self.findings)
    }

    /// Returns the set of indices of prefixes.
    fn places_of(&self, some: impl Iterator<Item = Prefix>) -> Bits {
        let mut places = Bits::new(self.prefixes.len());
        some.filter_map(|prefix| self.prefixes.binary_search(&prefix).ok()).for_each(|at| places.set(at));
        places
    }

    /// Sends an announcement over all sessions that are up, through the filters of both ends.
    fn announce(&mut self, at: usize, announcement: &Announcement) {
        let speaker = self.speakers[at];
        // Most cables on one side of a switch have the same filters at both ends, so results are cached.
        let mut passed: HashMap<(u16, *const Terms, usize, bool), Vec<ReceivedPath>> = HashMap::new();
        for (far, session) in self.up[at].iter().zip(&speaker.sessions) {
            let (Some(far), Some(session)) = (*far, *session) else { continue };
            let sent = &speaker.terms[usize::from(session.terms)];
            let receiver = self.speakers[far.0];
            let Some((_, terms)) = receiver.session(far.1) else { continue };
            let own = if names_own(terms) { far.0 + 1 } else { 0 };
            // Without a filter, routes are accepted unless the switch requires filters (RFC 8212).
            let key = (session.terms, Arc::as_ptr(terms), own, receiver.process.strict);
            let passed = passed
                .entry(key)
                .or_insert_with(|| self.pass(announcement, (speaker, sent), (receiver, terms)));
            for (rank, prefixes, bandwidth) in passed {
                self.offers.entry(*rank).or_default().push(Offer {
                    to: far.0,
                    slot: far.1,
                    prefixes: Arc::clone(prefixes),
                    transit: Arc::clone(&announcement.transit),
                    bandwidth: *bandwidth,
                    from_above: announcement.from_above,
                });
            }
        }
    }

    /// Returns the index of the switch at the other end of an established session, and its slot.
    fn up(&self, id: SwitchId, slot: u16) -> Option<(usize, u16)> {
        let (_, cable, side) = self.fabric.slot_cable(id, slot);
        let (own, far) = cable.ends(side);
        let DeviceId::Switch(peer) = far.party else { return None };
        let place = *self.places.get(&peer)?;
        let on = |end| self.fabric.facts(end).is_some_and(|facts| facts.up);
        (comes_up(self.fabric, own, far) && on(own) && on(far)).then_some((place, far.slot))
    }

    /// Applies the filters of both ends to an announcement.
    fn pass(
        &self,
        announcement: &Announcement,
        (sender, sent): (&Speaker, &Terms),
        (receiver, terms): (&Speaker, &Terms),
    ) -> Vec<ReceivedPath> {
        let (drained, length) = announcement.rank;
        let out = self.filter(sent.announced.as_ref(), sender, &announcement.prefixes, (drained, length));
        let mut all = Vec::new();
        for announced in out {
            let bandwidth = bandwidth::announced_bandwidth(announced.bandwidth, announcement.bandwidth);
            let rank = (announced.drained, length.saturating_add(1));
            for accepted in self.filter(terms.accepted.as_ref(), receiver, &announced.prefixes, rank) {
                all.push(((accepted.drained, rank.1), Arc::new(accepted.prefixes), bandwidth));
            }
        }
        all
    }

    /// Returns the prefixes that pass a filter, by their resulting attributes.
    fn filter(
        &self,
        policy: Option<&Policy>,
        speaker: &Speaker,
        prefixes: &Bits,
        (drained, length): Rank,
    ) -> Vec<PassedPrefixes> {
        let Some(policy) = policy else {
            let passes = !speaker.process.strict;
            let all = PassedPrefixes { prefixes: prefixes.clone(), drained, bandwidth: None };
            return if passes { vec![all] } else { Vec::new() };
        };
        let mut rest = prefixes.clone();
        let mut passed = Vec::new();
        for clause in &policy.0 {
            let fits =
                clause.lengths.is_none_or(|lengths| lengths.has(length)) && (drained || !clause.if_drained);
            if !fits {
                continue;
            }
            let matched = match &clause.prefixes {
                Some(list) => self.listed_prefixes(list, speaker, &rest),
                None => rest.clone(),
            };
            rest.remove(&matched);
            if clause.permit && !matched.is_empty() {
                let drained = drained || clause.drains;
                passed.push(PassedPrefixes { prefixes: matched, drained, bandwidth: clause.bandwidth });
            }
        }
        passed
    }

    fn listed_prefixes(&self, list: &[Entry], speaker: &Speaker, among: &Bits) -> Bits {
        let mut found = Bits::new(self.prefixes.len());
        let matches = |at: &usize| is_listed(list, self.prefixes[*at], &speaker.networks);
        among.iter().map(|at| at as usize).filter(matches).for_each(|at| found.set(at));
        found
    }

    /// Processes the offers to one switch at a rank, and returns its announcements.
    fn receive(&mut self, rank: Rank, offers: &[Offer]) -> Vec<Announcement> {
        let to = offers[0].to;
        let (id, speaker) = (self.ids[to], self.speakers[to]);
        let mut fresh: Vec<(&Offer, Bits)> = Vec::with_capacity(offers.len());
        for offer in offers {
            let Some(mut accepted) = self.accepted_prefixes(speaker, id, offer) else { continue };
            self.states[to].received[usize::from(offer.slot)] += accepted.count();
            if accepted.is_empty() {
                continue;
            }
            self.transit(id, offer);
            accepted.remove(&self.states[to].settled_prefixes);
            if !accepted.is_empty() {
                fresh.push((offer, accepted));
            }
        }
        let weighs =
            self.fabric.switch(id).is_some_and(|switch| switch.language.says(UnsupportedSetting::Bandwidths));
        let mut announcements: Vec<Announcement> = Vec::new();
        for (prefixes, members) in group_offers(&fresh, self.prefixes.len()) {
            let members: Vec<&Offer> = members.iter().map(|at| fresh[*at].0).collect();
            let mut transit = (*members[0].transit).clone();
            members[1..].iter().for_each(|offer| transit.or(&offer.transit));
            self.width(id, speaker, &members, &transit);
            let kept: Box<[u32]> = prefixes.iter().filter(|at| self.kept[*at as usize]).collect();
            let state = &mut self.states[to];
            state.widest = state.widest.max(members.len());
            state.settled_prefixes.add(&prefixes);
            if !kept.is_empty() {
                state.classes.push((kept, weigh_next_hops(&members, weighs)));
            }
            let sum: u64 = members.iter().filter_map(|offer| offer.bandwidth.filter(|_| weighs)).sum();
            let above = |offer: &&Offer| self.fabric.slot_cable(id, offer.slot).2 == Side::Lower;
            let announcement = Announcement {
                rank,
                transit: Arc::new(transit.through(speaker.asn)),
                bandwidth: Some(sum).filter(|sum| *sum > 0),
                from_above: members.iter().any(above),
                prefixes,
            };
            let same = |known: &&mut Announcement| {
                known.transit == announcement.transit
                    && (known.bandwidth, known.from_above)
                        == (announcement.bandwidth, announcement.from_above)
            };
            match announcements.iter_mut().find(same) {
                Some(known) => known.prefixes.add(&announcement.prefixes),
                None => announcements.push(announcement),
            }
        }
        announcements
    }

    /// Returns the prefixes of an offer whose paths do not contain the local AS; `None` if all paths contain
    /// it. A session that accepts its own AS accepts all prefixes.
    fn accepted_prefixes(&mut self, speaker: &Speaker, id: SwitchId, offer: &Offer) -> Option<Bits> {
        let mut accepted = (*offer.prefixes).clone();
        if speaker.session(offer.slot).is_some_and(|(_, terms)| terms.accepts_own) {
            return Some(accepted);
        }
        if offer.transit.surely.contains(&speaker.asn) {
            return None;
        }
        if let Some(own) = self.origins.get(&speaker.asn) {
            accepted.remove(own);
        }
        self.findings.count_facts(&STABLE, 1);
        if offer.transit.maybe.contains(&speaker.asn) && !accepted.is_empty() {
            let message = format!(
                "whether `{}` accepts {} depends on which of several equal paths its neighbour received \
                 first",
                self.fabric.cabling.switch(id),
                self.some(&accepted),
            );
            self.findings.report(Violation::new(&STABLE, self.fabric.place(id, FactKind::Filters), message));
        }
        Some(accepted)
    }

    /// Formats one of the prefixes in a set.
    fn some(&self, prefixes: &Bits) -> String {
        prefixes.iter().next().map_or_else(String::new, |at| format!("`{}`", self.prefixes[at as usize]))
    }

    /// Reports routes from a lower switch that received them from the tier above.
    fn transit(&mut self, id: SwitchId, offer: &Offer) {
        let (_, cable, side) = self.fabric.slot_cable(id, offer.slot);
        let (own, far) = cable.ends(side);
        let DeviceId::Switch(below) = far.party else { return };
        if side != Side::Upper {
            return;
        }
        self.findings.count_facts(&TRANSIT, 1);
        if offer.from_above {
            let cabling = &self.fabric.cabling;
            let message = format!(
                "`{}` announces {} to `{}`, although it received it from above",
                cabling.switch(below),
                self.some(&offer.prefixes),
                cabling.end(own)
            );
            let violation = Violation::new(&TRANSIT, self.fabric.place(below, FactKind::Filters), message);
            self.findings.report(violation.and(self.fabric.place(id, FactKind::Filters)));
        }
    }

    /// Checks that paths of equal length are used together, whatever AS numbers they contain.
    fn width(&mut self, id: SwitchId, speaker: &Speaker, members: &[&Offer], transit: &Transit) {
        self.findings.count_facts(&WIDTH, 1);
        if !speaker.process.relaxed && members.len() > 1 && transit.surely != transit.maybe {
            let message = format!(
                "`{}` has {} paths of equal length with different autonomous systems in them, and uses them one at a time",
                self.fabric.cabling.switch(id),
                members.len()
            );
            self.findings.report(Violation::new(&WIDTH, self.fabric.place(id, FactKind::Bgp), message));
        }
    }

    /// Checks numbers of prefixes and next hops against the configured limits.
    fn limits(&mut self) {
        for (at, id) in self.ids.iter().enumerate() {
            let (speaker, state) = (self.speakers[at], &self.states[at]);
            let width = speaker.process.width.map_or(DEFAULT_WIDTH, usize::from);
            self.findings.expect(state.widest <= width, &WIDTH, || {
                let message = format!(
                    "`{}` has {} paths to a prefix but uses {width}",
                    self.fabric.cabling.switch(*id),
                    state.widest
                );
                Violation::new(&WIDTH, self.fabric.place(*id, FactKind::Bgp), message)
            });
            for (slot, received) in state.received.iter().enumerate() {
                let Some((_, terms)) = speaker.session(slot as u16) else { continue };
                let Some(limit) = terms.limit else { continue };
                self.findings.expect(*received <= u64::from(limit), &LIMIT, || {
                    let (_, cable, side) = self.fabric.slot_cable(*id, slot as u16);
                    let (own, far) = cable.ends(side);
                    let message = format!(
                        "`{}` announces {received} prefixes to `{}`; the limit is {limit}",
                        self.fabric.cabling.end(far),
                        self.fabric.cabling.end(own)
                    );
                    let about = FactKind::Session(self.fabric.cabling.names.text(own.port));
                    Violation::new(&LIMIT, self.fabric.place(*id, about), message)
                });
            }
        }
    }

    /// Returns the received routes of a switch in ascending order, except those to prefixes that the switch
    /// originates or for which it has a static route.
    fn routes(&mut self, at: usize) -> RouteCounts {
        let State { settled_prefixes: mut received, classes, .. } = std::mem::take(&mut self.states[at]);
        let Some(switch) = self.fabric.switch(self.ids[at]) else {
            return RouteCounts { count: 0, routes: ReceivedRoutes::default() };
        };
        received.remove(&self.places_of(self.speakers[at].networks.iter().copied()));
        received.remove(&self.places_of(switch.other_routes.iter().map(|route| route.prefix)));
        // Indices ascend with prefixes, and each prefix is in only one class.
        let mut found: Vec<(u32, u32)> = Vec::new();
        for (class, (places, _)) in (0..).zip(&classes) {
            let own = places.iter().filter(|place| received.get(**place as usize));
            found.extend(own.map(|place| (*place, class)));
        }
        found.sort_unstable();
        let routes = ReceivedRoutes {
            prefixes: Arc::clone(&self.prefixes),
            next_hop_sets: classes.into_iter().map(|(_, ways)| NextHopSet::Alike(ways)).collect(),
            routes: found.into(),
        };
        RouteCounts { count: received.count() as usize, routes }
    }
}

/// Returns whether a filter depends on the prefixes that the switch originates.
fn names_own(terms: &Terms) -> bool {
    let clauses = terms.accepted.iter().flat_map(|policy| &policy.0);
    clauses
        .flat_map(|clause| clause.prefixes.iter().flatten())
        .any(|entry| matches!(entry.prefix_match, PrefixMatch::Own(_)))
}

/// Partitions prefixes by the offers that contain them. Returns each part with the indices of its offers.
///
/// Most offers have the same prefixes, because all switches above offer the prefixes of one zone. Each distinct set is
/// therefore examined once. Many other sets differ from the most frequent one in only a few prefixes. A set that
/// contains at least half of the most frequent one is stored as its differences from it, any other set as its prefixes.
fn group_offers(offers: &[(&Offer, Bits)], prefixes: usize) -> Vec<(Bits, Vec<usize>)> {
    let mut places: hashbrown::HashMap<&Bits, usize> = hashbrown::HashMap::new();
    let mut rows: Vec<(&Bits, Vec<usize>)> = Vec::new();
    for (at, (_, own)) in offers.iter().enumerate() {
        let place = *places.entry(own).or_insert(rows.len());
        if place == rows.len() {
            rows.push((own, Vec::new()));
        }
        rows[place].1.push(at);
    }
    let Some(frequent) = rows.iter().max_by_key(|(_, offers)| (offers.len(), Reverse(offers[0]))) else {
        return Vec::new();
    };
    let frequent = frequent.0;
    let half = frequent.count().div_ceil(2);
    let near: Vec<bool> = rows.iter().map(|(own, _)| own.count_both(frequent) >= half).collect();
    let mut union = Bits::new(prefixes);
    let mut odd: Vec<(u32, u32)> = Vec::new();
    for ((at, (own, _)), near) in (0..).zip(&rows).zip(&near) {
        union.add(own);
        if *near {
            odd.extend(own.differ(frequent).map(|prefix| (prefix, at)));
        } else {
            odd.extend(own.iter().map(|prefix| (prefix, at)));
        }
    }
    odd.sort_unstable();
    let mut parts: BTreeMap<(bool, Vec<u32>), Bits> = BTreeMap::new();
    let mut odd = &*odd;
    for prefix in union.iter() {
        let (own, rest) = odd.split_at(odd.iter().take_while(|(other, _)| *other == prefix).count());
        let key = (frequent.get(prefix as usize), own.iter().map(|(_, at)| *at).collect());
        parts.entry(key).or_insert_with(|| Bits::new(prefixes)).set(prefix as usize);
        odd = rest;
    }
    let members = |(usual, odd): &(bool, Vec<u32>)| {
        let all = (0..).zip(&rows).zip(&near);
        let offering = all.filter(|((at, _), near)| (*usual && **near) != odd.binary_search(at).is_ok());
        let mut members: Vec<usize> = offering.flat_map(|((_, (_, offers)), _)| offers).copied().collect();
        members.sort_unstable();
        members
    };
    parts.into_iter().map(|(key, part)| (part, members(&key))).collect()
}

/// Computes the weights of next hops as FRR 10 does. Weights are equal if the switch does not use bandwidths.
fn weigh_next_hops(members: &[&Offer], weighs: bool) -> Arc<[NextHop]> {
    let bandwidths: Vec<Option<u64>> =
        members.iter().map(|offer| offer.bandwidth.filter(|_| weighs)).collect();
    members
        .iter()
        .zip(bandwidth::weights(&bandwidths))
        .map(|(offer, weight)| NextHop { slot: Some(offer.slot), gateway: Gateway::Peer, weight })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(slot: u16, prefixes: &Arc<Bits>, bandwidth: Option<u64>) -> Offer {
        Offer {
            to: 0,
            slot,
            prefixes: Arc::clone(prefixes),
            transit: Arc::new(Transit::default()),
            bandwidth,
            from_above: false,
        }
    }

    fn row(bits: &[usize]) -> Arc<Bits> {
        let mut row = Bits::new(100);
        for bit in bits {
            row.set(*bit);
        }
        Arc::new(row)
    }

    #[test]
    fn prefixes_are_parted_by_who_offers_them() {
        let rows = [row(&[1, 2, 3, 70]), row(&[1, 2, 3, 71]), row(&[1, 2, 72])];
        let offers: Vec<Offer> =
            rows.iter().enumerate().map(|(slot, row)| offer(slot as u16, row, None)).collect();
        let offers: Vec<(&Offer, Bits)> =
            offers.iter().map(|offer| (offer, (*offer.prefixes).clone())).collect();
        let mut parts: Vec<(Vec<u32>, Vec<usize>)> = group_offers(&offers, 100)
            .into_iter()
            .map(|(part, members)| (part.iter().collect(), members))
            .collect();
        parts.sort();
        let expected = [
            (vec![1, 2], vec![0, 1, 2]),
            (vec![3], vec![0, 1]),
            (vec![70], vec![0]),
            (vec![71], vec![1]),
            (vec![72], vec![2]),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn parts_are_those_of_a_look_at_each_prefix() {
        let frequent: Vec<usize> = (0..40).collect();
        let rows = [row(&frequent), row(&[70, 71]), row(&frequent[5..]), row(&[3, 70]), row(&frequent)];
        let offers: Vec<Offer> =
            rows.iter().enumerate().map(|(slot, row)| offer(slot as u16, row, None)).collect();
        let offers: Vec<(&Offer, Bits)> =
            offers.iter().map(|offer| (offer, (*offer.prefixes).clone())).collect();
        let mut expected: BTreeMap<Vec<usize>, Vec<u32>> = BTreeMap::new();
        for prefix in 0..100 {
            let members: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].get(prefix)).collect();
            if !members.is_empty() {
                expected.entry(members).or_default().push(prefix as u32);
            }
        }
        let parts = group_offers(&offers, 100).into_iter();
        assert_eq!(
            parts.map(|(part, members)| (members, part.iter().collect())).collect::<BTreeMap<_, Vec<u32>>>(),
            expected
        );
    }

    #[test]
    fn paths_that_may_be_announced_are_kept_apart() {
        let mut path = Transit::default().through(7).through(5);
        path.or(&Transit::default().through(7).through(6));
        assert_eq!(path, Transit { surely: vec![7], maybe: vec![5, 6, 7] });
    }
}
