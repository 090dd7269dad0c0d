//! The course of the demo: advances both jobs, polls agents, executes requests, and narrates.
//!
//! In: two jobs, and requests of the tour and of users. Out: frames and narration on the stage, and the verdict.
//! Invariants: after each tick both jobs have the same fabric time and the same faults. Only agents of the sprayed
//! job report to the collector.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use closc_collect::{
    Change, Collector, DRAIN, Denials, Element, News, Options, Order, Report as AgentReport,
};
use closc_lab::Fault;
use closc_lab::Watch;
use closc_lab::job::{Action, LiveJob, Report, TrafficTotals};
use closc_nic::api::Request;
use closc_plan::Plan;
use indicatif::ProgressBar;
use serde_json::Value;

use super::UNIT;
use super::fabric::{self, View};
use super::guide::{self, Step};
use super::stage::{FaultView, Frame, Lane, Line, PathCell, Snapshot, Stage, Wish};
use crate::args::demo::DemoArgs;
use crate::output;

/// Fabric time of one tick, after which the jobs are sampled.
const TICK_MS: u64 = 100;
/// Fabric time between two polls of an agent.
const ASK_MS: u64 = 100;
/// Unix time of the collector at fabric time 0.
const EPOCH_MS: u64 = 1_000_000_000_000;
/// A fault that lasts longer than this must be located.
const NAMED_WITHIN_MS: u64 = 2_500;
/// Number of ticks over which the speed is averaged.
const SPEED_TICKS: usize = 10;

/// The course of a demo.
pub(super) struct Course<'a> {
    lanes: [LiveJob<'a>; 2],
    stage: &'a Stage,
    plan: Arc<Plan>,
    collector: Collector,
    last_totals: [TrafficTotals; 2],
    view: View,
    /// Remaining steps of the tour, the next one last; `None` until they are chosen.
    steps: Option<Vec<Step>>,
    faults: Vec<(Fault, FaultView)>,
    verdicts: BTreeMap<String, String>,
    ledger: Ledger,
    end_ms: Option<u64>,
    is_narrated: bool,
    /// Whether fabric time follows real time.
    is_paced: bool,
    ticks: Vec<Instant>,
}

/// Located faults, missed faults, and elements that were blamed without a fault.
#[derive(Debug, Clone, Default)]
struct Ledger {
    named_faults: Vec<(String, u64)>,
    missed_faults: Vec<String>,
    wrong: Vec<String>,
}

/// The end of a demo.
pub(super) struct End {
    pub(super) reports: Vec<Report>,
    ledger: Ledger,
}

/// Returns the fabric time until the end.
pub(super) fn length_ms(command: &DemoArgs) -> u64 {
    command.seconds.map_or(guide::LENGTH_MS, |seconds| seconds * 1000)
}

impl<'a> Course<'a> {
    /// Returns the course of two jobs that have not started.
    pub(super) fn new(
        plan: Arc<Plan>,
        lanes: [LiveJob<'a>; 2],
        stage: &'a Stage,
        command: &DemoArgs,
    ) -> Course<'a> {
        let options = Options {
            apply: true,
            fresh_ms: 10 * ASK_MS,
            settle_ms: ASK_MS,
            good_probes: 20,
            deny_ms: 60_000,
            plane_share: 0.5,
            ..Options::default()
        };
        let (collector, _) = Collector::new(Arc::clone(&plan), options, Denials::default(), EPOCH_MS);
        let view = fabric::view(&plan, lanes[0].model(), lanes[0].seats());
        stage.open(view.clone());
        let before = [lanes[0].traffic_totals(), lanes[1].traffic_totals()];
        Course {
            view,
            steps: None,
            lanes,
            stage,
            plan,
            collector,
            last_totals: before,
            faults: Vec::new(),
            verdicts: BTreeMap::new(),
            ledger: Ledger::default(),
            end_ms: Some(length_ms(command)),
            is_narrated: command.tour,
            is_paced: !command.no_page,
            ticks: Vec::new(),
        }
    }

    /// Runs the demo to its end.
    pub(super) fn drive(mut self, watch: &Watch<'_>, bar: &ProgressBar) -> anyhow::Result<End> {
        let own_end = self.end_ms;
        self.tell("tour", guide::OPENING.to_owned());
        while watch.check().is_ok() {
            let now_ms = self.now_ms();
            let (wishes, is_by_hand) = self.stage.wishes();
            if is_by_hand {
                // A user has taken over, so the tour stops. The demo then runs until the user ends it, or until the
                // time of `--for`.
                self.steps = Some(Vec::new());
                self.end_ms = own_end.filter(|end_ms| *end_ms != guide::LENGTH_MS);
            }
            if wishes.contains(&Wish::End) || self.end_ms.is_some_and(|end_ms| now_ms >= end_ms) {
                break;
            }
            for wish in wishes {
                self.obey(wish);
            }
            self.guide(now_ms);
            self.tick(now_ms + TICK_MS);
            bar.set_position(now_ms / 1000);
            self.listen();
            self.show();
            self.pace();
        }
        bar.finish_and_clear();
        let Course { lanes: [spray, flow], ledger, .. } = self;
        Ok(End { reports: vec![spray.finish(super::TITLE)?, flow.finish(super::TITLE)?], ledger })
    }

    fn now_ms(&self) -> u64 {
        self.lanes[0].now_ns() / 1_000_000
    }

    fn tell(&self, kind: &'static str, text: String) {
        let at_ms = self.now_ms();
        if self.is_narrated {
            output::say(format_args!("{:5.1} s  {text}", at_ms as f64 / 1e3));
        }
        self.stage.tell(Line { at_ms, kind, text });
    }

    /// Executes the steps of the tour that are due.
    fn guide(&mut self, now_ms: u64) {
        if self.steps.is_none() && now_ms >= guide::CHOSEN_MS {
            let flows = self.flows();
            let mut steps = guide::steps(&self.view, &flows);
            steps.reverse();
            self.steps = Some(steps);
        }
        while let Some(step) = self.steps.as_mut().and_then(|steps| steps.pop_if(|step| step.at_ms <= now_ms))
        {
            self.tell("tour", step.caption);
            if let Some(wish) = step.wish {
                self.obey(wish);
            }
        }
    }

    /// Returns the NIC and the plane of each flow.
    fn flows(&mut self) -> Vec<(usize, usize)> {
        let mut flows = Vec::new();
        for seat in 0..self.lanes[1].seats().len() {
            let status = self.lanes[1].ask(seat, &Request::Status {}, 0.0);
            for channel in status.get("channels").and_then(Value::as_array).into_iter().flatten() {
                let sent = channel.get("sent").and_then(Value::as_array).into_iter().flatten();
                let most = sent.enumerate().max_by_key(|(_, packets)| packets.as_u64());
                let most = most.filter(|(_, packets)| packets.as_u64() > Some(0));
                flows.extend(most.map(|(plane, _)| (seat, plane)));
            }
        }
        flows
    }

    fn obey(&mut self, wish: Wish) {
        match wish {
            Wish::Act(action) => self.act(&action),
            Wish::Drain(name) => {
                let next = self.collector.drain(&name, "demo", 60_000, EPOCH_MS + self.now_ms());
                match next {
                    Ok(next) => {
                        self.collector.commit(next.denials);
                        self.tell("order", format!("drained: {name}"));
                    }
                    Err(fault) => self.tell("order", format!("`{name}` is not drained: {fault}")),
                }
            }
            Wish::LiftAll => {
                let open = |denials: &Denials| -> Vec<(u64, String)> {
                    let drains = denials.applied_denials().filter(|denial| denial.reason == DRAIN);
                    drains.map(|denial| (denial.id, denial.element.clone())).collect()
                };
                for (id, element) in open(self.collector.denials()) {
                    if let Ok(next) = self.collector.lift(id, EPOCH_MS + self.now_ms()) {
                        self.collector.commit(next.denials);
                        self.tell("order", format!("lifted: {element}"));
                    }
                }
            }
            Wish::End => {}
        }
    }

    /// Breaks or repairs an element in both jobs.
    fn act(&mut self, action: &Action) {
        if let Err(error) = self.lanes[0].act(action) {
            return self.tell("order", error.to_string());
        }
        if let Err(error) = self.lanes[1].act(action) {
            return self.tell("order", error.to_string());
        }
        let (now_ms, standing) = (self.now_ms(), self.lanes[0].faults());
        for (_, view) in self.faults.extract_if(.., |(fault, _)| !standing.contains(fault)) {
            let is_late = view.named_ms.is_none() && now_ms - view.at_ms > NAMED_WITHIN_MS;
            self.ledger.missed_faults.extend(is_late.then_some(view.text));
        }
        for fault in standing {
            if self.faults.iter().all(|(known, _)| *known != fault) {
                let (name, text) = (fault.names().into_iter().next().unwrap_or_default(), fault.to_string());
                self.tell("fault", text.clone());
                self.faults.push((fault, FaultView { name, text, at_ms: now_ms, named_ms: None }));
            }
        }
        if matches!(action, Action::Restore(_)) {
            self.tell("repair", action.to_string());
        }
    }

    /// Advances both jobs in parallel.
    fn tick(&mut self, until_ms: u64) {
        let [spray, flow] = &mut self.lanes;
        thread::scope(|scope| {
            scope.spawn(|| flow.advance(until_ms * 1_000_000));
            spray.advance(until_ms * 1_000_000);
        });
    }

    /// Passes the reports of all agents to the collector, and the orders of the collector to the agents.
    fn listen(&mut self) {
        let now_ms = EPOCH_MS + self.now_ms();
        let unix = now_ms as f64 / 1e3;
        for seat in 0..self.lanes[0].seats().len() {
            let bytes = |value: Value| serde_json::to_vec(&value).unwrap_or_default();
            let status = bytes(self.lanes[0].ask(seat, &Request::Status {}, unix));
            let metrics = bytes(self.lanes[0].ask(seat, &Request::Metrics {}, unix));
            let source = self.collector.source(&self.lanes[0].seats()[seat].name);
            let taken = AgentReport::read(&status, &metrics)
                .and_then(|report| self.collector.take(source, report, now_ms));
            let Ok(nic) = taken else { continue };
            for order in self.collector.orders(nic, now_ms) {
                let request = match &order {
                    Order::Deny(_, ban) => Request::Deny { ban: ban.clone() },
                    Order::Allow(_, own) => Request::Allow { id: *own },
                };
                let answer = self.lanes[0].ask(seat, &request, unix);
                let number = answer.get("id").or_else(|| answer.get("ended")).and_then(Value::as_u64);
                let refused = || answer.get("error").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.collector.handle_answer(nic, &order, number.ok_or_else(refused));
            }
        }
        for news in self.collector.judge(now_ms) {
            self.receive(news);
        }
        if let Some(next) = self.collector.next(now_ms) {
            let lines: Vec<String> = next.changes.iter().map(line).collect();
            self.collector.commit(next.denials);
            for line in lines {
                self.tell("order", line);
            }
        }
    }

    /// Compares a verdict with the faults.
    fn receive(&mut self, news: News) {
        let now_ms = self.now_ms();
        let verdict = match news {
            News::Broken(verdict) => verdict,
            News::Ended(verdict) => {
                self.verdicts.remove(&verdict.element.key(&self.plan));
                return;
            }
            // Agents in this process always answer.
            News::AgentDead(..) | News::AgentBack(_) => return,
        };
        let (element, key) = (verdict.element, verdict.element.key(&self.plan));
        let text = verdict.line(&self.plan, EPOCH_MS + now_ms);
        self.verdicts.insert(key.clone(), text.clone());
        let plan = &self.plan;
        let own = self.faults.iter_mut().find(|(fault, _)| is_same(plan, fault, element));
        if let Some((_, view)) = own {
            let after_ms = now_ms - view.at_ms;
            view.named_ms.get_or_insert(now_ms);
            self.ledger.named_faults.push((key, after_ms));
            self.tell("named", format!("{text} (named after {:.1} s)", after_ms as f64 / 1e3));
        } else {
            self.ledger.wrong.push(key);
            self.tell("wrong", text);
        }
    }

    /// Publishes a frame.
    fn show(&mut self) {
        let at_ms = self.now_ms();
        let lanes = (0..2).map(|at| {
            let seen = self.lanes[at].traffic_totals();
            let before = std::mem::replace(&mut self.last_totals[at], seen.clone());
            let mbps = |bytes: u64| bytes as f64 * 8.0 / (TICK_MS as f64 * 1e3);
            let planes = seen.planes.iter().enumerate().map(|(plane, n)| {
                mbps((n - before.planes.get(plane).copied().unwrap_or(0)) * u64::from(UNIT))
            });
            Lane {
                mbps: mbps(seen.received - before.received),
                planes: planes.collect(),
                lost: seen.lost - before.lost,
            }
        });
        let lanes = lanes.collect();
        let now = self.now(at_ms);
        self.stage.show(Frame { at_ms, lanes }, now);
    }

    fn now(&mut self, at_ms: u64) -> Snapshot {
        let mut now = Snapshot {
            at_ms,
            speed: self.speed(),
            faults: self.faults.iter().map(|(_, view)| view.clone()).collect(),
            verdicts: self.verdicts.values().cloned().collect(),
            denied: self.collector.denials().applied_denials().map(|denial| denial.element.clone()).collect(),
            ..Snapshot::default()
        };
        for from in 0..self.lanes[0].seats().len() {
            let status = self.lanes[0].ask(from, &Request::Status {}, 0.0);
            let channels = status.get("channels").and_then(Value::as_array);
            for channel in channels.into_iter().flatten() {
                let Some(to) = channel.get("to").and_then(|to| to.as_str()?.parse().ok()) else { continue };
                let behind = channel.get("overtaken").and_then(Value::as_array).into_iter().flatten();
                now.behind.extend(behind.filter_map(|path| Some(path.get("behind_most")?.as_u64()? as u32)));
                let sends = channel.get("sent").and_then(Value::as_array);
                if sends.is_none_or(|sent| sent.iter().all(|n| n.as_u64() == Some(0))) {
                    continue;
                }
                self.look(from, to, &mut now);
            }
        }
        now
    }

    /// Adds the paths from one NIC to another.
    fn look(&mut self, from: usize, to: std::net::Ipv6Addr, now: &mut Snapshot) {
        let is_focus = now.paths.is_empty();
        if is_focus {
            let seats = self.lanes[0].seats();
            let far = seats.iter().find(|seat| seat.address == to).map(|seat| seat.name.clone());
            now.focus = vec![seats[from].name.clone(), far.unwrap_or_default()];
        }
        for (path, cables) in self.lanes[0].paths(from, to) {
            now.rtts_us.extend(path.rtt_us);
            if path.in_use {
                for cable in cables {
                    *now.cables.entry(cable).or_default() += 1;
                }
            }
            if is_focus {
                let (plane, uplink, state) = (path.plane, path.uplink, path.state);
                now.paths.push(PathCell { plane, uplink, state, in_use: path.in_use, rtt_us: path.rtt_us });
            }
        }
    }

    /// Returns the ratio of fabric time to real time over the last [`SPEED_TICKS`] ticks.
    fn speed(&self) -> f64 {
        let (Some(first), Some(last)) = (self.ticks.first(), self.ticks.last()) else { return 1.0 };
        let passed = last.duration_since(*first).as_secs_f64();
        if passed > 0.0 { (self.ticks.len() - 1) as f64 * TICK_MS as f64 / 1e3 / passed } else { 1.0 }
    }

    /// Waits until real time has caught up with fabric time.
    fn pace(&mut self) {
        if self.is_paced
            && let Some(last) = self.ticks.last()
        {
            thread::sleep(Duration::from_millis(TICK_MS).saturating_sub(last.elapsed()));
        }
        if self.ticks.len() > SPEED_TICKS {
            self.ticks.remove(0);
        }
        self.ticks.push(Instant::now());
    }
}

/// Returns whether an element is the one that a fault broke.
fn is_same(plan: &Plan, fault: &Fault, element: Element) -> bool {
    fault.names().iter().filter_map(|name| Element::parse(plan, name)).any(|broken| match (broken, element) {
        // A NIC port that is down cannot be distinguished from a cut cable.
        (Element::Cable(closc_topology::Link::Host(cable)), Element::Port(port)) => cable == port,
        (broken, element) => broken == element,
    })
}

/// Describes the change of a denial.
fn line(change: &Change) -> String {
    format!("denial of {}: {}", change.element, change.stage.as_str())
}

impl End {
    /// Returns whether all faults were located, no other element was blamed, and all bytes arrived intact.
    pub(super) fn is_met(&self) -> bool {
        let is_whole = self.reports.iter().all(|report| report.wrong_bytes == 0);
        is_whole && self.ledger.missed_faults.is_empty() && self.ledger.wrong.is_empty()
    }

    /// Returns the verdict as one line.
    pub(super) fn line(&self) -> String {
        let Ledger { named_faults: named, missed_faults: missed, wrong } = &self.ledger;
        let slowest = named.iter().map(|(_, after_ms)| *after_ms).max().unwrap_or(0) as f64 / 1e3;
        let mut line = match named.len() {
            0 => "no fault was named".to_owned(),
            1 => format!("1 fault named, after {slowest:.1} s"),
            n => format!("{n} faults named, each within {slowest:.1} s"),
        };
        if !missed.is_empty() {
            let _ = write!(line, "; not named: {}", missed.join(", "));
        }
        if !wrong.is_empty() {
            let _ = write!(line, "; wrong: {}", wrong.join(", "));
        }
        line
    }

    /// Returns the reports and the verdict.
    pub(super) fn text(&self, title: &str) -> String {
        format!("{}\n{}\n", closc_lab::job::human(title, &self.reports).trim_end(), self.line())
    }
}
