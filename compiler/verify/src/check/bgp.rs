//! V18: sessions of BGP, what they announce and what they take.
//!
//! In: what each switch is told. Out: violations of single switches, of both ends of a cable, and of all switches
//! together. What follows from it for routes is derived in [`crate::proof::learned`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use closc_diagnostics::Rule;
use ipnet::Ipv6Net;
use rayon::prelude::*;

use crate::attach::Attach;
use crate::finding::{Findings, Violation};
use crate::model::bgp::{
    Clause, Config, Lengths, Matched, Neighbour, Policy, Process, Remote, Session, Speaker, Terms,
};
use crate::model::cabling::{Cable, CableId, End, Party, Side, SwitchId};
use crate::model::device::{Os, Via};
use crate::model::fabric::{About, Fabric};
use crate::model::segment::Tier;

/// Both ends talk.
pub(crate) static SESSION: Rule = Rule {
    code: "V1801",
    title: "a cable between switches without a session",
    what: "Over every cable between two switches both ends speak BGP: a neighbour is told by the name of the port, \
           IPv6 is activated for it, and the port has a link-local address and tells it by router advertisements.",
    why: "Without a session neither end learns what is behind the cable, and it carries nothing.",
    example: "no `neighbor eth501 interface v6only remote-as 4216777217` on a T0 with a cable in `eth501`",
    fix: "Compile again; declare under `exceptions` what is absent.",
};

/// It is the switch that is meant.
pub(crate) static REMOTE: Rule = Rule {
    code: "V1802",
    title: "a session that expects another autonomous system",
    what: "The number that a switch expects of a neighbour is written out, and is the own number of the switch at the \
           other end of the cable.",
    why: "With another number the session does not come up; with any number allowed a cable in the wrong plane does \
          come up, and joins two planes.",
    example: "`neighbor eth501 interface v6only remote-as external`",
    fix: "Compile again.",
};

/// Nobody else.
pub(crate) static STRANGER: Rule = Rule {
    code: "V1803",
    title: "a session with nobody of the fabric",
    what: "Every neighbour is known by a port with a cable to a switch, each port by one neighbour.",
    why: "Whoever is at the other end could announce anything: nothing of it is in the tree.",
    example: "`neighbor 2001:db8::1 remote-as 65000`",
    fix: "Take it out, or describe what is there in the fabric file.",
};

/// The plan of numbers.
pub(crate) static NUMBERS: Rule = Rule {
    code: "V1804",
    title: "an autonomous system where it must not be",
    what: "A T0 has a number of its own; a number of other switches is used in one plane and tier only, and both \
           ends of a cable have different ones. Every file of a switch that gives its number gives the same.",
    why: "A switch drops paths with its own number in them: with a number in two places routes are lost, and a cable \
          in the wrong plane brings a session up.",
    example: "`router bgp 4200000001` on two T0s",
    fix: "Compile again.",
};

/// Router ids.
pub(crate) static IDENTIFIER: Rule = Rule {
    code: "V1805",
    title: "a router id that is missing or used twice",
    what: "Every switch has a router id, which no other switch has.",
    why: "Two neighbours of one router id refuse each other; without one it is taken from whatever address is there.",
    example: "`bgp router-id 1.0.0.1` on two switches",
    fix: "Compile again.",
};

/// Silence is noticed alike.
pub(crate) static SILENCE: Rule = Rule {
    code: "V1806",
    title: "the ends of a session notice silence differently",
    what: "Both ends of a session have the same keepalive and hold times, the same times between announcements and \
           attempts to connect, and watch each other by BFD with the same numbers.",
    why: "One end would keep sending into a cable that the other has given up.",
    example: "`timers bgp 3 9` at one end and `timers bgp 60 180` at the other",
    fix: "Compile again; a template overlay may not set these for one end alone.",
};

/// Announced is what is owned.
pub(crate) static OWNED: Rule = Rule {
    code: "V1807",
    title: "a prefix that is announced and not owned, or owned and not announced",
    what: "What a switch announces of its own is its loopback, or has a route of exactly this prefix; no other switch \
           of the plane announces it, and it is no default route. Every loopback is announced, and so is a prefix \
           around each NIC that a switch has a route to.",
    why: "Packets for a prefix that two announce are delivered by turns; one that nobody announces is reached by \
          nobody.",
    example: "`network 2001:db8:1000:2::/64` on the T0 of group 1",
    fix: "Compile again.",
};

/// Filters of what comes in.
pub(crate) static TAKEN: Rule = Rule {
    code: "V1808",
    title: "a filter takes what nobody should announce",
    what: "What is taken from a neighbour passes a filter by prefixes, none of them shorter than the shortest that \
           the fabric announces, and is refused if the own autonomous system is in its path.",
    why: "A default route or a summary from one misled neighbour would draw the traffic of the whole plane.",
    example: "`ipv6 prefix-list FABRIC seq 5 permit ::/0 le 128`",
    fix: "Compile again; take additions out of template overlays.",
};

/// Down is down.
pub(crate) static TRANSIT: Rule = Rule {
    code: "V1809",
    title: "what came from above is announced above again",
    what: "A T0 announces nothing but its own, by its filter of prefixes or of path lengths; no switch gets from below \
           what the one below heard from above.",
    why: "A packet that went down would go up again: it takes capacity where there is least, and where priorities are \
          paused it can close a circle of pauses.",
    example: "`match ipv6 address prefix-list FABRIC` and no `match as-path` in what a T0 announces",
    fix: "Compile again.",
};

/// Limits hold what comes.
pub(crate) static LIMIT: Rule = Rule {
    code: "V1810",
    title: "a session carries more prefixes than it may",
    what: "Every session has a limit of prefixes, and the neighbour announces at most as many.",
    why: "A session over its limit is ended, and with it everything behind the cable is lost; a session without one \
          lets a leak through to the tables of the hardware.",
    example: "`neighbor ABOVE maximum-prefix 8` where 40 prefixes come",
    fix: "Compile again.",
};

/// All ways are used.
pub(crate) static WIDTH: Rule = Rule {
    code: "V1811",
    title: "a switch uses fewer ways than there are",
    what: "`maximum-paths` is at least the greatest number of equal ways to any prefix, and ways of one length are \
           used together even where different autonomous systems are in them.",
    why: "Ways that are left out carry nothing, and the others carry their share.",
    example: "`maximum-paths 64` on a T0 with 128 uplinks",
    fix: "Compile again; a platform that cannot use as many ways has `ecmp_width` in its description.",
};

/// Drained is the last resort.
pub(crate) static RESORT: Rule = Rule {
    code: "V1812",
    title: "a drained cable that is used first, or one in use that is the last resort",
    what: "What is taken over a cable is marked as drained (RFC 8326) and gets the lowest preference exactly if the \
           cable list calls the cable drained.",
    why: "The cable would be unplugged under traffic; or capacity that was paid for stays unused.",
    example: "`neighbor eth502 route-map ABOVE-IN-DRAINED in` on one end of a drained cable only",
    fix: "Compile again.",
};

/// There is one outcome.
pub(crate) static STABLE: Rule = Rule {
    code: "V1813",
    title: "sessions may settle in more than one way, or never",
    what: "All switches prefer alike: by whether a path is marked as drained, which no switch takes back, then by \
           its length, so a path is less preferred with each switch that it passes; and whether a path is taken does not \
           depend on which of several equal ones was heard first. Then there is exactly one stable state.",
    why: "Where preferences go round in a circle, routes change for ever, or depend on which switch started first.",
    example: "`set local-preference 200` in what one T1 takes from one T0",
    fix: "Compile again; take preferences out of template overlays.",
};

/// Switches of a tier are alike.
pub(crate) static ALIKE: Rule = Rule {
    code: "V1814",
    title: "BGP of a switch is not as on others of its tier",
    what: "Apart from numbers, ports and own prefixes, all switches of a tier and language have the same settings, \
           filters and limits towards the same side.",
    why: "What is right everywhere else is wrong here, and shows when something fails.",
    example: "no `bgp graceful-restart` on one T1",
    fix: "Compile again; a template overlay may not change single switches.",
};

/// The family.
pub(crate) const RULES: &[&Rule] = &[
    &SESSION,
    &REMOTE,
    &STRANGER,
    &NUMBERS,
    &IDENTIFIER,
    &SILENCE,
    &OWNED,
    &TAKEN,
    &TRANSIT,
    &LIMIT,
    &WIDTH,
    &RESORT,
    &STABLE,
    &ALIKE,
];

/// Keeps what a switch is told of BGP by its cables, and reports what it shows alone.
pub(crate) fn speaker(attach: &mut Attach<'_, '_>) -> Option<Speaker> {
    if !attach.context.unnumbered {
        return None;
    }
    let device = attach.device;
    let Some(config) = &device.bgp else {
        attach.findings.checked(&SESSION, 1);
        attach.broken(&SESSION, About::Bgp, "it does not speak BGP");
        return None;
    };
    attach.findings.checked(&NUMBERS, 1);
    if let Some(asn) = device.asn.filter(|asn| *asn != config.asn) {
        let message =
            format!("its configuration says autonomous system {asn}, and `frr.conf` {}", config.asn);
        attach.broken(&NUMBERS, About::Device, &message);
    }
    attach.findings.checked(&IDENTIFIER, 1);
    if config.router_id.is_none() {
        attach.broken(&IDENTIFIER, About::Bgp, "it has no router id");
    }
    owned(attach, config);
    let mut terms: Vec<Arc<Terms>> = Vec::new();
    let sessions = sessions(attach, config, &mut terms);
    Some(Speaker {
        asn: config.asn,
        router_id: config.router_id,
        networks: config.networks.clone(),
        process: attach.context.processes.intern(&config.process).1,
        terms,
        sessions,
    })
}

fn owned(attach: &mut Attach<'_, '_>, config: &Config<'_>) {
    let device = attach.device;
    for network in &config.networks {
        attach.findings.checked(&OWNED, 1);
        let routed = device.routes.iter().any(|route| route.prefix == *network);
        let message = if network.prefix_len() == 0 {
            format!("`{network}` is announced, which is everything")
        } else if routed || device.loopbacks.contains(network) {
            continue;
        } else {
            format!("`{network}` is announced, and is neither its loopback nor the prefix of a route")
        };
        attach.broken(&OWNED, About::Network(&network.to_string()), &message);
    }
    for loopback in device.loopbacks.iter().filter(|loopback| !config.networks.contains(loopback)) {
        attach.broken(&OWNED, About::Loopback, &format!("its loopback `{loopback}` is not announced"));
    }
    let nics = device.routes.iter().filter(|route| !matches!(route.via, Via::Blackhole));
    for route in nics {
        attach.findings.checked(&OWNED, 1);
        if !config.networks.iter().any(|network| network.contains(&route.prefix)) {
            let message = format!("`{}` leads to a NIC, and nothing around it is announced", route.text);
            attach.broken(&OWNED, About::Route(&route.text), &message);
        }
    }
}

/// Lays neighbours over cables. Only what can come up is kept.
fn sessions(
    attach: &mut Attach<'_, '_>,
    config: &Config<'_>,
    terms: &mut Vec<Arc<Terms>>,
) -> Vec<Option<Session>> {
    let device = attach.device;
    let plugs = attach.context.cabling.at_switch(attach.id);
    let mut sessions = vec![None; plugs.len()];
    let mut told = vec![false; plugs.len()];
    let by_name: HashMap<&str, usize> =
        device.ports.iter().enumerate().map(|(at, port)| (&*port.name, at)).collect();
    let mut indexes: HashMap<&Terms, u16> = HashMap::new();
    for neighbour in &config.neighbours {
        attach.findings.checked(&STRANGER, 1);
        let about = About::Session(&neighbour.name);
        let port = by_name.get(&*neighbour.name).copied();
        let slot = port.and_then(|port| attach.slots[port]).filter(|slot| {
            let plug = plugs[usize::from(*slot)];
            let (_, far) = attach.context.cabling.cable(plug.cable).ends(plug.side);
            matches!(far.party, Party::Switch(_))
        });
        let (Some(port), Some(slot)) = (port, slot) else {
            let message =
                format!("`{}` is a neighbour, and no port with a cable to a switch", neighbour.name);
            attach.broken(&STRANGER, about, &message);
            continue;
        };
        if std::mem::replace(&mut told[usize::from(slot)], true) {
            attach.broken(&STRANGER, about, &format!("`{}` is a neighbour twice", neighbour.name));
            continue;
        }
        if let Some(why) = silent(&device.ports[port], neighbour) {
            // A link-local address is a matter of the port, and not of the routing.
            let about =
                if device.ports[port].hello.link_local { about } else { About::Port(&neighbour.name) };
            attach.broken(&SESSION, about, &format!("port `{}` {why}", neighbour.name));
            continue;
        }
        let index = *indexes.entry(&neighbour.terms).or_insert_with(|| {
            terms.push(attach.context.terms.intern(&neighbour.terms).1);
            terms.len() as u16 - 1
        });
        sessions[usize::from(slot)] = Some(Session { remote: neighbour.remote, terms: index });
    }
    for (plug, told) in plugs.iter().zip(told) {
        let cabling = attach.context.cabling;
        let (own, far) = cabling.cable(plug.cable).ends(plug.side);
        if let Party::Switch(_) = far.party {
            attach.findings.checked(&SESSION, 1);
            if !told {
                let name = cabling.names.text(own.port);
                let message =
                    format!("port `{name}` leads to `{}`, and there is no session", cabling.end(far));
                attach.unlike(&SESSION, About::Bgp, Some(plug.cable), &message);
            }
        }
    }
    sessions
}

/// Says what keeps a session from coming up.
fn silent(port: &crate::model::device::Port<'_>, neighbour: &Neighbour<'_>) -> Option<&'static str> {
    if !port.hello.link_local {
        return Some("has a session and no link-local address");
    }
    if !neighbour.terms.active {
        return Some("has a session that carries no IPv6 prefixes");
    }
    (!port.hello.advertises).then_some("has a session and tells nobody its address")
}

/// Holds what switches are told against each other.
pub(crate) fn check(fabric: &Fabric, findings: &mut Findings) {
    if fabric.switches.iter().flatten().all(|switch| switch.speaker.is_none()) {
        return;
    }
    numbers(fabric, findings);
    identifiers(fabric, findings);
    announced(fabric, findings);
    filters(fabric, findings);
    alike(fabric, findings);
    let cables = &fabric.cabling.cables;
    let of_cables = (0..cables.len())
        .into_par_iter()
        .with_min_len(1 << 12)
        .fold(Findings::default, |mut findings, at| {
            ends(fabric, CableId(at as u32), &cables[at], &mut findings);
            findings
        })
        .reduce(Findings::default, Findings::merge);
    *findings = std::mem::take(findings).merge(of_cables);
}

/// Returns the switches that speak.
pub(crate) fn speakers(fabric: &Fabric) -> impl Iterator<Item = (SwitchId, &Speaker)> {
    fabric.cabling.switch_ids().filter_map(|id| Some((id, fabric.switch(id)?.speaker.as_ref()?)))
}

/// Tells whether two switches may have one number. A switch without cables is in no plane or tier, and harms nobody.
fn may_share(fabric: &Fabric, one: SwitchId, other: SwitchId) -> bool {
    let place = |id| fabric.switch(id).and_then(|switch| switch.tier.zip(switch.plane));
    match (place(one), place(other)) {
        (Some(one), Some(other)) => one == other && one.0 != Tier::T0,
        (Some(known), None) | (None, Some(known)) => known.0 != Tier::T0,
        (None, None) => true,
    }
}

/// A T0's number is its own; others are of one plane and tier.
fn numbers(fabric: &Fabric, findings: &mut Findings) {
    let mut first: HashMap<u32, SwitchId> = HashMap::new();
    for (id, speaker) in speakers(fabric) {
        findings.checked(&NUMBERS, 1);
        let other = *first.entry(speaker.asn).or_insert(id);
        if other != id && !may_share(fabric, other, id) {
            let names = [other, id].map(|id| fabric.cabling.switch(id));
            let message =
                format!("`{}` and `{}` are both autonomous system {}", names[0], names[1], speaker.asn);
            let violation = Violation::new(&NUMBERS, fabric.place(id, About::Bgp), message);
            findings.broken(violation.and(fabric.place(other, About::Bgp)));
        }
    }
}

fn identifiers(fabric: &Fabric, findings: &mut Findings) {
    let mut owners: HashMap<Ipv4Addr, SwitchId> = HashMap::new();
    for (id, speaker) in speakers(fabric) {
        let Some(own) = speaker.router_id else { continue };
        findings.checked(&IDENTIFIER, 1);
        if let Some(other) = owners.insert(own, id) {
            let names = [other, id].map(|id| fabric.cabling.switch(id));
            let message = format!("`{}` and `{}` both have router id {own}", names[0], names[1]);
            let violation = Violation::new(&IDENTIFIER, fabric.place(id, About::Bgp), message);
            findings.broken(violation.and(fabric.place(other, About::Bgp)));
        }
    }
}

/// A prefix is announced by one switch of a plane.
fn announced(fabric: &Fabric, findings: &mut Findings) {
    let mut owners: HashMap<(Option<u8>, Ipv6Net), SwitchId> = HashMap::new();
    for (id, speaker) in speakers(fabric) {
        let plane = fabric.switch(id).and_then(|switch| switch.plane);
        for network in &speaker.networks {
            findings.checked(&OWNED, 1);
            if let Some(other) = owners.insert((plane, *network), id) {
                let text = network.to_string();
                let names = [other, id].map(|id| fabric.cabling.switch(id));
                let message = format!("`{}` and `{}` both announce `{text}`", names[0], names[1]);
                let violation = Violation::new(&OWNED, fabric.place(id, About::Network(&text)), message);
                findings.broken(violation.and(fabric.place(other, About::Network(&text))));
            }
        }
    }
}

/// Filters take no shorter prefixes than are announced, and those of T0s announce nothing but their own.
fn filters(fabric: &Fabric, findings: &mut Findings) {
    let lengths = speakers(fabric).flat_map(|(_, speaker)| &speaker.networks).map(Ipv6Net::prefix_len);
    let shortest = lengths.min().unwrap_or(128);
    let meant = preferences(fabric);
    // Most switches share their filters: what holds for one of them holds for all.
    let mut sound: HashSet<(*const Terms, bool)> = HashSet::new();
    for (id, speaker) in speakers(fabric) {
        let is_t0 = fabric.switch(id).is_some_and(|switch| switch.tier == Some(Tier::T0));
        for terms in &speaker.terms {
            for rule in [&TAKEN, &TRANSIT, &LIMIT, &STABLE] {
                findings.checked(rule, 1);
            }
            let key = (Arc::as_ptr(terms), is_t0);
            if sound.contains(&key) {
                continue;
            }
            let faults = faults(terms, is_t0, shortest, meant);
            if faults.is_empty() {
                sound.insert(key);
            }
            for (rule, fault) in faults {
                let message = format!("`{}`: {fault}", fabric.cabling.switch(id));
                findings.broken(Violation::new(rule, fabric.place(id, About::Filters), message));
            }
        }
    }
}

/// What is wrong with what is agreed with a neighbour.
fn faults(terms: &Terms, is_t0: bool, shortest: u8, meant: Preferences) -> Vec<(&'static Rule, String)> {
    let mut faults = Vec::new();
    match &terms.taken {
        None => faults.push((&TAKEN, "what it takes passes no filter".to_owned())),
        Some(policy) => {
            for clause in policy.0.iter().filter(|clause| clause.permit) {
                if let Some(width) =
                    clause.prefixes.as_ref().map_or(Some(0), |list| too_short(list, shortest))
                {
                    faults.push((
                        &TAKEN,
                        format!("it takes prefixes of {width} bits, and the fabric announces none below {shortest}"),
                    ));
                }
            }
            faults.extend(wrong(policy, meant).map(|fault| (&STABLE, fault)));
        }
    }
    if terms.takes_own {
        faults.push((&TAKEN, "it takes paths with its own autonomous system in them".to_owned()));
    }
    if is_t0 && !terms.announced.as_ref().is_some_and(own_only) {
        faults.push((&TRANSIT, "a T0 may announce what it heard from above".to_owned()));
    }
    if terms.limit.is_none() {
        faults.push((&LIMIT, "a session has no limit of prefixes".to_owned()));
    }
    faults
}

/// Returns the length of the shortest prefix that a list permits, if it is shorter than may be.
fn too_short(list: &[crate::model::bgp::Entry], shortest: u8) -> Option<u8> {
    let lengths = list.iter().filter(|entry| entry.permit).filter_map(|entry| match entry.matched {
        Matched::Own(_) => None,
        Matched::Within { net, from, to } => {
            let from = from.max(net.prefix_len());
            (from <= to).then_some(from)
        }
    });
    lengths.min().filter(|length| *length < shortest)
}

/// Tells whether nothing passes but what the switch announces of its own.
fn own_only(policy: &Policy) -> bool {
    policy.0.iter().filter(|clause| clause.permit).all(|clause| {
        let own =
            |entry: &crate::model::bgp::Entry| !entry.permit || matches!(entry.matched, Matched::Own(_));
        clause.lengths.and_then(Lengths::longest) == Some(0)
            || clause.prefixes.as_ref().is_some_and(|list| list.iter().all(own))
    })
}

/// What local preference paths get: those that are not marked as drained, and those that are.
pub(crate) type Preferences = [u32; 2];

/// Preference of a path where nothing sets it.
const PREFERENCE: u32 = 100;

/// What a policy makes of paths that came unmarked and marked: of each clause that passes any, whether the path is
/// marked afterwards, and its preference.
fn outcomes(policy: &Policy) -> impl Iterator<Item = (bool, u32)> + '_ {
    policy.0.iter().enumerate().filter(|(_, clause)| clause.permit).flat_map(|(at, clause)| {
        let preference = clause.preference.unwrap_or(PREFERENCE);
        let shadowed = policy.0[..at].iter().any(|earlier| shadows(earlier, clause));
        let unmarked = (!clause.if_drained).then_some((clause.drains, preference));
        let marked = (!shadowed).then_some((true, preference));
        unmarked.into_iter().chain(marked)
    })
}

/// Tells whether an earlier clause decides about every marked path that a later one matches.
fn shadows(earlier: &Clause, later: &Clause) -> bool {
    (earlier.prefixes.is_none() || earlier.prefixes == later.prefixes)
        && (earlier.lengths.is_none() || earlier.lengths == later.lengths)
}

/// Returns the preferences that most filters give.
pub(crate) fn preferences(fabric: &Fabric) -> Preferences {
    let mut votes: BTreeMap<(bool, u32), u64> = BTreeMap::new();
    for (_, speaker) in speakers(fabric) {
        for terms in &speaker.terms {
            let all: HashSet<(bool, u32)> = terms.taken.iter().flat_map(outcomes).collect();
            for outcome in all {
                *votes.entry(outcome).or_default() += 1;
            }
        }
    }
    let most = |marked: bool| {
        let of = votes.iter().filter(|((is, _), _)| *is == marked);
        of.max_by_key(|(_, count)| **count).map(|((_, preference), _)| *preference)
    };
    let unmarked = most(false).unwrap_or(PREFERENCE);
    [unmarked, most(true).unwrap_or(0)]
}

/// Says where a policy prefers otherwise than others.
fn wrong(policy: &Policy, [unmarked, marked]: Preferences) -> Option<String> {
    if marked >= unmarked {
        return Some(format!("what is drained has preference {marked}, and everything else {unmarked}"));
    }
    let meant = |is_marked: bool| if is_marked { marked } else { unmarked };
    let (is_marked, found) = outcomes(policy).find(|(is_marked, found)| *found != meant(*is_marked))?;
    let what = if is_marked { "that are drained" } else { "that are not drained" };
    Some(format!("it gives paths {what} preference {found}, and most others {}", meant(is_marked)))
}

/// Tells whether everything that passes is the last resort afterwards.
fn is_last_resort(policy: &Policy) -> bool {
    let mut permitted = policy.0.iter().filter(|clause| clause.permit).peekable();
    permitted.peek().is_some() && permitted.all(|clause| clause.drains || clause.if_drained)
}

/// Compares the settings of switches of a tier.
fn alike(fabric: &Fabric, findings: &mut Findings) {
    type Kind = (Option<Tier>, Os);
    let mut processes: BTreeMap<Kind, Votes<Process>> = BTreeMap::new();
    let mut terms: BTreeMap<(Kind, Side, bool), Votes<Arc<Terms>>> = BTreeMap::new();
    for (id, speaker) in speakers(fabric) {
        let Some(switch) = fabric.switch(id) else { continue };
        let kind = (switch.tier, switch.os);
        // How many ways are used at a time is a matter of the hardware.
        let process = Process { width: None, ..*speaker.process };
        processes.entry(kind).or_default().add(process, id);
        let mut seen = HashSet::new();
        for (slot, plug) in fabric.cabling.at_switch(id).iter().enumerate() {
            let Some((session, agreed)) = speaker.session(slot as u16) else { continue };
            let drained = fabric.cabling.cable(plug.cable).drained;
            if seen.insert((plug.side, drained, session.terms)) {
                terms.entry((kind, plug.side, drained)).or_default().add(Arc::clone(agreed), id);
            }
        }
    }
    for votes in processes.into_values() {
        votes.judge(fabric, "its settings are", findings);
    }
    for ((_, side, _), votes) in terms {
        let what = if side == Side::Lower {
            "its sessions with those above are"
        } else {
            "its sessions with those below are"
        };
        votes.judge(fabric, what, findings);
    }
}

/// Who has which of several values.
struct Votes<T>(HashMap<T, Vec<SwitchId>>);

impl<T> Default for Votes<T> {
    fn default() -> Self {
        Votes(HashMap::new())
    }
}

impl<T: std::hash::Hash + Eq> Votes<T> {
    fn add(&mut self, value: T, id: SwitchId) {
        self.0.entry(value).or_default().push(id);
    }

    /// Reports all but those who have what most have; of equally many, what the first switch has is meant.
    fn judge(self, fabric: &Fabric, what: &str, findings: &mut Findings) {
        let mut parties: Vec<Vec<SwitchId>> = self.0.into_values().collect();
        parties.sort_by_key(|ids| (std::cmp::Reverse(ids.len()), ids[0]));
        findings.checked(&ALIKE, parties.iter().map(|ids| ids.len() as u64).sum());
        for id in parties.iter().skip(1).flatten() {
            let [own, other] = [*id, parties[0][0]].map(|id| fabric.cabling.switch(id));
            let message = format!("`{own}`: {what} not those of `{other}` and {} more", parties[0].len() - 1);
            let violation = Violation::new(&ALIKE, fabric.place(*id, About::Filters), message);
            findings.broken(violation.and(fabric.place(parties[0][0], About::Filters)));
        }
    }
}

/// Both ends of a cable between switches.
fn ends(fabric: &Fabric, id: CableId, cable: &Cable, findings: &mut Findings) {
    let both = [(cable.lower, cable.upper), (cable.upper, cable.lower)];
    for (own, far) in both {
        if let (Some(own_talk), Some(far_talk)) = (talk(fabric, own), talk(fabric, far)) {
            end(fabric, (id, cable), (own, own_talk), (far, far_talk), findings);
        }
    }
    let [Some((lower, _, low)), Some((upper, _, high))] =
        [cable.lower, cable.upper].map(|end| talk(fabric, end))
    else {
        return;
    };
    findings.checked(&SILENCE, 1);
    let times = |speaker: &Speaker, terms: &Terms| {
        (speaker.process.timers, terms.bfd, terms.interval_s, terms.connect_s)
    };
    let (a, b) = (times(lower, low), times(upper, high));
    if a != b || a.0.is_none() || a.1.is_none() {
        let message = format!("`{}`: {}", fabric.cabling.describe(cable), difference(&a, &b));
        let violation = Violation::new(&SILENCE, session_place(fabric, cable.lower, About::Timers), message);
        findings.broken(violation.and(session_place(fabric, cable.upper, About::Timers)));
    }
}

type Times = (Option<(u16, u16)>, Option<crate::model::bgp::Bfd>, Option<u16>, Option<u16>);

fn difference(a: &Times, b: &Times) -> String {
    let seconds = |time: Option<u16>| time.map_or("none".to_owned(), |time| format!("{time} s"));
    if a.0 != b.0 || a.0.is_none() {
        let text = |times: Option<(u16, u16)>| {
            times.map_or("none".to_owned(), |(keepalive, hold)| format!("{keepalive} and {hold} s"))
        };
        format!("keepalive and hold times are {}, and {} above", text(a.0), text(b.0))
    } else if a.1 != b.1 || a.1.is_none() {
        let text = |bfd: Option<crate::model::bgp::Bfd>| {
            bfd.map_or("none".to_owned(), |bfd| {
                format!("{} x {} / {} ms", bfd.multiplier, bfd.transmit_ms, bfd.receive_ms)
            })
        };
        format!("BFD is {}, and {} above", text(a.1), text(b.1))
    } else if a.2 != b.2 {
        format!("the time between announcements is {}, and {} above", seconds(a.2), seconds(b.2))
    } else {
        format!("the time between attempts to connect is {}, and {} above", seconds(a.3), seconds(b.3))
    }
}

/// What one end says of a session: its switch, the session, what is agreed.
pub(crate) type Talk<'a> = (&'a Speaker, Session, &'a Arc<Terms>);

/// Returns what the switch at one end of a cable says of the session over it.
pub(crate) fn talk(fabric: &Fabric, end: End) -> Option<Talk<'_>> {
    let Party::Switch(id) = end.party else { return None };
    let speaker = fabric.switch(id)?.speaker.as_ref()?;
    let (session, terms) = speaker.session(end.slot)?;
    Some((speaker, session, terms))
}

/// Tells whether the session over a cable comes up, if frames get over it.
pub(crate) fn comes_up(fabric: &Fabric, own: End, far: End) -> bool {
    let (Some((here, session, _)), Some((there, back, _))) = (talk(fabric, own), talk(fabric, far)) else {
        return false;
    };
    let agrees = |remote: Remote, other: &Speaker, own: &Speaker| match remote {
        Remote::As(asn) => asn == other.asn,
        Remote::Any => other.asn != own.asn,
    };
    agrees(session.remote, there, here) && agrees(back.remote, here, there)
}

fn session_place(fabric: &Fabric, end: End, about: About<'_>) -> crate::finding::Place {
    match end.party {
        Party::Switch(id) => fabric.place(id, about),
        Party::Node(_) => crate::finding::Place::file("cables"),
    }
}

/// What one end says is held against the cable and the other end.
fn end(
    fabric: &Fabric,
    (id, cable): (CableId, &Cable),
    (own, (speaker, session, terms)): (End, Talk<'_>),
    (far, (other, ..)): (End, Talk<'_>),
    findings: &mut Findings,
) {
    let port = fabric.cabling.names.text(own.port);
    let place = || session_place(fabric, own, About::Session(port));
    findings.expect(session.remote == Remote::As(other.asn), &REMOTE, || {
        let expected = match session.remote {
            Remote::As(asn) => asn.to_string(),
            Remote::Any => "any".to_owned(),
        };
        let message = format!(
            "`{}` expects autonomous system {expected}, and `{}` is {}",
            fabric.cabling.end(own),
            fabric.cabling.end(far),
            other.asn
        );
        Violation::new(&REMOTE, place(), message).and(session_place(fabric, far, About::Bgp))
    });
    findings.expect(speaker.asn != other.asn, &NUMBERS, || {
        let message =
            format!("both ends of `{}` are autonomous system {}", fabric.cabling.describe(cable), other.asn);
        Violation::new(&NUMBERS, place(), message).and(session_place(fabric, far, About::Bgp))
    });
    let last = terms.taken.as_ref().is_some_and(is_last_resort);
    findings.expect(last == cable.drained, &RESORT, || {
        let (is, takes) = if last { ("in use", "as the last resort") } else { ("drained", "like any other") };
        let message = format!(
            "`{}` is {is}, and `{}` takes what it hears over it {takes}",
            fabric.cabling.describe(cable),
            fabric.cabling.end(own)
        );
        Violation::new(&RESORT, place(), message).and(fabric.cabling.place(id))
    });
}
