//! Finds faults from the combined evidence of all agents.
//!
//! In: evidence, the time. Out: verdicts, each with counts and confidence. Invariants: a cable is named only if no
//! element before it explains the losses, and no other agent's probes contradict this. A switch is named only if all of
//! its probed cables fail in the same way, and then its cables are not named. So one fault gives one verdict.

mod corrupting_elements;
mod counter_evidence;
mod dead_cables;
mod length_limits;
mod lossy_cables;
mod swap;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use closc_plan::Plan;
use closc_topology::{Link, Nic, NicPort, PlaneId, PortRef, Side, Switch, TierId, Topology, ZoneId};

use crate::ban::probed_links;
use crate::element::Element;
use crate::evidence::Evidence;
use crate::switches::Switches;
pub use length_limits::Lengths;

/// The kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// No packets pass, or a port has no carrier.
    Dead,
    /// Some packets are lost.
    Gray,
    /// Bytes of some packets are changed.
    Corrupt,
    /// Short packets pass, long ones do not.
    ShortOnly,
    /// The cable is swapped with others, and is plugged in where the contained cable belongs.
    Swapped(Element),
}

/// A fault with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The faulty element.
    pub element: Element,
    /// The kind of the fault.
    pub kind: Kind,
    /// Probes lost; packets lost if only switch counters show the fault.
    pub lost: u64,
    /// Probes or packets sent.
    pub sent: u64,
    /// Number of agents with supporting probes, or of switches if only their counters show the fault.
    pub witnesses: usize,
    /// Confidence, 0 to 1, that this fault explains the losses, rather than chance or another cause.
    pub confidence: f64,
    /// An alternative element, if the evidence does not distinguish the two.
    pub or: Option<Element>,
    /// Start of the fault, in milliseconds since 1970.
    pub since_ms: u64,
    /// Every witness has reported at or after this time.
    pub reported_ms: u64,
    /// Counters of the switches at both ends, for the direction with more losses.
    pub counters: Option<DirectionCounters>,
    /// Number of probes that returned with changed bytes.
    pub damaged: u64,
    /// Time since which agents no longer report on the element, in milliseconds since 1970. The verdict is then the
    /// last known one.
    pub unheard_ms: Option<u64>,
    /// Packet lengths above and below the limit, if only short packets pass.
    pub lengths: Option<Lengths>,
    /// Whether agents that can decide between this element and a larger one have not reported since the fault began.
    pub(crate) is_open: bool,
    /// Start of the interval of the report with the latest losses. At least one of them is not older.
    pub(crate) lost_from_ms: u64,
}

/// Counters of switches for one direction of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectionCounters {
    /// The sending switch.
    pub from: Switch,
    /// A lower bound of the packets lost.
    pub lost: u64,
    /// Packets sent.
    pub sent: u64,
}

impl DirectionCounters {
    pub(crate) fn share(&self) -> f64 {
        self.lost as f64 / self.sent.max(1) as f64
    }
}

impl Verdict {
    /// Returns the share of probes that were lost.
    pub fn share(&self) -> f64 {
        if self.sent == 0 { 1.0 } else { self.lost as f64 / self.sent as f64 }
    }

    /// Describes it in one line: `cable p3-t0-017--p3-t1-005, 0.4 % loss since 12:03`. Times are in UTC.
    pub fn line(&self, plan: &Plan, now_ms: u64) -> String {
        let mut text = format!("{} {}, ", self.element.kind(), self.element.name(plan));
        let _ = match (self.kind, self.element) {
            (Kind::Dead, Element::Port(_)) => write!(text, "no carrier"),
            (Kind::Dead, _) => write!(text, "carries nothing"),
            (Kind::Gray, _) => write!(text, "{} % loss", percent(self.share())),
            (Kind::Corrupt, _) => write!(text, "changes bytes of {} % of the probes", percent(self.share())),
            (Kind::ShortOnly, _) => write!(text, "passes short packets only"),
            (Kind::Swapped(with), _) => write!(text, "swapped with {} {}", with.kind(), with.name(plan)),
        };
        let _ = write!(text, " since {}", clock(self.since_ms, now_ms));
        if let Some(Lengths { passes, loses }) = self.lengths {
            let _ = write!(text, "; packets of {passes} bytes pass, packets of {loses} bytes do not");
        }
        if let Some(unheard_ms) = self.unheard_ms {
            let _ = write!(text, "; no reports since {}", clock(unheard_ms, now_ms));
        }
        if let Some(DirectionCounters { from, lost, sent }) = self.counters {
            let from = plan.topology().naming.switch(from);
            let _ = write!(text, "; {lost} of {sent} packets from {from} did not arrive");
        }
        if let Some(or) = self.or {
            let _ = write!(text, "; or {} {}", or.kind(), or.name(plan));
        }
        text
    }
}

/// Formats a share as a percentage: from 10 % without decimals, from 0.1 % with one, and below with two.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 10.0 {
        format!("{percent:.0}")
    } else if percent >= 0.1 {
        format!("{percent:.1}")
    } else {
        format!("{percent:.2}")
    }
}

/// Formats a time as hours and minutes, with the date if it is on another day. The date algorithm is the inverse of
/// `days_from_civil` by Howard Hinnant.
pub(crate) fn clock(at_ms: u64, now_ms: u64) -> String {
    const DAY_MS: u64 = 86_400_000;
    let (hours, minutes) = (at_ms % DAY_MS / 3_600_000, at_ms % 3_600_000 / 60_000);
    if at_ms / DAY_MS == now_ms / DAY_MS {
        return format!("{hours:02}:{minutes:02}");
    }
    let days = at_ms / DAY_MS + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02} {hours:02}:{minutes:02}", year + era * 400 + later)
}

/// Input shared by all checks.
pub(crate) struct Scene<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) evidence: &'a Evidence,
    pub(crate) switches: &'a Switches,
    pub(crate) now_ms: u64,
    /// Reports older than this are ignored.
    pub(crate) fresh_ms: u64,
    /// Minimum number of consecutive good probes after which a cable counts as recovered.
    pub(crate) min_good_probes: u64,
}

impl Scene<'_> {
    fn topology(&self) -> &Topology {
        self.plan.topology()
    }

    fn is_fresh(&self, seen_ms: u64) -> bool {
        self.now_ms.saturating_sub(seen_ms) <= self.fresh_ms
    }

    /// Returns the NICs with recent reports.
    fn fresh_agents(&self) -> impl Iterator<Item = (Nic, &crate::evidence::Agent)> {
        let fresh = |agent: &crate::evidence::Agent| self.is_fresh(agent.last_seen_ms);
        self.evidence.agents.iter().filter(move |(_, agent)| fresh(agent)).map(|(nic, agent)| (*nic, agent))
    }

    fn speaks(&self, nic: Nic) -> Option<&crate::evidence::Agent> {
        self.evidence.agents.get(&nic).filter(|agent| self.is_fresh(agent.last_seen_ms))
    }

    /// Returns the ports at a T0 whose NICs have recent reports.
    fn ports_of(&self, t0: Switch) -> Vec<NicPort> {
        let nics = self.plan.fabric().group_nics(t0.zone, t0.index);
        let there = |nic: &Nic| self.speaks(*nic).is_some_and(|agent| agent.planes >> t0.plane.0 & 1 == 1);
        nics.filter(there).map(|nic| NicPort { plane: t0.plane, nic }).collect()
    }

    /// Returns the ports of known NICs at a T0, with and without recent reports.
    fn known_ports_of(&self, t0: Switch) -> impl Iterator<Item = NicPort> {
        let there = move |nic: &Nic| {
            self.evidence.agents.get(nic).is_some_and(|agent| agent.planes >> t0.plane.0 & 1 == 1)
        };
        let nics = self.plan.fabric().group_nics(t0.zone, t0.index).filter(there);
        nics.map(move |nic| NicPort { plane: t0.plane, nic })
    }

    /// Returns the cables that end at a switch from below.
    fn downlinks(&self, switch: Switch) -> impl Iterator<Item = Link> + '_ {
        let ports = self.plan.fabric().ports(switch);
        ports.filter(|port| port.at.side == Side::Down).filter_map(|port| match port.usage {
            closc_fabric::PortUse::Link { link, .. } => Some(link),
            closc_fabric::PortUse::Absent { .. } | closc_fabric::PortUse::Spare => None,
        })
    }

    /// Returns the cables whose probes show whether an element works.
    pub(crate) fn probed_links(&self, element: Element) -> Vec<Link> {
        match element {
            Element::Plane(plane) => {
                let t0s = t0s(self.plan, plane);
                t0s.flat_map(|t0| probed_links(self.plan, Element::Switch(t0))).collect()
            }
            _ => probed_links(self.plan, element),
        }
    }

    /// Returns whether results of probes of an element are kept. This is always true for the port of a NIC.
    pub(crate) fn has_probes(&self, element: Element) -> bool {
        let has_tallies =
            |link: &Link| self.evidence.suspects.get(link).is_some_and(|suspect| !suspect.tallies.is_empty());
        matches!(element, Element::Port(_)) || self.probed_links(element).iter().any(has_tallies)
    }

    /// Returns whether a report after a time shows that an element is not dead: a port has a carrier, or a probe that
    /// was sent after that time has returned.
    pub(crate) fn is_alive_after(&self, element: Element, after_ms: u64) -> bool {
        if let Element::Port(port) = element {
            return self.speaks(port.nic).is_some_and(|agent| !agent.is_dark(port.plane));
        }
        self.probed_links(element).into_iter().any(|link| self.evidence.is_good_after(link, after_ms))
    }

    /// Returns whether agents currently report on an element. If not, the absence of a verdict does not mean recovery.
    pub(crate) fn has_reports_on(&self, element: Element, kind: Kind) -> bool {
        if kind == Kind::ShortOnly {
            // Only a full-length probe that returns proves recovery.
            if let Element::Cable(link) = element {
                return length_limits::passes(self, link);
            }
            let mut links = self.plan.fabric().links().filter(|link| element.covers(self.topology(), *link));
            return links.any(|link| length_limits::passes(self, link));
        }
        if let Element::Port(port) = element {
            return self.speaks(port.nic).is_some();
        }
        let covered = |link: Link| element.covers(self.topology(), link);
        let counts = self.switches.flows.iter().filter(|((link, _), _)| covered(*link));
        let suspects = self.evidence.suspects.iter().filter(|(link, _)| covered(**link));
        let seen = suspects.flat_map(|(_, suspect)| suspect.tallies.values().map(|tally| tally.last_seen_ms));
        let mut seen = seen.chain(counts.map(|(_, flow)| flow.last_seen_ms)).peekable();
        // Without tallies, enough good probes have ended the suspicion.
        seen.peek().is_none() || seen.any(|seen_ms| self.is_fresh(seen_ms))
    }

    fn upper(&self, link: Link) -> Option<Switch> {
        self.plan.fabric().upper_end(link).map(|(switch, _): (Switch, PortRef)| switch)
    }
}

/// Returns all current faults.
pub(crate) fn judge(scene: &Scene<'_>) -> Vec<Verdict> {
    let mut out = dead_cables::judge(scene);
    let mut known: Vec<Element> = out.iter().map(|verdict| verdict.element).collect();
    let corrupting = corrupting_elements::judge(scene, &known);
    // Changed addresses also lose some probes. They must not name the element a second time.
    known.extend(corrupting.iter().map(|verdict| verdict.element));
    out.extend(corrupting);
    out.extend(lossy_cables::judge(scene, &known));
    out.extend(length_limits::judge(scene, &known));
    counter_evidence::complete(scene, &mut out);
    out.sort_by(|a, b| a.element.cmp(&b.element).then(a.kind.cmp(&b.kind)));
    out
}

/// Groups cables by the switch at their upper end.
fn by_upper(scene: &Scene<'_>, links: impl Iterator<Item = Link>) -> BTreeMap<Switch, BTreeSet<Link>> {
    let mut out: BTreeMap<Switch, BTreeSet<Link>> = BTreeMap::new();
    for link in links {
        if let Some(upper) = scene.upper(link) {
            out.entry(upper).or_default().insert(link);
        }
    }
    out
}

/// Returns all T0s of a plane.
pub(crate) fn t0s(plan: &Plan, plane: PlaneId) -> impl Iterator<Item = Switch> + '_ {
    let topology = plan.topology();
    let groups = topology.hosts.groups;
    topology
        .zone_ids()
        .flat_map(move |zone: ZoneId| {
            (0..groups).map(move |index| Switch { plane, tier: TierId::T0, zone, index })
        })
        .filter(|switch| plan.fabric().has_switch(*switch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        // 2026-11-22 12:03:04 UTC.
        let at = 1_795_348_984_000;
        assert_eq!(clock(at, at + 60_000), "12:03");
        assert_eq!(clock(at, at + 86_400_000), "2026-11-22 12:03");
        assert_eq!(clock(951_782_400_000, 0), "2000-02-29 00:00");
        assert_eq!(
            (percent(0.004), percent(0.125), percent(0.000_52)),
            ("0.4".into(), "12".into(), "0.05".into())
        );
    }
}
