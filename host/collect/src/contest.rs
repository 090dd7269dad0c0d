//! Comparison of a suspected cable with other cables.
//!
//! In: suspects, counts of probes. Out: counts of a suspect and of the other cables below its switch, since the same time.
//! Invariants: losses of a compared cable are not forgotten while the suspect remains. Only partial losses of reports
//! that count as evidence are included.

use std::collections::BTreeMap;

use closc_fabric::PortUse;
use closc_plan::Plan;
use closc_topology::{Link, Switch};

use crate::ban::probed_links;
use crate::element::Element;
use crate::evidence::{Contest, Evidence, ProbeTotals, REMEMBERED_MAX, Suspect, TALLIES_MAX};

/// Probes over a cable and over the others below its upper switch, since the same time.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContestCounts {
    pub(crate) since_ms: u64,
    pub(crate) own: ProbeTotals,
    pub(crate) below: BTreeMap<Link, ProbeTotals>,
}

/// A cable with this many losses is compared with others. With a loss rate of 1 in 10,000, one of 50 single losses is
/// followed by a second one before it is forgotten.
const CONTEST_LOSSES: u64 = 2;

impl Evidence {
    /// Begins to compare new suspects with other cables. Suspects that lose packets together are compared from the same
    /// time.
    pub(crate) fn begin_contests(&mut self, plan: &Plan, now_ms: u64) {
        let is_new = |(_, suspect): &(&Link, &Suspect)| {
            suspect.contest.is_none() && suspect.recent_losses >= CONTEST_LOSSES
        };
        let new: Vec<Link> = self.suspects.iter().filter(is_new).map(|(link, _)| *link).collect();
        for link in new {
            let below = cables_below(plan, link).into_iter().filter(|other| *other != link);
            let below: Vec<Link> = below.collect();
            let rivals: Vec<Link> = rival_links(plan, link).filter(|other| *other != link).collect();
            for other in below.iter().chain(&rivals) {
                if self.suspects.len() < TALLIES_MAX {
                    let reference = || Suspect { is_reference: true, ..Suspect::default() };
                    self.suspects.entry(*other).or_insert_with(reference);
                }
            }
            let below = below.into_iter().map(|other| (other, self.totals(other))).collect();
            let contest = Contest { since_ms: now_ms, own: self.totals(link), below, rivals };
            if let Some(suspect) = self.suspects.get_mut(&link) {
                if suspect.is_reference && suspect.sums().1 > REMEMBERED_MAX {
                    // Most of its earlier results were those of a good cable.
                    suspect.begin_anew();
                }
                (suspect.contest, suspect.is_reference) = (Some(contest), false);
            }
        }
    }

    /// Returns the probes over a cable so far.
    fn totals(&self, link: Link) -> ProbeTotals {
        let direct = self.suspects.get(&link).map_or((0, 0), |suspect| suspect.totals);
        let all = match link {
            Link::Host(port) => {
                let agent = self.agents.get(&port.nic);
                agent.and_then(|agent| agent.totals.get(usize::from(port.plane.0))).copied()
            }
            Link::Fabric { .. } => None,
        };
        ProbeTotals { direct, all: all.unwrap_or(direct) }
    }

    /// Returns the probes that count as evidence, sent and lost so far over those of the cables that are
    /// suspects.
    pub(crate) fn direct_totals(&self, links: &[Link]) -> (u64, u64) {
        let own = links.iter().filter_map(|link| self.suspects.get(link));
        own.fold((0, 0), |sum, suspect| (sum.0 + suspect.totals.0, sum.1 + suspect.totals.1))
    }

    /// Returns the counts of a comparison; `None` if none has begun.
    pub(crate) fn contest_counts(&self, link: Link) -> Option<ContestCounts> {
        let contest = self.suspects.get(&link)?.contest.as_ref()?;
        let minus =
            |now: (u64, u64), base: (u64, u64)| (now.0.saturating_sub(base.0), now.1.saturating_sub(base.1));
        let since = |link: Link, base: ProbeTotals| {
            let now = self.totals(link);
            ProbeTotals { direct: minus(now.direct, base.direct), all: minus(now.all, base.all) }
        };
        let below = contest.below.iter().map(|(other, base)| (*other, since(*other, *base))).collect();
        Some(ContestCounts { since_ms: contest.since_ms, own: since(link, contest.own), below })
    }
}

/// Returns the cables below the switch at the upper end of a cable.
fn cables_below(plan: &Plan, link: Link) -> Vec<Link> {
    let upper = plan.fabric().upper_end(link).map(|(switch, _)| switch);
    upper.map_or_else(Vec::new, |switch| probed_links(plan, Element::Switch(switch)))
}

/// Returns the cables that the probers of a cable compare it with: the other ports of the NIC; for uplinks the others
/// of the lower switch, those below it, and the same uplink of the other planes.
fn rival_links(plan: &Plan, link: Link) -> impl Iterator<Item = Link> {
    match link {
        Link::Host(port) => probed_links(plan, Element::Nic(port.nic)),
        Link::Fabric { lower, up } => {
            let ports = plan.fabric().ports(lower).filter_map(|port| match port.usage {
                PortUse::Link { link, .. } => Some(link),
                PortUse::Absent { .. } | PortUse::Spare => None,
            });
            let peers = plan.topology().plane_ids().filter(move |plane| *plane != lower.plane);
            let peers = peers.map(|plane| Link::Fabric { lower: Switch { plane, ..lower }, up });
            ports.chain(peers.filter(|link| plan.fabric().has_link(*link))).collect()
        }
    }
    .into_iter()
}
