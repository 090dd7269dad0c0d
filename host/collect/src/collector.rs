//! The collector, without sockets and without a clock.
//!
//! In: reports of sources, orders of operators, the time. Out: verdicts, the next list of denials, orders for agents.
//! Invariants: a list of denials is in force only after it was committed, so the caller can save it first. Orders
//! follow from the denials that agents report, so agents and collector can restart at any time.

mod judging;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;
use std::sync::Arc;

use closc_nic::agent::{Ban, TableView};
use closc_paths::Table;
use closc_plan::Plan;
use closc_render::path_table;
use closc_topology::{Link, Nic, NicPort, Switch, TierId, ZoneId};
use thiserror::Error;

use crate::ban::{ban, probed_links};
use crate::dated_verdict::DatedVerdict;
use crate::dead_agent::DeadAgent;
use crate::denial::{Change, DENIALS_MAX, Denial, Denials, Stage, reason};
use crate::element::{Element, nic_name};
use crate::evidence::{Evidence, required_good_probes};
use crate::guard::{self, Refusal};
use crate::identity::{Conflict, Identities};
use crate::options::Options;
use crate::report::{Report, ReportFault};
use crate::switches::{CounterReads, Switches};
use crate::verdict::{Kind, Verdict, t0s};

/// A source of reports: the socket of an agent.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// Its name, the path of the socket.
    pub name: String,
    /// The NIC that it reports for, once known.
    pub nic: Option<Nic>,
    /// When it last answered.
    pub last_seen_ms: u64,
    /// Number of times that it did not answer, or that its answer was invalid.
    pub failures: u64,
    /// Last error; cleared by an answer.
    pub fault: Option<String>,
    /// The checksum of its path table, if it differs from the plan's table for its group.
    pub other_table: Option<String>,
}

/// An order for an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Deny paths, for the denial with this number.
    Deny(u64, Ban),
    /// End the agent's denial with the second number, which belongs to the denial with the first.
    Allow(u64, u64),
}

/// A change since verdicts were last computed.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A fault was found.
    Broken(Verdict),
    /// A fault has ended, or has become a different one.
    Ended(Verdict),
    /// The agent of a NIC no longer answers. The text describes it.
    AgentDead(Nic, String),
    /// The agent of a NIC answers again.
    AgentBack(Nic),
}

/// Why an order of an operator is rejected.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum OrderFault {
    /// Denials are only proposed in this mode.
    #[error("this is a dry run: start with `--apply` to deny anything")]
    DryRun,
    /// The fabric has no element of this name.
    #[error("no plane, switch, NIC or cable `{0}` in this fabric")]
    Unknown(String),
    /// The element is denied already.
    #[error("`{0}` is denied already")]
    Already(String),
    /// There is no such denial.
    #[error("no denial {0} is in force")]
    NoDenial(u64),
    /// The maximum number of denials is reached.
    #[error("the limit of {DENIALS_MAX} denials is reached")]
    Full,
    /// The denial would leave too few paths.
    #[error("`{0}` is not denied: {1}")]
    Refused(String, Refusal),
}

/// State of a denial at agents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DenialState {
    /// Number of agents at which it is in force.
    pub in_force: usize,
    /// NICs of agents that rejected it, up to a limit.
    pub refusing_nics: BTreeSet<Nic>,
    /// The reason that one of them gave.
    pub refusal: Option<String>,
}

/// Maximum number of rejecting agents that are recorded.
const REFUSED_MAX: usize = 64;

/// A list of denials that is not in force yet, and its changes.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingDenials {
    /// The list.
    pub denials: Denials,
    /// Changes.
    pub changes: Vec<Change>,
}

/// The collector.
#[derive(Debug)]
pub struct Collector {
    plan: Arc<Plan>,
    options: Options,
    /// Start of this process. Faults behind earlier proposals were found by another process.
    began_ms: u64,
    /// The time of the last call.
    last_ms: u64,
    evidence: Evidence,
    switches: Switches,
    sources: Vec<Source>,
    identities: Identities,
    by_name: BTreeMap<String, u32>,
    verdicts: BTreeMap<(Element, Kind), DatedVerdict>,
    /// NICs with an agent that is known to be dead.
    dead: BTreeSet<Nic>,
    denials: Denials,
    /// Elements of the denials that agents have or may still have, by index in the list.
    denied_elements: Vec<(usize, Element)>,
    standings: BTreeMap<u64, DenialState>,
    in_force: BTreeMap<Nic, Vec<u64>>,
    /// Number of NICs.
    n_nics: usize,
    /// For each plane and tier, the numbers of switches and of cables below them.
    sizes: BTreeMap<(u8, TierId), (usize, usize)>,
    /// Checksums of the plan's path tables, for groups with agents that answered.
    tables: BTreeMap<(ZoneId, u16), Option<u32>>,
}

impl Collector {
    /// Starts with saved denials. Returns also those whose element is no longer in the fabric.
    pub fn new(plan: Arc<Plan>, options: Options, denials: Denials, now_ms: u64) -> (Self, Vec<Denial>) {
        let (list, gone) = denials.list.into_iter().partition(|denial| denial.element(&plan).is_some());
        let mut collector = Collector {
            evidence: Evidence::new(plan.topology(), now_ms, options.fresh_ms),
            switches: Switches::default(),
            plan,
            options,
            began_ms: now_ms,
            last_ms: now_ms,
            sources: Vec::new(),
            identities: Identities::default(),
            by_name: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            dead: BTreeSet::new(),
            denials: Denials::default(),
            denied_elements: Vec::new(),
            standings: BTreeMap::new(),
            in_force: BTreeMap::new(),
            n_nics: 0,
            sizes: BTreeMap::new(),
            tables: BTreeMap::new(),
        };
        collector.measure();
        collector.commit(Denials { next: denials.next, list });
        (collector, gone)
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns all sources.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Returns all denials: in force, proposed and ended recently.
    pub fn denials(&self) -> &Denials {
        &self.denials
    }

    /// Returns the state of a denial at the agents.
    pub fn denial_state(&self, id: u64) -> DenialState {
        self.standings.get(&id).cloned().unwrap_or_default()
    }

    fn measure(&mut self) {
        let fabric = self.plan.fabric();
        self.n_nics = fabric.nics().count();
        for switch in fabric.switches() {
            self.sizes.entry((switch.plane.0, switch.tier)).or_default().0 += 1;
        }
        for link in fabric.links() {
            if let Some((upper, _)) = fabric.upper_end(link) {
                self.sizes.entry((upper.plane.0, upper.tier)).or_default().1 += 1;
            }
        }
    }

    pub(crate) fn n_nics(&self) -> usize {
        self.n_nics
    }

    /// Returns the number of switches of a tier in a plane, and of cables that end at them from below.
    pub(crate) fn tier_size(&self, plane: u8, tier: TierId) -> Option<(usize, usize)> {
        self.sizes.get(&(plane, tier)).copied()
    }

    /// Returns how many of the cables below the switches of a tier belong to an element.
    pub(crate) fn cables_of(&self, element: Element, plane: u8, tier: TierId) -> usize {
        if let Element::Plane(own) = element {
            return if own.0 == plane {
                self.tier_size(plane, tier).map_or(0, |(_, cables)| cables)
            } else {
                0
            };
        }
        let ends = |link: &Link| {
            self.plan.fabric().upper_end(*link).map(|(switch, _)| (switch.plane.0, switch.tier))
        };
        probed_links(&self.plan, element).iter().filter(|link| ends(link) == Some((plane, tier))).count()
    }

    pub(crate) fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    pub(crate) fn switches(&self) -> &Switches {
        &self.switches
    }

    /// Handles the counters of a round, in which each switch was read twice. All first reads precede all second reads.
    pub fn take_counters(&mut self, round: BTreeMap<Switch, CounterReads>, now_ms: u64) {
        self.switches.take(&self.plan, round, now_ms);
    }

    /// Records that a switch could not be read. Returns whether the error is new: the first since the
    /// switch was last read, or another one.
    pub(crate) fn switch_failed(&mut self, switch: Switch, fault: &str) -> bool {
        self.switches.record_failure(switch, fault)
    }

    /// Returns the current verdicts.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.values().filter(|held| held.given).map(|held| &held.verdict)
    }

    /// Returns the number of a source. A new name gets a new number.
    pub fn source(&mut self, name: &str) -> u32 {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = self.sources.len() as u32;
        self.sources.push(Source { name: name.to_owned(), ..Source::default() });
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// Binds a source to a NIC: only this source may report for it, and only for it.
    pub fn bind(&mut self, name: &str, nic: Nic) {
        let source = self.source(name);
        self.identities.bind(source, nic);
    }

    /// Returns the NICs that several sources claim, with the names of the sources. Their reports are ignored.
    pub(crate) fn contested_nics(&self, now_ms: u64) -> Vec<(Nic, Vec<&str>)> {
        let name = |source: &u32| self.sources[*source as usize].name.as_str();
        let contested = self.identities.contested_nics(now_ms, self.options.fresh_ms);
        contested.into_iter().map(|(nic, sources)| (nic, sources.iter().map(name).collect())).collect()
    }

    /// Handles the report of a source. An error affects this source only, unless several sources claim its NIC.
    pub fn take(&mut self, source: u32, report: Report, now_ms: u64) -> Result<Nic, ReportFault> {
        self.check_clock(now_ms);
        let table = report.table.clone();
        let done = self.try_take(source, report, now_ms);
        match &done {
            Ok(nic) => {
                let other_table = table.and_then(|table| self.table_mismatch(*nic, table));
                let own = &mut self.sources[source as usize];
                (own.nic, own.last_seen_ms, own.fault) = (Some(*nic), now_ms, None);
                own.other_table = other_table;
            }
            Err(fault) => self.note_failure(source, &fault.to_string()),
        }
        done
    }

    /// Checks that a source may report for a NIC. If several sources claim the NIC, its evidence is discarded.
    fn identify(&mut self, source: u32, nic: Nic, now_ms: u64) -> Result<(), ReportFault> {
        let claim = self.identities.claim(source, nic, now_ms, self.options.fresh_ms);
        let Err(conflict) = claim else { return Ok(()) };
        self.sources[source as usize].nic = None;
        let topology = self.plan.topology();
        let name = |source: u32| self.sources[source as usize].name.clone();
        Err(match conflict {
            Conflict::Bound(own) => ReportFault::Bound {
                bound_nic: nic_name(topology, own),
                claimed_nic: nic_name(topology, nic),
            },
            Conflict::Owned(owner) => {
                ReportFault::Taken { nic: nic_name(topology, nic), bound_source: name(owner) }
            }
            Conflict::Contested(other) => {
                let fault =
                    ReportFault::Contested { nic: nic_name(topology, nic), other_source: name(other) };
                self.evidence.quarantine(nic);
                self.count(nic);
                fault
            }
        })
    }

    fn try_take(&mut self, source: u32, report: Report, now_ms: u64) -> Result<Nic, ReportFault> {
        let nic = nic_of(&self.plan, report.nic).ok_or(ReportFault::Nic(report.nic))?;
        // Another fabric may have the same addresses, but its uplinks are different ones.
        let fabric = report.table.as_ref().and_then(|table| table.fabric.as_ref());
        if let Some(other) = fabric.filter(|fabric| **fabric != *self.plan.topology().name) {
            return Err(ReportFault::Fabric(other.clone()));
        }
        self.identify(source, nic, now_ms)?;
        self.evidence.take(&self.plan, nic, report, now_ms)?;
        self.count(nic);
        Ok(nic)
    }

    /// Returns the checksum of an agent's table, unless it equals that of the plan's table for its group.
    fn table_mismatch(&mut self, nic: Nic, table: TableView) -> Option<String> {
        let plan = &self.plan;
        let own = self.tables.entry((nic.zone, nic.group)).or_insert_with(|| {
            let bytes = path_table::binary(&plan.path_table(nic.zone, nic.group));
            Table::open(&bytes).ok().map(|table| table.checksum())
        });
        let same = own.is_some_and(|own| format!("{own:08x}") == table.checksum);
        (!same).then_some(table.checksum)
    }

    /// Records that a source did not answer, or that its answer was invalid.
    pub fn record_failure(&mut self, source: u32, fault: &str) {
        self.identities.withdraw(source);
        self.note_failure(source, fault);
    }

    fn note_failure(&mut self, source: u32, fault: &str) {
        let own = &mut self.sources[source as usize];
        own.failures += 1;
        own.fault = Some(fault.chars().take(300).collect());
    }

    /// Returns dead agents: those that do not answer, but did before or are bound to a NIC. An agent is not dead if
    /// another source reports for its NIC, because it moved to another socket.
    pub(crate) fn dead_agents(&self, now_ms: u64) -> Vec<DeadAgent> {
        let is_fresh = |seen_ms: u64| now_ms.saturating_sub(seen_ms) <= self.options.fresh_ms;
        let speaks =
            |nic: &Nic| self.evidence.agents.get(nic).is_some_and(|agent| is_fresh(agent.last_seen_ms));
        let dead = |(id, source): (u32, &Source)| {
            let nic = source.nic.or_else(|| self.identities.bound_nic(id))?;
            let fault = source.fault.clone().filter(|_| !is_fresh(source.last_seen_ms) && !speaks(&nic))?;
            Some(DeadAgent { nic, source: source.name.clone(), last_seen_ms: source.last_seen_ms, fault })
        };
        (0..).zip(&self.sources).filter_map(dead).collect()
    }

    /// Returns the list of denials that should be in force now; `None` if it is unchanged.
    pub fn next(&self, now_ms: u64) -> Option<PendingDenials> {
        let mut denials = self.denials.clone();
        let mut changes = Vec::new();
        denials.forget(now_ms);
        self.end(&mut denials, &mut changes, now_ms);
        self.propose(&mut denials, &mut changes, now_ms);
        if self.options.apply {
            self.apply(&mut denials, &mut changes, now_ms);
        }
        (denials != self.denials).then_some(PendingDenials { denials, changes })
    }

    /// Ends denials whose end conditions are met.
    fn end(&self, denials: &mut Denials, changes: &mut Vec<Change>, now_ms: u64) {
        for denial in denials.list.iter_mut().filter(|denial| !denial.stage.is_over()) {
            let element = denial.element(&self.plan);
            let is_broken = element.is_some_and(|element| self.verdicts().any(|v| v.element == element));
            let by_person = is_by_person(denial);
            let good = || element.map_or(0, |element| self.good(element));
            let stage = match denial.stage {
                // Do not apply the proposal, because it would expire at once. If the reason persists, it is
                // proposed again.
                Stage::Proposed if denial.until_ms <= now_ms => Stage::Withdrawn,
                Stage::Proposed if !by_person && !is_broken => {
                    // A new process has no evidence of recovery yet, so it waits for good probes.
                    if self.is_of_before(denial) && good() < denial.good_wanted {
                        continue;
                    }
                    Stage::Withdrawn
                }
                Stage::Applied if denial.until_ms <= now_ms => Stage::Expired,
                Stage::Applied if !by_person && !is_broken => {
                    if good() < denial.good_wanted {
                        continue;
                    }
                    Stage::Returned
                }
                _ => continue,
            };
            changes.push(denial.become_(stage, now_ms));
        }
    }

    /// Returns whether a denial entered its stage in an earlier process.
    fn is_of_before(&self, denial: &Denial) -> bool {
        denial.since_ms < self.began_ms
    }

    /// Returns the number of consecutive good probes of an element: the minimum over its probed cables. For a plane it is
    /// the median, because single cables of it may be faulty.
    pub(crate) fn good(&self, element: Element) -> u64 {
        let suspects = &self.evidence.suspects;
        let all = self.watched_links(element).into_iter().filter_map(|link| suspects.get(&link));
        let good = all.filter(|suspect| !suspect.tallies.is_empty()).map(|suspect| suspect.good);
        let mut good: Vec<u64> = good.collect();
        good.sort_unstable();
        let at = if matches!(element, Element::Plane(_)) { good.len() / 2 } else { 0 };
        good.get(at).copied().unwrap_or(0)
    }

    /// Returns the cables whose probes end the denial of an element. For a plane, these are one NIC cable at each T0.
    fn watched_links(&self, element: Element) -> Vec<Link> {
        let Element::Plane(plane) = element else { return probed_links(&self.plan, element) };
        let fabric = self.plan.fabric();
        let first = |t0: Switch| {
            let nics = fabric.group_nics(t0.zone, t0.index);
            nics.map(|nic| Link::Host(NicPort { plane, nic })).find(|link| fabric.has_link(*link))
        };
        t0s(&self.plan, plane).filter_map(first).collect()
    }

    fn propose(&self, denials: &mut Denials, changes: &mut Vec<Change>, now_ms: u64) {
        for verdict in self.verdicts().filter(|verdict| verdict.confidence >= self.options.confidence) {
            let key = verdict.element.key(&self.plan);
            // No traffic goes to a dead NIC, so nothing needs to be denied.
            let is_whole_nic = matches!(verdict.element, Element::Nic(_));
            // A denial that an operator ended is not proposed again before its end time.
            let lifted = |denial: &Denial| {
                denial.element == key && denial.stage == Stage::Lifted && denial.until_ms > now_ms
            };
            let open = denials.list.iter().filter(|denial| !denial.stage.is_over()).count();
            if is_whole_nic
                || open >= DENIALS_MAX
                || denials.open(&key).is_some()
                || denials.list.iter().any(lifted)
            {
                continue;
            }
            changes.push(denials.propose(Denial {
                id: 0,
                element: key,
                reason: reason(verdict).to_owned(),
                why: verdict.line(&self.plan, now_ms),
                stage: Stage::Proposed,
                since_ms: now_ms,
                until_ms: now_ms + self.options.deny_ms,
                good_wanted: required_good_probes(self.options.good_probes, verdict.lost, verdict.sent),
                held: None,
            }));
        }
    }

    fn apply(&self, denials: &mut Denials, changes: &mut Vec<Change>, now_ms: u64) {
        let mut out = self.out(denials);
        for denial in denials.list.iter_mut().filter(|denial| denial.stage == Stage::Proposed) {
            let Some(element) = denial.element(&self.plan) else { continue };
            // A proposal of an earlier process is applied only after this process has found the fault too.
            if !self.verdicts().any(|verdict| verdict.element == element) {
                continue;
            }
            match guard::check(&self.plan, &out, element, self.options.plane_share) {
                Ok(()) => {
                    out.push(element);
                    changes.push(denial.become_(Stage::Applied, now_ms));
                }
                Err(refusal) => denial.held = Some(refusal.to_string()),
            }
        }
    }

    /// Returns elements that are denied, or that have a verdict other than gray or corrupt.
    fn out(&self, denials: &Denials) -> Vec<Element> {
        let carries = |kind| matches!(kind, Kind::Gray | Kind::Corrupt);
        let dead = self.verdicts().filter(|verdict| !carries(verdict.kind)).map(|verdict| verdict.element);
        dead.chain(denials.applied_denials().filter_map(|denial| denial.element(&self.plan))).collect()
    }

    /// Returns the list of denials after an operator drains an element.
    pub fn drain(
        &self,
        name: &str,
        why: &str,
        for_ms: u64,
        now_ms: u64,
    ) -> Result<PendingDenials, OrderFault> {
        let element = Element::parse(&self.plan, name)
            .ok_or_else(|| OrderFault::Unknown(name.chars().take(100).collect()))?;
        let key = element.key(&self.plan);
        if !self.options.apply {
            return Err(OrderFault::DryRun);
        }
        let mut denials = self.denials.clone();
        if denials.open(&key).is_some_and(|denial| denial.stage == Stage::Applied) {
            return Err(OrderFault::Already(key));
        }
        if denials.list.iter().filter(|denial| !denial.stage.is_over()).count() >= DENIALS_MAX {
            return Err(OrderFault::Full);
        }
        guard::check(&self.plan, &self.out(&denials), element, self.options.plane_share)
            .map_err(|refusal| OrderFault::Refused(key.clone(), refusal))?;
        let mut changes = Vec::new();
        for denial in denials.list.iter_mut().filter(|d| d.element == key && d.stage == Stage::Proposed) {
            changes.push(denial.become_(Stage::Withdrawn, now_ms));
        }
        changes.push(denials.propose(Denial {
            id: 0,
            element: key,
            reason: DRAIN.to_owned(),
            why: why.chars().filter(|sign| !sign.is_control()).take(200).collect(),
            stage: Stage::Applied,
            since_ms: now_ms,
            until_ms: now_ms.saturating_add(for_ms.max(1)),
            good_wanted: 0,
            held: None,
        }));
        Ok(PendingDenials { denials, changes })
    }

    /// Returns the list of denials after an operator lifts one.
    pub fn lift(&self, id: u64, now_ms: u64) -> Result<PendingDenials, OrderFault> {
        if !self.options.apply {
            return Err(OrderFault::DryRun);
        }
        let mut denials = self.denials.clone();
        let open = denials.list.iter_mut().find(|denial| denial.id == id && !denial.stage.is_over());
        let change = open.ok_or(OrderFault::NoDenial(id))?.become_(Stage::Lifted, now_ms);
        Ok(PendingDenials { denials, changes: vec![change] })
    }

    /// Puts a list of denials in force. The caller must have saved it.
    pub fn commit(&mut self, denials: Denials) {
        self.denials = denials;
        let list = self.denials.list.iter().enumerate();
        let sent = list.filter(|(_, denial)| !matches!(denial.stage, Stage::Proposed | Stage::Withdrawn));
        self.denied_elements =
            sent.filter_map(|(at, denial)| Some((at, denial.element(&self.plan)?))).collect();
        let waits = |denial: &&Denial| {
            denial.stage == Stage::Applied || denial.stage == Stage::Proposed && self.is_of_before(denial)
        };
        let watched = self.denials.list.iter().filter(waits).filter_map(|denial| denial.element(&self.plan));
        let links = watched.flat_map(|element| self.watched_links(element)).collect();
        self.evidence.pin(links);
        let ids: BTreeSet<u64> = self.denials.list.iter().map(|denial| denial.id).collect();
        self.standings.retain(|id, _| ids.contains(id));
    }

    /// Returns the denials that concern a NIC, each with its form for the NIC's agent.
    fn scopes(&self, nic: Nic) -> impl Iterator<Item = (&Denial, Ban)> {
        let topology = self.plan.topology();
        self.denied_elements.iter().filter_map(move |(at, element)| {
            Some((self.denials.list.get(*at)?, ban(topology, *element, nic)?))
        })
    }

    /// Updates the number of agents at which each denial is in force.
    fn count(&mut self, nic: Nic) {
        let agent = self.evidence.agents.get(&nic);
        let bans = agent.map_or(&[][..], |agent| &agent.denials);
        let has = |(denial, scope): &(&Denial, Ban)| bans.iter().any(|own| denial.is_at(own, scope));
        let now: Vec<u64> = self.scopes(nic).filter(has).map(|(denial, _)| denial.id).collect();
        let before = self.in_force.remove(&nic).unwrap_or_default();
        for id in before {
            if let Some(standing) = self.standings.get_mut(&id) {
                standing.in_force = standing.in_force.saturating_sub(1);
            }
        }
        for id in &now {
            let standing = self.standings.entry(*id).or_default();
            standing.in_force += 1;
            standing.refusing_nics.remove(&nic);
        }
        if !now.is_empty() {
            self.in_force.insert(nic, now);
        }
    }

    /// Returns the orders for an agent, based on its last report.
    pub fn orders(&self, nic: Nic, now_ms: u64) -> Vec<Order> {
        let Some(agent) = self.evidence.agents.get(&nic).filter(|_| self.options.apply) else {
            return Vec::new();
        };
        let order = |(denial, scope): (&Denial, Ban)| {
            let own = agent.denials.iter().find(|own| denial.is_at(own, &scope));
            match (denial.stage, own) {
                (Stage::Applied, None) if denial.until_ms > now_ms => {
                    Some(Order::Deny(denial.id, denial.ban(&scope)))
                }
                (Stage::Applied, _) | (_, None) => None,
                (_, Some(own)) => Some(Order::Allow(denial.id, own.id?)),
            }
        };
        self.scopes(nic).filter_map(order).collect()
    }

    /// Handles an agent's answer to an order: the agent's number of the denial, or the reason for rejecting the order.
    pub fn handle_answer(&mut self, nic: Nic, order: &Order, answer: Result<u64, String>) {
        let Some(agent) = self.evidence.agents.get_mut(&nic) else { return };
        match (order, answer) {
            (Order::Deny(_, ban), Ok(own)) => agent.denials.push(Ban { id: Some(own), ..ban.clone() }),
            (Order::Allow(_, own), Ok(_)) => agent.denials.retain(|ban| ban.id != Some(*own)),
            (Order::Deny(id, _) | Order::Allow(id, _), Err(why)) => {
                let standing = self.standings.entry(*id).or_default();
                standing.refusal = Some(why.chars().take(200).collect());
                if standing.refusing_nics.len() < REFUSED_MAX {
                    standing.refusing_nics.insert(nic);
                }
            }
        }
        self.count(nic);
    }
}

/// The reason for denials by operators.
pub const DRAIN: &str = "drain";

/// Returns whether a denial was ordered by an operator.
fn is_by_person(denial: &Denial) -> bool {
    denial.reason == DRAIN
}

/// Returns the NIC with an address.
pub(crate) fn nic_of(plan: &Plan, address: Ipv6Addr) -> Option<Nic> {
    plan.addresses().nic_of(address).filter(|nic| plan.fabric().has_nic(*nic))
}
