//! Cables that lose some packets.
//!
//! A cable is evaluated by the probes that turn at the switch behind it. They are compared with simultaneous probes of
//! the same NICs whose path differs only in this cable. Invariants: in a good fabric, some cable is named with at most
//! the probability [`FALSE`], however often verdicts are computed. Losses of a cable before it, or of an agent's
//! machine, are never attributed to it.

use std::collections::{BTreeMap, BTreeSet};

use closc_nic::schedule::TurnPoint;
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch};

use super::dead_cables::combine;
use super::{Kind, Scene, Verdict, by_upper};
use crate::chance::{BACKGROUND, Trials, evidence, evidence_above, mean, rate_ratio};
use crate::coincidence::in_plane;
use crate::contest::ContestCounts;
use crate::element::{Element, last_link, links};
use crate::evidence::{ProbeTotals, Suspect, Tally, required_good_probes};

/// Probability that some cable of a good fabric is named.
pub(super) const FALSE: f64 = 0.01;
/// An agent contradicts the others if it should have this many losses but has none.
const CONTRADICTS: f64 = 10.0;
/// Probability that cables of a switch are named, although the switch loses packets equally on all of its cables. One
/// comparison is made per cable, so each may be wrong with this probability divided by their number.
const FALSE_CABLE: f64 = 0.001;
/// Maximum share of late answers that do not coincide with those of most other planes. The probes for an uplink are sent
/// in one burst for all planes, so an agent that does not run in time misses the answers of all planes.
const LATE_ALONE: f64 = 0.25;
/// Loss rate on all ports of a NIC that late answers of a busy machine may cause. It is not reported.
const BUSY: f64 = 0.002;

pub(super) fn judge(scene: &Scene<'_>, known: &[Element]) -> Vec<Verdict> {
    let is_known = |link: Link| known.iter().any(|element| element.covers(scene.topology(), link));
    let mut gray: BTreeMap<Link, Verdict> = BTreeMap::new();
    // Named cables are excluded from comparisons. So the worse of two lossy cables does not hide the other one.
    loop {
        let is_named = |link: Link| gray.contains_key(&link) || is_known(link);
        let suspects = scene.evidence.suspects.iter();
        let suspects = suspects.filter(|(link, own)| !own.is_reference && !is_named(**link));
        let more: Vec<(Link, Verdict)> = suspects
            .filter_map(|(link, suspect)| Some((*link, cable(scene, *link, suspect, &is_named)?)))
            .collect();
        if more.is_empty() {
            break;
        }
        gray.extend(more);
    }
    let mut out = nics(scene, &|link| gray.contains_key(&link) || is_known(link));
    for (switch, links) in by_upper(scene, gray.keys().copied()) {
        match blame(scene, switch, &links, known) {
            Blame::Cables => {}
            Blame::Open => {
                for (_, verdict) in gray.iter_mut().filter(|(link, _)| links.contains(link)) {
                    (verdict.or, verdict.is_open) = (Some(Element::Switch(switch)), true);
                }
            }
            Blame::Switch => {
                let parts: Vec<Verdict> = links.iter().filter_map(|link| gray.remove(link)).collect();
                out.push(combine(scene, Element::Switch(switch), Kind::Gray, &parts));
            }
        }
    }
    out.extend(gray.into_values());
    out
}

/// Probes of one NIC over a cable, which are compared with others.
struct Witness<'a> {
    nic: Nic,
    turn_point: TurnPoint,
    tally: &'a Tally,
}

/// Returns the probers of a cable to which some probes return.
fn witnesses<'a>(scene: &Scene<'_>, suspect: &'a Suspect) -> Vec<Witness<'a>> {
    // If no probes return, `dead_cables` handles the cable.
    let counts = |tally: &Tally| scene.is_fresh(tally.last_seen_ms) && !tally.is_dead();
    let all = suspect.tallies.iter().filter(|(_, tally)| counts(tally));
    all.map(|((nic, turn), tally)| Witness { nic: *nic, turn_point: *turn, tally }).collect()
}

/// Evaluates one cable.
fn cable(
    scene: &Scene<'_>,
    link: Link,
    suspect: &Suspect,
    is_named: &dyn Fn(Link) -> bool,
) -> Option<Verdict> {
    let witnesses = witnesses(scene, suspect);
    let sums = |(lost, sent), w: &Witness<'_>| (lost + w.tally.lost(), sent + w.tally.sent());
    let (lost, sent) = witnesses.iter().fold((0, 0), sums);
    if lost == 0 || suspect.good >= required_good_probes(scene.min_good_probes, lost, sent) {
        return None;
    }
    let share = lost as f64 / sent as f64;
    let disagrees = |tally: &Tally| tally.lost() == 0 && tally.sent() as f64 * share >= CONTRADICTS;
    if witnesses.iter().any(|w| disagrees(w.tally)) {
        return None;
    }
    let wanted = required_evidence(scene);
    let above = evidence_above(lost, sent, BACKGROUND);
    if above < wanted {
        return None;
    }
    let sure = above.min(relative_evidence(scene, link, &witnesses, is_named)?);
    (sure >= wanted).then(|| Verdict {
        element: Element::Cable(link),
        kind: Kind::Gray,
        lost,
        sent,
        witnesses: witnesses.len(),
        confidence: 1.0 - (-sure).exp(),
        or: None,
        since_ms: suspect.since_ms,
        reported_ms: witnesses.iter().map(|w| w.tally.last_seen_ms).min().unwrap_or(scene.now_ms),
        counters: None,
        damaged: 0,
        unheard_ms: None,
        lengths: None,
        is_open: false,
        lost_from_ms: witnesses.iter().map(|w| w.tally.lost_from_ms).max().unwrap_or(0),
    })
}

/// Returns the evidence required for a verdict. It grows with the number of cables, because chance may affect any of
/// them.
pub(super) fn required_evidence(scene: &Scene<'_>) -> f64 {
    (scene.evidence.n_cables().max(1) as f64 / FALSE).ln()
}

/// Returns the evidence that a cable loses more than comparable paths, which the same NICs probe. `None` if a
/// comparison is necessary but impossible.
fn relative_evidence(
    scene: &Scene<'_>,
    link: Link,
    witnesses: &[Witness<'_>],
    is_named: &dyn Fn(Link) -> bool,
) -> Option<f64> {
    let (mut with_all, mut with_before, mut with_peers) = (Vec::new(), Vec::new(), Vec::new());
    let mut alone = Vec::new();
    for witness in witnesses {
        let (mut all, mut before) = (Compared::default(), Compared::default());
        for (turn, counts) in compared_probes(scene, witness, is_rival, is_named) {
            all = all.plus(&counts);
            if Some(turn) == previous_turn_point(witness.turn_point) {
                before = counts;
            }
        }
        // Losses of a named element explain those of all paths over it.
        let is_clear = |turn: TurnPoint| {
            let path = links(scene.topology(), witness.nic, turn);
            !path.into_iter().flatten().any(is_named)
        };
        let peers = compared_probes(scene, witness, is_peer, is_named).filter(|(turn, _)| is_clear(*turn));
        let peers = peers.fold(Compared::default(), |sum, (_, counts)| sum.plus(&counts));
        with_all.extend(trials(witness.tally, &all));
        with_before.extend(trials(witness.tally, &before));
        with_peers.extend(trials(witness.tally, &peers));
        alone.extend(trials_alone(witness.tally, &all));
    }
    let beside_peers = match link {
        // The rivals of a NIC's port are its peers. A fabric of one plane has no peers.
        Link::Host(_) => f64::INFINITY,
        Link::Fabric { .. } if with_peers.is_empty() => f64::INFINITY,
        // The same uplink may be faulty in many planes. Their losses do not coincide, unlike late answers.
        Link::Fabric { .. } => mean(evidence(&with_peers), evidence_alone(witnesses)),
    };
    let beside_rivals = match (link, with_all.is_empty(), with_before.is_empty()) {
        // The NIC has no other port to compare with, so no comparison is necessary.
        (Link::Host(_), true, _) => f64::INFINITY,
        // Late answers from before the fault occur on all ports together. They would hide it for a long time.
        (Link::Host(_), false, _) => mean(evidence(&with_all), evidence(&alone)),
        (Link::Fabric { .. }, true, _) => return None,
        (Link::Fabric { .. }, false, true) => evidence(&with_all),
        // If many paths lose equally, only a comparison with elements before the cable shows that they are to blame.
        (Link::Fabric { .. }, false, false) => mean(evidence(&with_all), evidence(&with_before)),
    };
    Some(beside_rivals.min(beside_peers))
}

/// Returns the evidence that losses coincide less often with those of other planes than late answers do.
fn evidence_alone(witnesses: &[Witness<'_>]) -> f64 {
    let trials = witnesses.iter().map(|witness| {
        let (lost, alone) = (witness.tally.lost(), witness.tally.lost_alone().min(witness.tally.lost()));
        Trials { hits: alone, misses: lost - alone, chance: LATE_ALONE }
    });
    evidence(&trials.collect::<Vec<Trials>>())
}

/// Probes that a witness is compared with.
#[derive(Debug, Clone, Copy, Default)]
struct Compared {
    sent: u64,
    lost: u64,
    /// Lost ones whose peers in other planes mostly returned.
    alone: u64,
}

impl Compared {
    fn plus(self, other: &Compared) -> Compared {
        Compared {
            sent: self.sent + other.sent,
            lost: self.lost + other.lost,
            alone: self.alone + other.alone,
        }
    }
}

/// Returns the trials for a comparison. If all paths lose equally, the probability that a loss is on this cable is its
/// share of the probes.
fn trials(own: &Tally, others: &Compared) -> Option<Trials> {
    let chance = own.sent() as f64 / (own.sent() + others.sent) as f64;
    let is_compared = others.sent > 0 && own.sent() > 0;
    is_compared.then(|| Trials { hits: own.lost(), misses: others.lost, chance })
}

/// Returns the trials of losses that do not coincide with those of most other planes.
fn trials_alone(own: &Tally, others: &Compared) -> Option<Trials> {
    let all = trials(own, others)?;
    Some(Trials { hits: own.lost_alone(), misses: others.alone, ..all })
}

/// Returns probes of the same NIC that the witness is compared with, with their losses in the same period.
fn compared_probes<'a>(
    scene: &'a Scene<'_>,
    witness: &'a Witness<'_>,
    is_compared: fn(TurnPoint, TurnPoint) -> bool,
    is_named: &'a dyn Fn(Link) -> bool,
) -> impl Iterator<Item = (TurnPoint, Compared)> + 'a {
    let agent = scene.speaks(witness.nic);
    let turns = agent.map_or(&[][..], |agent| agent.turn_points()).iter().copied();
    let is_lit = move |turn: &TurnPoint| agent.is_some_and(|agent| !agent.is_dark(PlaneId(turn.plane())));
    turns.filter(move |turn| is_compared(witness.turn_point, *turn)).filter(is_lit).filter_map(move |turn| {
        let link = last_link(scene.topology(), witness.nic, turn)?;
        if is_named(link) {
            return None;
        }
        let tally =
            scene.evidence.suspects.get(&link).and_then(|suspect| suspect.tallies.get(&(witness.nic, turn)));
        let sent = witness.tally.sent();
        match tally {
            Some(tally) if tally.is_dead() => None,
            Some(tally) => {
                let sent = tally.covered_probes(sent);
                Some((turn, Compared { sent, lost: tally.lost(), alone: tally.lost_alone() }))
            }
            // Without a tally there were no losses, unless some were not recorded.
            None => {
                let counts = Compared { sent, ..Compared::default() };
                (scene.evidence.untracked_losses == 0).then_some((turn, counts))
            }
        }
    })
}

/// Returns whether paths differ by one cable: the other one uses another uplink, or ends at the previous switch. For the
/// port of a NIC, it uses another port.
fn is_rival(own: TurnPoint, other: TurnPoint) -> bool {
    let is_beside = match (own, other) {
        (TurnPoint::T0 { .. }, TurnPoint::T0 { .. }) => true,
        (TurnPoint::T1 { plane, .. }, TurnPoint::T1 { plane: at, .. }) => plane == at,
        (TurnPoint::T2 { plane, uplink, .. }, TurnPoint::T2 { plane: at, uplink: by, .. }) => {
            (plane, uplink) == (at, by)
        }
        (TurnPoint::T0 { .. } | TurnPoint::T1 { .. } | TurnPoint::T2 { .. }, _) => false,
    };
    other != own && (is_beside || previous_turn_point(own) == Some(other))
}

/// Returns whether the paths have the same place in different planes. An agent handles such probes in the same way, so
/// it also answers them late equally often. Paths of different planes have nothing else in common.
fn is_peer(own: TurnPoint, other: TurnPoint) -> bool {
    own.plane() != other.plane() && in_plane(own, other.plane()) == other
}

/// Returns the turn point one switch earlier.
fn previous_turn_point(turn: TurnPoint) -> Option<TurnPoint> {
    match turn {
        TurnPoint::T0 { .. } => None,
        TurnPoint::T1 { plane, .. } => Some(TurnPoint::T0 { plane }),
        TurnPoint::T2 { plane, uplink, .. } => Some(TurnPoint::T1 { plane, uplink }),
    }
}

/// Finds NICs that lose equally on all ports, so that their cables cannot be compared with each other.
fn nics(scene: &Scene<'_>, is_named: &dyn Fn(Link) -> bool) -> Vec<Verdict> {
    let mut ports: BTreeMap<Nic, Vec<(&Suspect, &Tally)>> = BTreeMap::new();
    for (link, suspect) in &scene.evidence.suspects {
        let Link::Host(NicPort { plane, nic }) = *link else { continue };
        let own = suspect.tallies.get(&(nic, TurnPoint::T0 { plane: plane.0 }));
        let own =
            own.filter(|tally| scene.is_fresh(tally.last_seen_ms) && !tally.is_dead() && !is_named(*link));
        ports.entry(nic).or_default().extend(own.map(|tally| (suspect, tally)));
    }
    ports.into_iter().filter_map(|(nic, ports)| nic_verdict(scene, nic, &ports, is_named)).collect()
}

fn nic_verdict(
    scene: &Scene<'_>,
    nic: Nic,
    ports: &[(&Suspect, &Tally)],
    is_named: &dyn Fn(Link) -> bool,
) -> Option<Verdict> {
    let agent = scene.speaks(nic)?;
    let is_used = |turn: &&TurnPoint| {
        let plane = PlaneId(turn.plane());
        let link = Link::Host(NicPort { plane, nic });
        matches!(turn, TurnPoint::T0 { .. }) && !agent.is_dark(plane) && !is_named(link)
    };
    let used = agent.turn_points().iter().filter(is_used).count();
    let sums = |(lost, sent), (_, tally): &(&Suspect, &Tally)| (lost + tally.lost(), sent + tally.sent());
    let (lost, sent) = ports.iter().fold((0, 0), sums);
    let each = lost / ports.len().max(1) as u64;
    let counts: Vec<Counts> = ports.iter().map(|(_, tally)| (tally.sent(), tally.lost())).collect();
    let good = ports.iter().map(|(suspect, _)| suspect.good).min().unwrap_or(0);
    if used < 2 || ports.len() < used || !lose_alike(&counts) || ratios(&counts).any(|one| one < RATHER) {
        return None;
    }
    // Losses of the machine occur on all ports at the same time, so they count once.
    let sure = evidence_above(each, sent / ports.len() as u64, BUSY);
    (sure >= required_evidence(scene) && good < required_good_probes(scene.min_good_probes, lost, sent)).then(
        || Verdict {
            element: Element::Nic(nic),
            kind: Kind::Gray,
            lost,
            sent,
            witnesses: 1,
            confidence: 1.0 - (-sure).exp(),
            or: None,
            since_ms: ports.iter().map(|(suspect, _)| suspect.since_ms).min().unwrap_or(scene.now_ms),
            reported_ms: agent.last_seen_ms,
            counters: None,
            damaged: 0,
            unheard_ms: None,
            lengths: None,
            is_open: false,
            lost_from_ms: ports.iter().map(|(_, tally)| tally.lost_from_ms).max().unwrap_or(0),
        },
    )
}

/// The cause of losses on cables of one switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blame {
    Cables,
    Switch,
    /// Unknown: other cables of the switch may have losses too, which will soon be known.
    Open,
}

/// Decides whether a switch causes the losses of its cables, by all of its probed cables since the first of them was
/// suspected.
///
/// - The cables are to blame if their share of the losses is too large for a switch that loses equally on all cables.
/// - The switch is to blame if, for every other cable, the same loss rate is more likely than that of a good
///   path, and for all of them together it is certain.
/// - Otherwise the result is open, also if another cable was not probed since then.
fn blame(scene: &Scene<'_>, switch: Switch, links: &BTreeSet<Link>, known: &[Element]) -> Blame {
    let is_behind = |link: &Link| known.iter().any(|element| element.covers(scene.topology(), *link));
    let probed = |link: &Link| scene.evidence.good_ms(*link) > 0 && !is_behind(link);
    let others: Vec<Link> =
        scene.downlinks(switch).filter(|link| !links.contains(link) && probed(link)).collect();
    let counts = |link: &Link| scene.evidence.contest_counts(*link);
    let contests: Vec<ContestCounts> = links.iter().filter_map(counts).collect();
    if others.is_empty() {
        let is_switch = links.len() > 1 && lose_alike(&latest_counts(&contests, links));
        return if is_switch { Blame::Switch } else { Blame::Cables };
    }
    let cables = (others.len() + links.len()) as f64;
    let is_excluded = |contest: &ContestCounts| {
        let (direct, all) = (
            share_evidence(contest, &others, |own| own.direct),
            share_evidence(contest, &others, |own| own.all),
        );
        mean(direct, all) >= (cables / FALSE_CABLE).ln()
    };
    if contests.len() == links.len() && contests.iter().all(is_excluded) {
        return Blame::Cables;
    }
    let is_shared = contests.iter().any(|contest| is_shared(scene, contest, &others));
    if links.len() + others.len() > 1 && is_shared { Blame::Switch } else { Blame::Open }
}

/// Probes sent and lost.
type Counts = (u64, u64);

/// Returns the evidence that a cable has a larger share of the losses than of the probes, among all cables below its
/// switch.
fn share_evidence(contest: &ContestCounts, others: &[Link], counts: fn(&ProbeTotals) -> Counts) -> f64 {
    let own = counts(&contest.own);
    let beside = others.iter().filter_map(|link| contest.below.get(link)).map(counts);
    let beside = sum(&beside.collect::<Vec<Counts>>());
    if own.0 == 0 || beside.0 == 0 {
        return 0.0;
    }
    let chance = own.0 as f64 / (own.0 + beside.0) as f64;
    evidence(&[Trials { hits: own.1, misses: beside.1, chance }])
}

/// Returns the counts of the cables of a switch, since the last of them was suspected. Earlier losses may have had other
/// causes.
fn latest_counts(contests: &[ContestCounts], links: &BTreeSet<Link>) -> Vec<Counts> {
    let latest = contests.iter().max_by_key(|contest| contest.since_ms);
    let counts = |contest: &ContestCounts| {
        let below = contest.below.iter().filter(|(link, _)| links.contains(link));
        below.map(|(_, counts)| counts.direct).chain([contest.own.direct]).collect()
    };
    latest.map_or_else(Vec::new, counts)
}

/// Returns whether parts of an element may all lose packets at the same rate: none has a share of the losses that is too
/// large or too small for its share of the probes.
fn lose_alike(parts: &[Counts]) -> bool {
    let (sent, lost) = sum(parts);
    // Each part is tested twice.
    let excludes = (2.0 * parts.len() as f64 / FALSE_CABLE).ln();
    parts.iter().filter(|own| own.0 > 0 && own.0 < sent).all(|own| {
        let (chance, others) = (own.0 as f64 / sent as f64, lost - own.1);
        let more = evidence(&[Trials { hits: own.1, misses: others, chance }]);
        let less = evidence(&[Trials { hits: others, misses: own.1, chance: 1.0 - chance }]);
        more.max(less) < excludes
    })
}

fn sum(parts: &[Counts]) -> Counts {
    parts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Logarithm of the likelihood ratio at which a part counts as losing packets too. A good path reaches it with a
/// probability of at most one in a hundred, as in [`FALSE`] (Markov's inequality).
const RATHER: f64 = 4.61;

/// Returns, for each part, the likelihood ratio of the common rate of all parts and that of a good path.
fn ratios(parts: &[Counts]) -> impl Iterator<Item = f64> {
    let (sent, lost) = sum(parts);
    // A rate of zero has no logarithm.
    let share = lost.max(1) as f64 / sent.max(1) as f64;
    parts.iter().map(move |(sent, lost)| rate_ratio(*lost, *sent, share))
}

/// Returns whether all other cables below a cable's upper switch lose packets at the rate of that cable.
fn is_shared(scene: &Scene<'_>, contest: &ContestCounts, others: &[Link]) -> bool {
    let (sent, lost) = contest.own.direct;
    if sent == 0 || lost == 0 {
        return false;
    }
    let share = lost as f64 / sent as f64;
    let counts = |link: &Link| contest.below.get(link).copied().unwrap_or_default().direct;
    let ratios = others.iter().map(counts).map(|(sent, lost)| rate_ratio(lost, sent, share));
    let ratios: Vec<f64> = ratios.collect();
    ratios.iter().all(|one| *one >= RATHER) && ratios.iter().sum::<f64>() >= required_evidence(scene)
}
